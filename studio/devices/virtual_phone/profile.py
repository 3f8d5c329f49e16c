"""PhoneProfile: what a virtual phone says of itself; data in `resources/phones/*.json`.

The shapes are those of real phones, the values are invented.
"""

from __future__ import annotations

from pathlib import Path

from studio.errors import InputError
from studio.paths import resources
from studio.records import Record, from_json


class Zone(Record):
    """A sensor. It rises `gain_celsius` above `rest_celsius` under full load, with time constant `tau_s`.

    `scale` is the unit of its sysfs file: 1000 = m°C, 10 = d°C, 1 = °C. `hal_type` is Android's
    temperature type, None for a zone that the thermal service does not know. `raw` is a fixed text
    for a sensor that is not there.
    """

    name: str
    rest_celsius: float = 25.0
    gain_celsius: float = 0.0
    tau_s: float = 60.0
    scale: int = 1000
    hal_type: int | None = None
    raw: str = ""


class Cluster(Record):
    """Processor cores of one kind; clocks in kHz."""

    cores: int
    min_khz: int
    max_khz: int


class PhoneProfile(Record):
    """A phone. `features` are adb's; `throttle_celsius` are the skin's thresholds, light to shutdown."""

    id: str
    title: str
    properties: dict[str, str]
    features: tuple[str, ...]
    clusters: tuple[Cluster, ...]
    zones: tuple[Zone, ...]
    skin_zone: str
    throttle_celsius: tuple[float, ...]
    ram_bytes: int
    free_bytes: int = 8 << 30
    battery_percent: float = 80.0
    battery_millivolt: int = 4000
    idle_milliampere: float = 180.0
    load_milliampere: float = 1400.0
    current_unit: str = "uA"
    has_thermal_service: bool = True
    thermal_dump_indent: str = "\t"


class DaemonSpec(Record):
    """What the daemon is told; `port` 0 = any free one."""

    profile: PhoneProfile
    port: int
    control_port: int
    mark: str


class Ready(Record):
    """The daemon's first line."""

    port: int
    control_port: int


def profile_ids() -> list[str]:
    """Ids of all profiles."""
    return sorted(path.stem for path in (resources() / "phones").glob("*.json"))


def load_profile(name: str) -> PhoneProfile:
    """The profile of that id, or of a JSON file. Raises InputError with the known ids."""
    path = resources() / "phones" / f"{name}.json"
    if name.endswith(".json"):
        path = Path(name)
    elif name not in profile_ids():
        raise InputError(f"There is no phone profile “{name}”.", hint=f"Known: {', '.join(profile_ids())}.")
    try:
        return from_json(path.read_bytes(), PhoneProfile, where=str(path))
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror}.", hint="Check the path.") from None
