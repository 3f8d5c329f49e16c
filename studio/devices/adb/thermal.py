"""Temperatures of a phone: `dumpsys thermalservice`, else the zones of `/sys/class/thermal`.

Sources: AOSP ThermalManagerService.dump (Android 10+) and hardware/thermal types. Types 6, 7 and 8
are battery voltage, current and percent: not temperatures. sysfs zones of one phone mix m°C, d°C
and °C: each zone's scale is decided once, and kept.
"""

from __future__ import annotations

import re

from studio.records import Record

_ENTRY = re.compile(r"Temperature\{mValue=([^,]+), mType=(-?\d+), mName=([^,]*), mStatus=(-?\d+)\}")
_STATUS = re.compile(r"^\s*Thermal Status:\s*(\d+)", re.MULTILINE)
_SECTION = re.compile(r"^\s*(Current temperatures from HAL|Cached temperatures):\s*$", re.MULTILINE)
_NEXT_SECTION = re.compile(r"^\s*(HAL |Current cooling|Temperature static|Cached|Current temp)", re.MULTILINE)
_NOT_TEMPERATURES = frozenset((6, 7, 8))
_ABSENT = (-99.9, -127.0)
_ZERO_IS_ABSENT = re.compile(r"usb|sub[-_ ]?batt", re.IGNORECASE)
_LOWEST, _HIGHEST = -40.0, 150.0


class ThermalReport(Record):
    """What the thermal service says. `is_cached`: the values may be half an hour old."""

    status: int | None
    temperatures: dict[str, float]
    is_cached: bool = False
    is_hal_ready: bool = True


def parse_thermalservice(text: str) -> ThermalReport:
    """The report of `dumpsys thermalservice`; current values where it has them, else cached ones."""
    status = _STATUS.search(text)
    sections: dict[str, dict[str, float]] = {}
    marks = list(_SECTION.finditer(text))
    for mark in marks:
        body = text[mark.end() :]
        end = _NEXT_SECTION.search(body)
        sections[mark.group(1)] = _entries(body[: end.start()] if end else body)
    current = sections.get("Current temperatures from HAL", {})
    cached = sections.get("Cached temperatures", {})
    return ThermalReport(
        status=int(status.group(1)) if status else None,
        temperatures=current or cached,
        is_cached=not current and bool(cached),
        is_hal_ready=not re.search(r"HAL Ready:\s*false", text),
    )


def _entries(text: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for value, kind, name, _ in _ENTRY.findall(text):
        if int(kind) in _NOT_TEMPERATURES and not name.startswith("TYPE_"):
            continue
        if re.match(r"TYPE_BCL", name):
            continue
        celsius = _plausible(value, name)
        if celsius is not None:
            found[name] = celsius
    return found


def _plausible(value: str, name: str) -> float | None:
    try:
        celsius = float(value)
    except ValueError:
        return None
    if celsius != celsius or celsius in _ABSENT or not _LOWEST < celsius < _HIGHEST:
        return None
    if celsius == 0.0 and _ZERO_IS_ABSENT.search(name):
        return None
    return celsius


class ZoneScales:
    """Turns raw sysfs zone values into °C; each zone's unit is decided at its first plausible value."""

    def __init__(self) -> None:
        self._scale: dict[str, float] = {}

    def celsius(self, zone: str, raw: str) -> float | None:
        """The zone's temperature, or None when it gives none (absent sensor, nonsense)."""
        try:
            value = float(raw)
        except ValueError:
            return None
        if value <= -99000 or value in (-127.0, -1270.0):
            return None  # MediaTek prints -127000 for a sensor that is not there
        if zone not in self._scale:
            scale = _scale_of(value)
            if scale is None:
                return None
            self._scale[zone] = scale
        return _plausible(str(value * self._scale[zone]), zone)


def _scale_of(value: float) -> float | None:
    """m°C from 1,000 up, d°C from 150 up (15 °C), else °C; 0 decides nothing."""
    size = abs(value)
    if size == 0:
        return None
    if size >= 1000:
        return 1e-3
    return 0.1 if size >= _HIGHEST else 1.0
