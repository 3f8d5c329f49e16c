"""What a tool's message means: the most specific known cause in its output, and what to do.

The catalogue is `resources/errors.json`: messages of exporters, converters, runtimes and drivers
with pattern, cause, fixes and source. *Why a catalogue:* the tools' own words name an internal
check; an engineer needs the cause in the model and the next step.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from studio.errors import ToolError
from studio.paths import resources
from studio.records import Record, from_json

_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_FRAME = re.compile(r'File "([^"]+\.py)", line (\d+), in ')
_FOREIGN = re.compile(r"site-packages|[/\\]lib[/\\]python|<frozen|<string")
_EXCEPTION = re.compile(r"\s*[\w.]*(Error|Exception|Unsupported)\b.*: \S")
_WRAPPERS = ("or-node-failed", "to-step-", "et-load-program", "gpu-not-initialized", "qnn-transport")
"""Ids (or their beginnings) of messages that only announce another one, which says more."""

_SEVERITY = {"fatal": 0, "error": 1, "warning": 2, "info": 3}
LAST_LINES = 30
_LONGEST_LINE = 1000
_MOST_LINES = 4000


class Explanation(Record):
    """A known message: `where` is the tool, `cause` a sentence, `fix` steps to try in order."""

    id: str
    where: str
    pattern: str
    example: str
    cause: str
    fix: tuple[str, ...]
    severity: str
    source: str
    confidence: str


@lru_cache(maxsize=1)
def catalogue() -> tuple[tuple[re.Pattern[str], Explanation], ...]:
    """All known messages with their compiled patterns."""
    path = resources() / "errors.json"
    entries = from_json(path.read_bytes(), tuple[Explanation, ...], where=str(path))
    return tuple((re.compile(entry.pattern), entry) for entry in entries)


def plain_text(text: str) -> str:
    """The text without terminal colour codes and without what no person wrote.

    Names of megabytes and logs of a million lines are cut in the middle: patterns take time by the
    square of a line's length.
    """
    lines = _COLOUR.sub("", text).splitlines()
    if len(lines) > _MOST_LINES:
        lines = [*lines[: _MOST_LINES // 2], *lines[-_MOST_LINES // 2 :]]
    half = _LONGEST_LINE // 2
    return "\n".join(
        line if len(line) <= _LONGEST_LINE else f"{line[:half]} … {line[-half:]}" for line in lines
    )


def explain(text: str, *, tools: Iterable[str] = ()) -> tuple[Explanation, ...]:
    """Known messages that occur in a tool's output, the most telling first.

    Order: causes before wrappers, `tools` (values of `where`) before others, worse severity first,
    then the longer match. Empty when nothing is known.
    """
    text = plain_text(text)
    wanted = frozenset(tools)
    found = []
    for pattern, entry in catalogue():
        match = pattern.search(text)
        if match:
            rank = (
                entry.id.startswith(_WRAPPERS),
                bool(wanted) and entry.where not in wanted,
                _SEVERITY.get(entry.severity, 1),
                -len(match.group(0)),
            )
            found.append((rank, entry))
    return tuple(entry for _, entry in sorted(found, key=lambda pair: pair[0]))


def last_lines(text: str) -> tuple[str, ...]:
    """The last non-empty lines of a tool's output, for people to copy."""
    return tuple(line.rstrip() for line in plain_text(text).splitlines() if line.strip())[-LAST_LINES:]


def telling_line(lines: tuple[str, ...]) -> str:
    """The last line that names an exception, else the last line, empty when there is none."""
    named = (line.strip() for line in reversed(lines) if _EXCEPTION.match(line))
    return next(named, lines[-1].strip() if lines else "")


def own_line(text: str) -> str:
    """“ (file.py:12)” for the last line of the user's own code in a traceback, else empty."""
    frames = [
        f for f in _FRAME.finditer(text) if not re.search(r"site-packages|/lib/python|<frozen|<string", f[1])
    ]
    return f" ({Path(frames[-1][1]).name}:{frames[-1][2]})" if frames else ""


def tool_error(
    message: str,
    output: str,
    *,
    tools: Iterable[str] = (),
    hint: str = "",
    argv: tuple[str, ...] = (),
    returncode: int | None = None,
) -> ToolError:
    """A ToolError whose hint is the catalogue's cause and first fix, else `hint`, else the last line."""
    known = explain(output, tools=tools)
    lines = last_lines(output)
    if known:
        hint = known[0].cause + (f" Try: {known[0].fix[0].rstrip('.')}." if known[0].fix else "")
        if known[0].id.startswith(_WRAPPERS):
            hint += f" The tool said: {telling_line(lines)[:300]}"
    elif lines:
        hint = f"{hint} The tool said: {telling_line(lines)[:300]}".strip()
    return ToolError(message, hint=hint, argv=argv, returncode=returncode, last_lines=lines)
