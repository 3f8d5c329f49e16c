"""From a fault in a stream back to the error a person can act on."""

from __future__ import annotations

from studio.devices.stream import Fault
from studio.errors import DeviceError, InputError, StudioError, ToolError, UnsupportedError


def error_of(fault: Fault, *, argv: tuple[str, ...] = (), returncode: int | None = None) -> StudioError:
    """The StudioError that a fault record stands for."""
    match fault.error:
        case "input":
            return InputError(fault.message, hint=fault.hint)
        case "unsupported":
            return UnsupportedError(fault.message, hint=fault.hint, nodes=fault.nodes)
        case "device":
            return DeviceError(fault.message, hint=fault.hint)
        case _:
            return ToolError(
                fault.message,
                hint=fault.hint,
                argv=argv,
                returncode=returncode,
                last_lines=tuple(fault.detail.splitlines()),
            )
