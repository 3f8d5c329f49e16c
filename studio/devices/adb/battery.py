"""Battery and power of a phone, from `dumpsys battery` and `current_now`.

Source: AOSP BatteryService.dump: temperature in tenths of °C, voltage in mV. `current_now` is in µA
by the kernel's documentation and in mA on some phones, its sign is not portable; while plugged in
it measures the charger, so power is refused then.
"""

from __future__ import annotations

import re

from studio.records import Record

_ROW = re.compile(r"^\s*([A-Za-z ]+):\s*(\S+)\s*$", re.MULTILINE)
_UA_FROM = 20_000.0
"""Above this a current must be µA: 20 A is no phone's current, 20 mA is less than any screen takes."""


class Battery(Record):
    """The battery now. `power_watts` is None with `power_reason` when it cannot be told."""

    percent: float | None = None
    celsius: float | None = None
    voltage: float | None = None
    is_plugged: bool | None = None
    power_watts: float | None = None
    power_reason: str = ""


def parse_battery(text: str, current_now: str = "") -> Battery:
    """The battery from `dumpsys battery` and the raw text of `current_now`."""
    rows = {key.strip().lower(): value for key, value in _ROW.findall(text)}
    powered = [rows[k] == "true" for k in ("ac powered", "usb powered", "wireless powered") if k in rows]
    is_plugged = any(powered) if powered else None
    level, scale = _number(rows.get("level")), _number(rows.get("scale"))
    temperature, millivolt = _number(rows.get("temperature")), _number(rows.get("voltage"))
    voltage = None if not millivolt else millivolt / 1000 if millivolt > 100 else millivolt
    watts, reason = _power(current_now, voltage, is_plugged)
    return Battery(
        percent=None if level is None else 100 * level / (scale or 100),
        celsius=None if temperature is None else temperature / 10,
        voltage=voltage,
        is_plugged=is_plugged,
        power_watts=watts,
        power_reason=reason,
    )


def _power(current_now: str, voltage: float | None, is_plugged: bool | None) -> tuple[float | None, str]:
    if is_plugged is not False:
        return None, "the phone is charging, so its current is the charger's" if is_plugged else "not told"
    current = _number(current_now)
    if current is None:
        return None, "this phone does not show its current"
    if voltage is None:
        return None, "this phone does not show its voltage"
    if current == 0:
        return None, "this phone shows a current of 0"
    amperes = abs(current) / (1e6 if abs(current) > _UA_FROM else 1e3)
    return amperes * voltage, ""


def _number(text: str | None) -> float | None:
    try:
        return float(text) if text is not None and text.strip() else None
    except ValueError:
        return None
