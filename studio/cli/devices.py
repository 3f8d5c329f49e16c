"""`devices`: this computer and every phone that adb sees, with what to do about a bad state.

JSON: `{"devices": [{"id", "kind", "name", "state", "state_hint", "soc", "soc_marketing", "os_version",
"android_level", "abi", "cpu_count", "ram_bytes", "is_simulated"}]}` with `id` being
`this-computer` or the serial, and `state` `ready` or one of adb's words. 0 also without a phone.
"""

from __future__ import annotations

from argparse import Namespace

from studio.cli import tables
from studio.cli.options import Parser
from studio.cli.output import Output
from studio.devices.device import DeviceInfo, DeviceState
from studio.devices.registry import list_devices
from studio.records import Record


class DevicesAnswer(Record):
    """What `devices --json` prints."""

    devices: tuple[DeviceInfo, ...]


def parser() -> Parser:
    """The options of `devices`."""
    return Parser(
        "devices",
        summary="List this computer and the phones that adb sees.",
        example="deployment-studio devices --json",
    )


def run(options: Namespace, output: Output) -> int:
    """Lists the devices; 0."""
    found = tuple(list_devices())
    output.result(DevicesAnswer(devices=found), text_of(found))
    return 0


def text_of(devices: tuple[DeviceInfo, ...]) -> str:
    """The list for people, with a line of advice per device that is not ready."""
    rows = [
        (d.id, d.name + (" (simulated)" if d.is_simulated else ""), d.soc_marketing or d.soc or "–",
         d.os_version or "–", str(d.state))
        for d in devices
    ]  # fmt: skip
    lines = [tables.table(("id", "name", "SoC", "system", "state"), rows)]
    lines += [f"{d.id}: {d.state_hint}" for d in devices if d.state is not DeviceState.READY and d.state_hint]
    if len(devices) == 1:
        lines.append("No phone: plug one in with USB debugging on, or try: deployment-studio virtual-phone")
    return "\n".join(lines)
