"""Which adb: configured, on PATH, or the one that adbutils carries; and its version."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from studio.errors import DeviceError, ToolError
from studio.records import Record

VARIABLE = "DEPLOYMENT_STUDIO_ADB"


class AdbBinary(Record):
    """An adb program: `source` is "configured", "PATH" or "adbutils"."""

    path: str
    source: str
    version: str = ""


def find_adb() -> AdbBinary:
    """The adb that will be used. Raises DeviceError when there is none at all."""
    configured = os.environ.get(VARIABLE, "")
    if configured:
        if not Path(configured).is_file():
            raise DeviceError(f"{VARIABLE} names {configured}, which is no file.", hint="Correct the path.")
        return AdbBinary(path=configured, source="configured")
    found = shutil.which("adb")
    if found:
        return AdbBinary(path=found, source="PATH")
    bundled = _bundled()
    if bundled is not None:
        return AdbBinary(path=str(bundled), source="adbutils")
    raise DeviceError("There is no adb on this computer.", hint="Install the Android platform tools.")


def adb_version() -> AdbBinary:
    """`find_adb` with the version it prints about itself."""
    adb = find_adb()
    text = run_adb(adb, "version")
    match = re.search(r"^Version (\S+)", text, re.MULTILINE) or re.search(r"version (\S+)", text)
    return AdbBinary(path=adb.path, source=adb.source, version=match.group(1) if match else "")


def run_adb(adb: AdbBinary, *arguments: str, timeout: float = 20.0) -> str:
    """What adb printed. Raises ToolError when it cannot be started or fails."""
    argv = (adb.path, *arguments)
    try:
        done = subprocess.run(
            argv, capture_output=True, text=True, errors="replace", timeout=timeout, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ToolError(f"adb does not start: {error}", hint="Reinstall adb.", argv=argv) from None
    if done.returncode:
        lines = tuple((done.stdout + done.stderr).strip().splitlines()[-10:])
        raise ToolError(
            f"adb {arguments[0]} failed.", hint=" ".join(lines[-1:]), argv=argv,
            returncode=done.returncode, last_lines=lines,
        )  # fmt: skip
    return done.stdout


def _bundled() -> Path | None:
    from importlib.util import find_spec

    spec = find_spec("adbutils")
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        path = Path(folder) / "binaries" / ("adb.exe" if os.name == "nt" else "adb")
        if path.is_file():
            return path
    return None
