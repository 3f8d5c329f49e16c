"""adb's list: states with spaces, every state with its next step."""

from __future__ import annotations

import pytest

from studio.devices.adb.listing import parse_list, state_hint
from studio.devices.device import DeviceState

LIST = (
    "0A1B2C3D               device usb:1-2 product:shiba model:Virtual_Pixel device:shiba transport_id:3\n"
    "R5CX                   unauthorized usb:1-3 transport_id:4\n"
    "10.0.0.7:5555          offline product:x model:A_B device:x transport_id:5\n"
    "ABCD\tno permissions (user in plugdev group; are your udev rules wrong?); "
    "see [http://developer.android.com/tools/device.html] usb:1-4 transport_id:6\n"
    "EFGH                   no permissions\n"
    "IJKL                   wobbling usb:9 transport_id:7\n"
    "MNOP                   recovery\n"
    "\n"
)


def test_states_end_at_the_first_known_key() -> None:
    entries = {e.serial: e for e in parse_list(LIST)}
    assert {s: e.state for s, e in entries.items()} == {
        "0A1B2C3D": DeviceState.READY,
        "R5CX": DeviceState.UNAUTHORIZED,
        "10.0.0.7:5555": DeviceState.OFFLINE,
        "ABCD": DeviceState.NO_PERMISSIONS,
        "EFGH": DeviceState.NO_PERMISSIONS,
        "IJKL": DeviceState.UNKNOWN,
        "MNOP": DeviceState.RECOVERY,
    }
    assert entries["0A1B2C3D"].model == "Virtual Pixel"
    assert entries["IJKL"].raw_state == "wobbling"


@pytest.mark.parametrize("state", list(DeviceState))
def test_every_state_but_ready_says_what_to_do(state: DeviceState) -> None:
    assert bool(state_hint(state)) is (state is not DeviceState.READY)


def test_an_unknown_state_shows_adbs_own_word() -> None:
    assert "wobbling" in state_hint(DeviceState.UNKNOWN, "wobbling")


@pytest.mark.parametrize("text", ["", "\n\n", "loneword\n", "List of devices attached\n\n"])
def test_nothing_is_nobody(text: str) -> None:
    assert [e for e in parse_list(text) if e.state is DeviceState.READY] == []
