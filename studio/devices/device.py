"""Device: what the studio needs of a piece of hardware, and the settings of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

from studio.devices.stream import StreamRecord
from studio.errors import InputError
from studio.records import Choice, Record


class DeviceKind(Choice):
    """What the wire is."""

    THIS_COMPUTER = "this-computer"
    ANDROID = "android"
    VIRTUAL_PHONE = "virtual-phone"


class DeviceState(Choice):
    """adb's words, plus ready. Every state other than READY has a sentence and a next step."""

    READY = "ready"
    UNAUTHORIZED = "unauthorized"
    AUTHORIZING = "authorizing"
    OFFLINE = "offline"
    NO_PERMISSIONS = "no permissions"
    RECOVERY = "recovery"
    SIDELOAD = "sideload"
    BOOTLOADER = "bootloader"
    CONNECTING = "connecting"
    UNKNOWN = "unknown"


class DeviceInfo(Record):
    """Who a device is. Empty text = not known."""

    id: str  # "this-computer" or the serial
    kind: DeviceKind
    name: str
    state: DeviceState
    state_hint: str = ""  # what to do about a bad state
    soc: str = ""
    soc_marketing: str = ""
    os_version: str = ""  # "Android 16", "Debian 12"
    android_level: int | None = None  # API level
    abi: str = ""
    cpu_count: int | None = None
    ram_bytes: int | None = None
    driver: str = ""  # what names the accelerators' drivers: on Android the vendor's build
    is_simulated: bool = False


class RunMode(Choice):
    """burst: N runs and at least S seconds; sustained: minutes; cadence: a fixed rate with idle gaps."""

    BURST = "burst"
    SUSTAINED = "sustained"
    CADENCE = "cadence"


class RunSettings(Record):
    """How to run. Ends when both `runs` and `seconds` are reached."""

    target: str
    threads: int = 1
    mode: RunMode = RunMode.BURST
    warmup_runs: int = 5
    runs: int = 100
    seconds: float = 1.0
    interval_ms: float = 0.0
    sample_hz: float = 2.0


_RUN_LIMITS: dict[str, tuple[float, float]] = {
    "threads": (1, 1024),
    "warmup_runs": (0, 1e6),
    "runs": (1, 1e7),
    "seconds": (0, 7 * 86_400),
    "interval_ms": (0, 3.6e6),
    "sample_hz": (0, 1000),
}
"""Least and most; beyond them a slip of the hand is likelier than a wish. Every inference is a line of
the run file and a number in memory: ten million are 0.7 GB of file (70 bytes a line, counted 2026-11)."""
_LIMIT_REASONS = {"runs": " Each inference is kept; for a longer run give seconds."}


def check_run_settings(settings: RunSettings, *, field: str) -> None:
    """Raises InputError naming `field` and the setting that no person means, NaN included."""
    for name, (least, most) in _RUN_LIMITS.items():
        value = getattr(settings, name)
        if not least <= value <= most:
            hint = f"From {least:g} to {most:,.0f}." if most >= 1e6 else f"From {least:g} to {most:g}."
            raise InputError(
                f"{field}{name}: {value} is out of range.", hint=hint + _LIMIT_REASONS.get(name, "")
            )


class RunRequest(Record):
    """One execution: which file, how, on which inputs.

    `inputs_path`: an `.npz` with one array per input name, first axis = sample when
    `input_samples` > 1; empty = inputs are made from the declared shapes (`dims` fills symbolic
    ones). `outputs_dir` receives the outputs for every real sample as raw files. `profile_dir` receives
    the runtime's profile of single nodes, from `settings.runs` more inferences; empty = none is asked for.
    """

    artifact_path: str
    artifact_format: str
    artifact_sha256: str
    settings: RunSettings
    inputs_path: str = ""
    input_samples: int = 0
    dims: dict[str, int] = {}
    outputs_dir: str = ""
    profile_dir: str = ""


class Device(Protocol):
    """Hardware with a wire. Implementations: this_computer, adb (a virtual phone is one over adb)."""

    device_id: str

    def identify(self) -> DeviceInfo:
        """Who it is now. Never raises for a bad state: that is in the info."""
        ...

    def run(
        self, request: RunRequest, *, on_push: Callable[[int, int], None], should_stop: Callable[[], bool]
    ) -> Iterator[StreamRecord]:
        """Pre-flight, push, run; yields every record as it arrives, `Hello` first, `End` last.

        `on_push(done_bytes, total_bytes)` reports progress. Stops soon after `should_stop()`.
        Raises DeviceError, UnsupportedError or ToolError with what was received already yielded.
        """
        ...
