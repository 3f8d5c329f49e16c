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
    for pattern, target in _templates(_language):
        found = pattern.fullmatch(text)
        if found:
            return _filled(target, found.groups())
    parts = re.split(r"(?<=[.。;])\s+", text)
    if len(parts) > 1:
        return " ".join(translate_sentence(part) for part in parts)
    return text


def _filled(target: str, values: tuple[str, ...]) -> str:
    counter = iter(range(len(values)))

    def value(place: re.Match[str]) -> str:
        index = int(place[1]) if place[1] else next(counter)
        return translate_sentence(values[index]) if index < len(values) else place[0]

    return _PLACE.sub(value, target)


@lru_cache(maxsize=2)
def _templates(language: str) -> list[tuple[re.Pattern[str], str]]:
    path: Path = resources() / "translations" / f"domain_{language}.json"
    if not path.is_file():
        return []
    table = from_json(path.read_bytes(), dict[str, str], where=str(path))
    # Templates with more fixed text are more certain, so they are tried first.
    order = sorted(table, key=lambda t: len(_PLACE.sub("", t)), reverse=True)
    return [(_pattern(t), table[t]) for t in order if table[t]]


def _pattern(template: str) -> re.Pattern[str]:
    parts = [re.escape(p) for p in re.split(r"\{\d*\}", template)]
    return re.compile("(.+?)".join(parts), re.DOTALL)


def current_language() -> str:
    """The language of `translate_sentence`: "en" or "zh_CN"."""
    return _language
