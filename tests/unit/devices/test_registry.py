"""All devices: this computer whatever happens to adb; one phone on two links is one device."""

from __future__ import annotations

import socket
import struct

import pytest
from adb_server import answering, okay

from studio.devices.adb.identity import Identities
from studio.devices.adb.listing import parse_list
from studio.devices.registry import open_device, see_devices, watch_devices
from studio.errors import DeviceError

LIST = "USB1  device usb:1-2 model:A transport_id:1\n10.0.0.7:5555  device model:A transport_id:2\n"


def phones(serial_numbers: dict[str, str]):  # type: ignore[no-untyped-def]
    """A server whose phones say those `ro.serialno`."""

    def answer(service: str, connection: socket.socket) -> None:
        if service.endswith(":features"):
            answer.serial = service.split(":", 1)[1].rsplit(":", 1)[0]  # type: ignore[attr-defined]
            okay(connection, b"shell_v2")
            return
        okay(connection)
        number = serial_numbers[answer.serial]  # type: ignore[attr-defined]
        text = number if "ro.serialno" in service else "[ro.product.model]: [A]\n===\n===\n"
        data = text.encode()
        connection.sendall(struct.pack("<BI", 1, len(data)) + data + struct.pack("<BIB", 3, 1, 0))

    return answering(answer)


@pytest.mark.parametrize(
    ("numbers", "seen"),
    [
        ({"USB1": "S1", "10.0.0.7:5555": "S1"}, ["USB1"]),
        ({"USB1": "S1", "10.0.0.7:5555": "S2"}, ["USB1", "10.0.0.7:5555"]),
        ({"USB1": "", "10.0.0.7:5555": ""}, ["USB1", "10.0.0.7:5555"]),
    ],
)
def test_one_phone_on_two_links_is_one_device(numbers: dict[str, str], seen: list[str]) -> None:
    with phones(numbers) as server:
        found = Identities(server).identify(parse_list(LIST))
    assert [info.id for info in found] == seen


@pytest.fixture
def no_adb(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", str(port))
    monkeypatch.setenv("DEPLOYMENT_STUDIO_ADB", "/nowhere/adb")


@pytest.mark.usefixtures("no_adb")
def test_without_adb_there_is_this_computer_and_the_reason() -> None:
    devices, problem = see_devices()
    assert [d.id for d in devices] == ["this-computer"]
    assert "/nowhere/adb" in problem


@pytest.mark.usefixtures("no_adb")
def test_watching_without_adb_says_so_and_can_be_stopped() -> None:
    seen = []
    for devices, problem in watch_devices(should_stop=lambda: len(seen) >= 2):
        seen.append(([d.id for d in devices], bool(problem)))
    assert seen == [(["this-computer"], False), (["this-computer"], True)]


@pytest.mark.usefixtures("no_adb")
def test_opening_a_phone_without_adb_is_a_device_error() -> None:
    with pytest.raises(DeviceError):
        open_device("ABC")
