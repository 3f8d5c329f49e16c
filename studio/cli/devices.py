"""`devices`: this computer and every phone that adb sees, with what to do about a bad state.

JSON: `{"devices": [{"id", "kind", "name", "state", "state_hint", "soc", "soc_marketing", "os_version",
"android_level", "abi", "cpu_count", "ram_bytes", "is_simulated"}], "problem"}` with `id` being
`this-computer` or the serial, `state` `ready` or one of adb's words, and `problem` why phones cannot
be seen (empty when they can). 0 also without a phone.
"""

from __future__ import annotations

from argparse import Namespace

from studio.cli import tables
from studio.cli.options import Parser
from studio.cli.output import Output
from studio.devices.device import DeviceInfo, DeviceState
from studio.devices.registry import see_devices
from studio.records import Record


class DevicesAnswer(Record):
    """What `devices --json` prints."""

    devices: tuple[DeviceInfo, ...]
    problem: str


def parser() -> Parser:
    """The options of `devices`."""
    return Parser(
        "devices",
        summary="List this computer and the phones that adb sees.",
        example="deployment-studio devices --json",
    )


def run(options: Namespace, output: Output) -> int:
    """Lists the devices; 0."""
    found, problem = see_devices()
    answer = DevicesAnswer(devices=tuple(found), problem=problem)
    output.result(answer, text_of(answer))
    return 0


def text_of(answer: DevicesAnswer) -> str:
    """The list for people, with a line of advice per device that is not ready."""
    devices = answer.devices
    rows = [
        (d.id, d.name + (" (simulated)" if d.is_simulated else ""), d.soc_marketing or d.soc or "–",
         d.os_version or "–", str(d.state))
        for d in devices
    ]  # fmt: skip
    lines = [tables.table(("id", "name", "SoC", "system", "state"), rows)]
    lines += [f"{d.id}: {d.state_hint}" for d in devices if d.state is not DeviceState.READY and d.state_hint]
    if answer.problem:
        lines.append(f"Phones cannot be seen: {answer.problem}")
    elif len(devices) == 1:
        lines.append("No phone: plug one in with USB debugging on, or try: deployment-studio virtual-phone")
    return "\n".join(lines)
