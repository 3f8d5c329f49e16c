"""Collects the sentences that the domain says, for translation.

Prints every text and f-string of the rooms below the window that reads like a sentence, with `{}`
for each value, and says which are not in `resources/translations/domain_zh_CN.json` yet:

    python packaging/domain_texts.py            all that are missing, one JSON text a line
    python packaging/domain_texts.py --stale    those in the file that nobody says any more
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "resources" / "translations" / "domain_zh_CN.json"
_SILENT = ("ui", "cli", "report")  # the window has its own way; command line and report speak English
_OTHERS_WORDS = ("devices/virtual_phone/heat.py",)  # what a phone prints, not what the studio says


def collected() -> dict[str, str]:
    """Template → room, in the order of the files."""
    found: dict[str, str] = {}
    for path in sorted((ROOT / "studio").rglob("*.py")):
        place = path.relative_to(ROOT / "studio")
        room = place.parts[0]
        if room in _SILENT or place.as_posix() in _OTHERS_WORDS:
            continue
        for text in _texts(ast.parse(path.read_text(encoding="utf-8"))):
            found.setdefault(text, room)
    return found


def _texts(tree: ast.Module) -> Iterator[str]:
    skipped: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            skipped.add(id(node.value))  # docstrings
        elif isinstance(node, ast.JoinedStr):
            skipped.update(id(part) for part in ast.walk(node) if part is not node)
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        text = _template(node)
        if text is not None and _is_sentence(text):
            yield text
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            # What a job does now, and why a sensor says nothing: a word or two, no sentence.
            if node.func.attr == "progress":
                yield from _phrases(node.args[0])
            elif node.func.attr == "setdefault" and _says_why(node.func.value):
                yield from _phrases(node.args[-1])
        elif isinstance(node, ast.Assign) and any(map(_holds_phrase, node.targets)):
            yield from _phrases(node.value)


def _holds_phrase(target: ast.AST) -> bool:
    """Whether what is assigned here is said to a person: why nothing is there, or what a run ran on."""
    if isinstance(target, ast.Subscript):
        return _says_why(target.value)
    return str(getattr(target, "attr", getattr(target, "id", ""))) == "evidence"


def _says_why(node: ast.AST) -> bool:
    return str(getattr(node, "attr", getattr(node, "id", ""))).endswith("unavailable")


def _phrases(node: ast.AST) -> Iterator[str]:
    for part in (node.body, node.orelse) if isinstance(node, ast.IfExp) else (node,):
        text = _template(part)
        if text is not None and text.replace("{}", "").strip(" :"):
            yield text


def _template(node: ast.AST) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(p.value) if isinstance(p, ast.Constant) else "{}" for p in node.values)
    return None


def _is_sentence(text: str) -> bool:
    words = text.split()
    fixed = text.replace("{}", "")
    return (
        len(words) >= 2
        and (text[0].isupper() or text.startswith("{}"))
        and text.rstrip()[-1] in ".:?!}"
        and sum(c.isalpha() for c in fixed) > 8
        and "\n" not in text.strip()
        and "://" not in text
        and "%s" not in text
        and "; }" not in text  # a rule of a style sheet
        and "\\" not in text  # a regular expression
    )


def main() -> None:
    """Prints what is missing, or with --stale what is not said any more."""
    known = json.loads(TABLE.read_text(encoding="utf-8")) if TABLE.is_file() else {}
    found = collected()
    wanted = (
        [t for t in known if t not in found]
        if "--stale" in sys.argv
        else [t for t in found if t not in known]
    )
    for text in wanted:
        print(json.dumps(text, ensure_ascii=False))
    print(f"{len(found)} sentences, {len(known)} translated", file=sys.stderr)


if __name__ == "__main__":
    main()
