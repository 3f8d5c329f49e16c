"""`doctor`: which tool chains, vendor SDKs, adb and display are here, and how to get the others.

JSON: `{"studio", "python", "system", "display": bool, "adb": part, "tool_chains": [part]}` with a part
being `{"id", "title", "is_available", "version", "reason", "fix", "targets": [id]}`. Exit code 1: ONNX
Runtime is missing, without which little works; an absent vendor tool is ordinary.
"""

from __future__ import annotations

import platform
import sys
from argparse import Namespace

from studio import __version__
from studio.backends import Availability
from studio.backends.registry import probe_all
from studio.cli.options import Parser
from studio.cli.output import Output
from studio.cli.window import has_display
from studio.devices.adb.binary import adb_version
from studio.errors import StudioError
from studio.paths import cache_dir, config_dir, data_dir
from studio.records import Record


class Part(Record):
    """One tool: here in this version, or why not and how to get it."""

    id: str
    title: str
    is_available: bool
    version: str
    reason: str
    fix: str
    targets: tuple[str, ...] = ()


class DoctorAnswer(Record):
    """What `doctor --json` prints."""

    studio: str
    python: str
    system: str
    display: bool
    adb: Part
    tool_chains: tuple[Part, ...]
    folders: dict[str, str]  # cache, settings, data


def parser() -> Parser:
    """The options of `doctor`."""
    return Parser(
        "doctor",
        summary="Say which tool chains, vendor SDKs, adb and display are here, and how to get the others.",
        example="deployment-studio doctor",
    )


def run(options: Namespace, output: Output) -> int:
    """Looks around; 0, or 1 when ONNX Runtime is missing."""
    answer = DoctorAnswer(
        studio=__version__,
        python=f"{platform.python_version()} ({sys.executable})",
        system=platform.platform(),
        display=has_display(),
        adb=_adb(),
        tool_chains=tuple(map(_part, probe_all())),
        folders={"cache": str(cache_dir()), "settings": str(config_dir()), "data": str(data_dir())},
    )
    output.result(answer, text_of(answer))
    return 0 if any(p.is_available for p in answer.tool_chains if p.id == "ort") else 1


def _adb() -> Part:
    title = "Android Debug Bridge (adb)"
    try:
        found = adb_version()
    except StudioError as error:
        return Part(
            id="adb", title=title, is_available=False, version="", reason=error.message, fix=error.hint
        )
    where = f"{found.version} at {found.path} (from {found.source})"
    return Part(id="adb", title=title, is_available=True, version=where, reason="", fix="")


def _part(found: Availability) -> Part:
    return Part(
        id=found.backend_id,
        title=found.title,
        is_available=found.is_available,
        version=found.version,
        reason=found.reason,
        fix=found.fix,
        targets=found.targets,
    )


def text_of(answer: DoctorAnswer) -> str:
    """The findings for people: a line per tool, and what to do below those that are missing."""
    lines = [
        f"✓ Deployment Studio {answer.studio} on Python {answer.python}",
        f"  {answer.system}",
        "✓ a display" if answer.display else "✕ no display: the window cannot open, the commands work",
    ]
    for part in (answer.adb, *answer.tool_chains):
        if part.is_available:
            lines.append(f"✓ {part.title} {part.version}")
        else:
            lines.append(f"✕ {part.title}: {part.reason}")
            lines.append(f"    {part.fix}")
    lines += [f"  {name}: {folder}" for name, folder in answer.folders.items()]
    return "\n".join(lines)
