"""`virtual-phone`: serves a simulated phone to adb until Ctrl+C; then it appears in `devices`.

JSON, one object when it answers: `{"serial", "profile", "name", "port", "control_port", "is_simulated":
true}`. Everything measured on it is marked simulated. `--list` names the profiles:
`{"profiles": [id]}`.
"""

from __future__ import annotations

import signal
from argparse import Namespace
from types import FrameType

from studio.cli.options import Parser
from studio.cli.output import Output
from studio.devices.virtual_phone import VirtualPhone, profile_ids, serve
from studio.records import Record


class PhoneAnswer(Record):
    """What `virtual-phone --json` prints once the phone answers."""

    serial: str
    profile: str
    name: str
    port: int
    control_port: int
    is_simulated: bool = True


class ProfilesAnswer(Record):
    """What `virtual-phone --list --json` prints."""

    profiles: tuple[str, ...]


def parser() -> Parser:
    """The options of `virtual-phone`."""
    result = Parser(
        "virtual-phone",
        summary="Serve a simulated phone to adb, until Ctrl+C. Its figures are simulated and marked so.",
        example="deployment-studio virtual-phone --profile snapdragon-8gen3",
    )
    result.add_argument("--profile", default="tensor-g3", metavar="P", help="see --list; default tensor-g3")
    result.add_argument("--port", type=int, default=0, metavar="N", help="TCP port (a free one)")
    result.add_argument("--list", action="store_true", help="name the profiles and leave")
    return result


def run(options: Namespace, output: Output) -> int:
    """Serves until Ctrl+C or SIGTERM, which is the ordinary end: 0."""
    if options.list:
        profiles = tuple(profile_ids())
        output.result(ProfilesAnswer(profiles=profiles), "\n".join(profiles))
        return 0
    stopped = False

    def stop(_number: int, _frame: FrameType | None) -> None:
        nonlocal stopped
        stopped = True

    previous = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        serve(
            options.profile,
            options.port,
            on_ready=lambda phone: _say(phone, options.profile, output),
            should_stop=lambda: stopped,
        )
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
    return 0


def _say(phone: VirtualPhone, profile: str, output: Output) -> None:
    answer = PhoneAnswer(
        serial=phone.serial,
        profile=profile,
        name=phone.profile.title,
        port=phone.port,
        control_port=phone.control_port,
    )
    text = f"{answer.name} (simulated) is connected as {answer.serial}; Ctrl+C ends it."
    output.result(answer, text)
