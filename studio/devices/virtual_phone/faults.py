"""Faults on purpose: what the control port of a virtual phone can make happen.

One JSON object per line on a TCP connection, one answer per line. The functions at the end speak it.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from studio.devices.virtual_phone.peer import is_own_user
from studio.errors import DeviceError, InputError
from studio.records import Choice, Record, to_json


class FaultKind(Choice):
    """What can go wrong."""

    CUT = "cut"  # every connection ends now, and new ones are refused for `seconds`
    CUT_AFTER = "cut-after"  # the same after `bytes` more bytes to the host
    UNAUTHORIZED = "unauthorized"  # no key is accepted any more
    OFFLINE = "offline"  # connections are taken, but never answered
    NO_SPACE = "no-space"  # `bytes` are free; a push beyond fails
    LYING_SPACE = "lying-space"  # df says there is room, yet a push beyond `bytes` fails
    SLOW = "slow"  # `bytes` per second in each direction
    HEAT = "heat"  # the skin is at `celsius`
    NONE = "none"  # all is well again


class FaultOrder(Record):
    """An order to the control port."""

    kind: FaultKind
    seconds: float = 1.0
    bytes: int = 0
    celsius: float = 0.0


class FaultAnswer(Record):
    """What the phone answers: done, or why not."""

    ok: bool
    message: str = ""


@dataclass(slots=True)
class Faults:
    """The faults that are on now."""

    refuse_until: float = 0.0
    cut_after: int | None = None
    cut_seconds: float = 1.0
    is_unauthorized: bool = False
    is_offline: bool = False
    space_bytes: int | None = None
    bytes_per_second: int = 0

    @property
    def refuses(self) -> bool:
        return time.monotonic() < self.refuse_until

    def count_sent(self, count: int) -> bool:
        """Takes bytes that go to the host; True when the cable is to be cut now."""
        if self.cut_after is None:
            return False
        self.cut_after -= count
        if self.cut_after > 0:
            return False
        self.cut_after = None
        self.refuse_until = time.monotonic() + self.cut_seconds
        return True

    async def delay(self, count: int) -> None:
        """Waits as long as `count` bytes take on a slow cable."""
        if self.bytes_per_second > 0:
            await asyncio.sleep(count / self.bytes_per_second)


async def serve_control(port: int, obey: Callable[[FaultOrder], None]) -> asyncio.Server:
    """Listens for orders on this computer only."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while is_own_user(writer) and (line := await reader.readline()):
            try:
                obey(msgspec.json.decode(line, type=FaultOrder))
                answer = FaultAnswer(ok=True)
            except (msgspec.DecodeError, InputError) as error:
                answer = FaultAnswer(ok=False, message=str(error))
            writer.write(to_json(answer).encode() + b"\n")
            await writer.drain()
        writer.close()

    return await asyncio.start_server(serve, "127.0.0.1", port)


def order(control_port: int, wanted: FaultOrder) -> None:
    """Makes a fault happen. Raises DeviceError when the phone is not there or refuses."""
    try:
        with socket.create_connection(("127.0.0.1", control_port), 5.0) as opened:
            opened.sendall(to_json(wanted).encode() + b"\n")
            answer = msgspec.json.decode(opened.makefile("rb").readline(), type=FaultAnswer)
    except (OSError, msgspec.DecodeError) as error:
        raise DeviceError(f"The virtual phone does not answer: {error}", hint="Start it first.") from None
    if not answer.ok:
        raise DeviceError(f"The virtual phone refuses: {answer.message}", hint="")
