"""All devices: this computer, always; and what adb sees.

A phone's trouble never hides this computer: without adb there is still one device, and
`watch_devices` says why there are no more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from studio.devices.device import Device, DeviceInfo, DeviceKind
from studio.devices.this_computer import DEVICE_ID, ThisComputer
from studio.errors import DeviceError, StudioError

if TYPE_CHECKING:
    from studio.devices.adb.server import AdbServer


_HERE = ("ort/cpu", "litert/cpu", "executorch/xnnpack", "executorch/portable", "pytorch-mobile/cpu")


def runnable_targets(kind: DeviceKind) -> tuple[str, ...]:
    """Ids of the targets for which a device of that kind has a runner; all others it refuses."""
    if kind is DeviceKind.THIS_COMPUTER:
        return _HERE
    from studio.devices.adb.benchmark_model import BENCHMARK_FLAGS

    return ("ort/cpu", *BENCHMARK_FLAGS)


def list_devices() -> list[DeviceInfo]:
    """This computer first, then phones in the order of adb; bad states included, with their hint."""
    return see_devices()[0]


def see_devices() -> tuple[list[DeviceInfo], str]:
    """The devices, and why phones cannot be seen (empty when they can)."""
    from studio.devices.adb.identity import identify_all
    from studio.devices.adb.listing import list_entries
    from studio.devices.adb.server import AdbServer

    here = ThisComputer().identify()
    server = AdbServer.default()
    try:
        return [here, *identify_all(server, list_entries(server))], ""
    except StudioError as error:
        return [here], str(error)


def watch_devices(
    *, should_stop: Callable[[], bool], connect: tuple[str, ...] = ()
) -> Iterator[tuple[list[DeviceInfo], str]]:
    """The devices now and after every change, with the reason when phones cannot be seen.

    This computer is told first, at once; phones follow when the adb server answers.
    """
    from studio.devices.adb.identity import Identities
    from studio.devices.adb.listing import track
    from studio.devices.adb.server import AdbServer

    here = ThisComputer().identify()
    yield [here], ""
    server = AdbServer.default()
    problem = _connect_all(server, connect)
    known = Identities(server)
    for entries, error in track(server, should_stop):
        yield [here, *known.identify(entries)], str(error) if error is not None else problem


def open_device(device_id: str, *, runner_command: tuple[str, ...] = ()) -> Device:
    """The device of that id. `runner_command` starts the runner on this computer.

    Raises DeviceError when there is no such device.
    """
    if device_id == DEVICE_ID:
        return ThisComputer(runner_command)
    from studio.devices.adb.listing import list_entries
    from studio.devices.adb.phone import AdbPhone
    from studio.devices.adb.server import AdbServer

    server = AdbServer.default()
    serials = [entry.serial for entry in list_entries(server)]
    if device_id not in serials:
        known = ", ".join((DEVICE_ID, *serials))
        raise DeviceError(
            f"There is no device “{device_id}”.",
            hint=f"Plug it in and switch USB debugging on. Devices now: {known}.",
        )
    return AdbPhone(server, device_id)


def _connect_all(server: AdbServer, addresses: tuple[str, ...]) -> str:
    """Asks adb to connect to each address; returns why some could not be reached."""
    problems = []
    for address in addresses:
        try:
            server.start()
            server.connect(address)
        except StudioError as error:
            problems.append(str(error))
    return " ".join(problems)
