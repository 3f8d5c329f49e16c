"""Copies the window's sources to a folder in a form that lupdate understands.

lupdate follows `self.tr("…")` and `translate("Context", "…")`. Modules also have a short helper
`def _tr(text): return translate("Context", text)`, and jobs speak with the session's voice
(`session.tr`): both are written out here, so that no text is missed.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

_HELPER = re.compile(
    r'def _tr\(text: str\) -> str:\n(?:    """.*?"""\n)?    return \S*translate\("(\w+)", text\)'
)


def rewritten(source: str) -> str:
    """The source with every text in a form that lupdate collects."""
    source = re.sub(r"\b(?:self\._)?session\.tr\(", 'QCoreApplication.translate("Session", ', source)
    helper = _HELPER.search(source)
    if helper is None:
        return source
    return re.sub(r"(?<!def )\b_tr\(", f'QCoreApplication.translate("{helper[1]}", ', source)


def main(out: Path) -> None:
    """Writes the copies and prints their paths."""
    root = Path(__file__).resolve().parent.parent / "studio" / "ui"
    for path in sorted(root.rglob("*.py")):
        copy = out / "_".join(path.relative_to(root).parts)
        copy.write_text(rewritten(path.read_text(encoding="utf-8")), encoding="utf-8")
        print(copy)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
