"""What this machine tells about itself: clocks, temperatures, memory; or why it does not.

Linux only (`/proc`, `/sys`); elsewhere every value is unavailable with that reason.
Sources: kernel documentation, ABI/testing/sysfs-class-hwmon (m°C), sysfs-class-thermal (m°C),
cpufreq (kHz).
"""

from __future__ import annotations

import os
import platform
import time
from pathlib import Path

from studio.devices.stream import Sample

_PLAUSIBLE = (-40.0, 150.0)


class Sensors:
    """Finds what can be read once, then reads it at every `sample`."""

    def __init__(self, pid: int, root: Path = Path("/")) -> None:
        self._status = root / "proc" / str(pid) / "status"
        self._meminfo = root / "proc" / "meminfo"
        self._cpuinfo = root / "proc" / "cpuinfo"
        self._clocks = {
            f"cpu{number}": path / "cpufreq"
            for number, path in _cpus(root)
            if _number(path / "cpufreq" / "scaling_cur_freq") is not None
        }
        self._has_mhz = not self._clocks and bool(_cpuinfo_hz(self._cpuinfo))
        self._temperatures = _temperature_files(root)
        self._unavailable: dict[str, str] = {}
        if not self._temperatures:
            self._unavailable["temperature"] = "this machine shows no sensor (usual for virtual machines)"
        if not self._clocks and not self._has_mhz:
            self._unavailable["frequency"] = "this machine does not tell its clocks"
        if not self._clocks:
            self._unavailable["frequency cap"] = "no cpufreq driver"
        self._unavailable["power"] = "not measured on computers"

    def sample(self) -> Sample:
        """Every value that can be read now; the others with the reason."""
        clocks = {n: f * 1e3 for n, p in self._clocks.items() if (f := _number(p / "scaling_cur_freq"))}
        caps = {n: f * 1e3 for n, p in self._clocks.items() if (f := _number(p / "scaling_max_freq"))}
        temperatures = {}
        for name, path in self._temperatures.items():
            value = _number(path)
            if value is not None and _PLAUSIBLE[0] < value / 1e3 < _PLAUSIBLE[1]:
                temperatures[name] = value / 1e3
        return Sample(
            t_ns=time.monotonic_ns(),
            temperature_celsius=temperatures,
            frequency_hz=_cpuinfo_hz(self._cpuinfo) if self._has_mhz else clocks,
            frequency_cap_hz=caps,
            rss_bytes=_kib(self._status, "VmRSS"),
            free_bytes=_kib(self._meminfo, "MemAvailable"),
            unavailable=self._unavailable,
        )


def cpu_name() -> str:
    """The processor's name, or the machine type."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith(("model name", "Hardware")):
                return " ".join(line.split(":", 1)[1].split())
    except (OSError, IndexError):
        pass
    return platform.processor() or platform.machine()


def ram_bytes() -> int | None:
    """All memory of this machine."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return None


def _cpus(root: Path) -> list[tuple[int, Path]]:
    folder = root / "sys/devices/system/cpu"
    found = [(int(p.name[3:]), p) for p in folder.glob("cpu[0-9]*") if p.name[3:].isdigit()]
    return sorted(found)


def _temperature_files(root: Path) -> dict[str, Path]:
    """Name → file; hwmon first (its labels say more), thermal zones where there is no hwmon."""
    found: dict[str, Path] = {}
    for chip in sorted((root / "sys/class/hwmon").glob("hwmon*")):
        for path in sorted(chip.glob("temp*_input")):
            label = _text(path.with_name(path.name.replace("_input", "_label")))
            name = " ".join(filter(None, (_text(chip / "name"), label or path.name.split("_")[0])))
            if _number(path) is not None:
                found[name if name not in found else f"{name} ({chip.name})"] = path
    if found:
        return found
    for zone in sorted((root / "sys/class/thermal").glob("thermal_zone*")):
        if _number(zone / "temp") is not None:
            name = _text(zone / "type") or zone.name
            found[name if name not in found else f"{name} ({zone.name})"] = zone / "temp"
    return found


def _cpuinfo_hz(path: Path) -> dict[str, float]:
    """`cpu MHz` lines of x86; the last resort, an average of the last moment."""
    try:
        rows = [line.split(":")[1] for line in path.read_text().splitlines() if line.startswith("cpu MHz")]
        return {f"cpu{i}": float(row) * 1e6 for i, row in enumerate(rows)}
    except (OSError, ValueError, IndexError):
        return {}


def _kib(path: Path, key: str) -> int | None:
    try:
        for line in path.read_text().splitlines():
            if line.startswith(f"{key}:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return None


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def _number(path: Path) -> float | None:
    try:
        return float(_text(path))
    except ValueError:
        return None
