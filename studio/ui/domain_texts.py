"""Sentences of the domain in the language of the window.

Other rooms write plain English with values in it. `packaging/translations.sh` collects their
templates into `resources/translations/domain_zh_CN.json` (`"There is no target “{}”."` → the same
in Chinese, with numbered places); here a sentence is matched against them and said anew. What is
not found stays English: a foreign sentence is better than a wrong one.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from PySide6.QtCore import QLocale

from studio.paths import resources
from studio.records import from_json

_language = "en"
_PLACE = re.compile(r"\{(\d*)\}")
_PLACE_ALONE = re.compile(r"\{\d*\}")
_CHINESE_GAP = re.compile(r"(?<=[\u4e00-\u9fff]) (?=[\u4e00-\u9fff])")
_BORDER = re.compile(r"(?<=[.!?])\s+(?=[A-Z“{\d])")


def set_language(language: str) -> None:
    """Chooses the language of `translate_sentence`: "en" or "zh_CN"."""
    global _language
    _language = language
    _templates.cache_clear()
    translate_sentence.cache_clear()


def system_language() -> str:
    """ "zh_CN" where the system speaks Chinese, else "en"."""
    return "zh_CN" if QLocale.system().language() is QLocale.Language.Chinese else "en"


@lru_cache(maxsize=4096)
def translate_sentence(text: str) -> str:
    """The sentence in the language of the window, or as it is when it is not known."""
    if not text or _language == "en":
        return text
    return _translated(text) or text


def _translated(text: str) -> str:
    """The translation, "" when none is known. A value never swallows the border of two sentences, as
    long as the sentences are known one by one."""
    fallback = ""
    for fixed, pattern, target in _templates(_language):
        found = pattern.fullmatch(text) if fixed in text else None
        if found is None:
            continue
        if not any(_BORDER.search(value) for value in found.groups()):
            return _filled(target, found.groups())
        fallback = fallback or _filled(target, found.groups())
    parts = _BORDER.split(text)
    if len(parts) > 1:
        translated = [_translated(part) for part in parts]
        if all(translated) or not fallback:
            said = "".join(new or f"{old} " for new, old in zip(translated, parts)).strip()
            return said if any(translated) else ""
    return fallback


def _filled(target: str, values: tuple[str, ...]) -> str:
    counter = iter(range(len(values)))

    def value(place: re.Match[str]) -> str:
        index = int(place[1]) if place[1] else next(counter)
        return translate_sentence(values[index]) if index < len(values) else place[0]

    return _CHINESE_GAP.sub("", _PLACE.sub(value, target))


@lru_cache(maxsize=2)
def _templates(language: str) -> list[tuple[str, re.Pattern[str], str]]:
    """(its longest fixed part, the pattern, the translation) of every template."""
    path: Path = resources() / "translations" / f"domain_{language}.json"
    if not path.is_file():
        return []
    table = from_json(path.read_bytes(), dict[str, str], where=str(path))
    # Templates with more fixed text are more certain, so they are tried first.
    order = sorted(table, key=lambda t: len(_PLACE.sub("", t)), reverse=True)
    return [(max(_PLACE_ALONE.split(t), key=len), _pattern(t), table[t]) for t in order if table[t]]


def _pattern(template: str) -> re.Pattern[str]:
    parts = [re.escape(p) for p in _PLACE_ALONE.split(template)]
    return re.compile("(.+?)".join(parts), re.DOTALL)


def current_language() -> str:
    """The language of `translate_sentence`: "en" or "zh_CN"."""
    return _language
