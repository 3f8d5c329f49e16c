"""The window speaks Chinese without gaps, and what is compiled is what was translated."""

from __future__ import annotations

import itertools
import json
import re
import runpy
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "resources" / "translations"
TS, QM = FOLDER / "studio_zh_CN.ts", FOLDER / "studio_zh_CN.qm"
PLACE = re.compile(r"\{\w+\}")
NUMBERED = re.compile(r"\{(\d*)\}")
DOMAIN = FOLDER / "domain_zh_CN.json"


def messages(path: Path) -> list[tuple[str, str, str, str]]:
    """(context, source, translation, state) of every text."""
    found = []
    for context in ET.parse(path).getroot().findall("context"):
        for message in context.findall("message"):
            translation = message.find("translation")
            assert translation is not None
            found.append(
                (
                    context.findtext("name") or "",
                    message.findtext("source") or "",
                    translation.text or "",
                    translation.get("type", ""),
                )
            )
    return found


def tool(name: str) -> str:
    found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def test_nothing_is_untranslated() -> None:
    gaps = [(context, source) for context, source, text, state in messages(TS) if not text or state]
    assert gaps == []


def test_places_for_values_are_kept() -> None:
    for context, source, text, _ in messages(TS):
        assert sorted(PLACE.findall(source)) == sorted(PLACE.findall(text)), (context, source)


def test_every_text_of_the_window_was_collected(tmp_path: Path) -> None:
    copies = tmp_path / "copies"
    copies.mkdir()
    script = ROOT / "packaging" / "translatable.py"
    listed = subprocess.run(
        [sys.executable, str(script), str(copies)], capture_output=True, text=True, check=True
    ).stdout.split()
    ts = tmp_path / "fresh.ts"
    command = [tool("pyside6-lupdate"), "-noobsolete", "-locations", "none", *listed, "-ts", str(ts)]
    subprocess.run(command, capture_output=True, check=True)
    fresh = {(c, s) for c, s, _, _ in messages(ts)}
    known = {(c, s) for c, s, _, _ in messages(TS)}
    assert fresh - known == set(), "run packaging/translations.sh and translate these"


def test_the_compiled_file_is_up_to_date(tmp_path: Path) -> None:
    qm = tmp_path / "fresh.qm"
    subprocess.run([tool("pyside6-lrelease"), "-silent", str(TS), "-qm", str(qm)], check=True)
    assert qm.read_bytes() == QM.read_bytes(), "run packaging/translations.sh --compile"


def test_every_sentence_of_the_domain_is_translated() -> None:
    collected = runpy.run_path(str(ROOT / "packaging" / "domain_texts.py"))["collected"]()
    known = json.loads(DOMAIN.read_text(encoding="utf-8"))
    missing = sorted(set(collected) - set(known))
    assert missing == [], f"say these in {DOMAIN.name} too (packaging/domain_texts.py lists them)"


def test_sentences_of_the_domain_keep_their_values() -> None:
    for english, chinese in json.loads(DOMAIN.read_text(encoding="utf-8")).items():
        in_order = itertools.count()  # a place without a number takes the next value
        places = {int(place) if place else next(in_order) for place in NUMBERED.findall(chinese)}
        assert chinese.strip() and places == set(range(english.count("{}"))), english
