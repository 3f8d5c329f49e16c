"""A connection from the adb server: the handshake, and streams to services.

Source: AOSP adb, protocol.txt. Each stream has an id on both sides; a WRTE is answered by OKAY before the
next may be sent; CLSE ends it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Awaitable, Callable

from studio.devices.virtual_phone.faults import Faults
from studio.devices.virtual_phone.packets import (
    AUTH,
    AUTH_SIGNATURE,
    AUTH_TOKEN,
    CLSE,
    CNXN,
    MAX_PAYLOAD,
    OKAY,
    OPEN,
    VERSION,
    WRTE,
    Packet,
    read_packet,
)

Service = Callable[["Stream", str], Awaitable[None]]
"""Serves one stream; the text is what was opened, such as `shell:ls`."""


class Stream:
    """One stream: bytes in both directions, with the host's pace."""

    def __init__(self, connection: Connection, local: int, remote: int) -> None:
        self._connection = connection
        self._local, self._remote = local, remote
        self._buffer = bytearray()
        self._arrived = asyncio.Event()
        self._may_send = asyncio.Event()
        self.is_closed = False

    async def send(self, data: bytes) -> None:
        """Sends in payloads the host can take. Raises ConnectionError when it has closed."""
        for start in range(0, len(data), self._connection.max_payload):
            chunk = data[start : start + self._connection.max_payload]
            await self._may_send.wait()
            if self.is_closed:
                raise ConnectionError("the host closed the stream")
            self._may_send.clear()
            await self._connection.send(Packet(WRTE, self._local, self._remote, chunk))

    async def read(self) -> bytes:
        """What has come; empty when the host has closed."""
        while not self._buffer and not self.is_closed:
            self._arrived.clear()
            await self._arrived.wait()
        data = bytes(self._buffer)
        self._buffer.clear()
        return data

    async def read_exact(self, count: int) -> bytes:
        """Exactly `count` bytes. Raises ConnectionError when the host closes before."""
        while len(self._buffer) < count:
            if self.is_closed:
                raise ConnectionError("the host closed the stream")
            self._arrived.clear()
            await self._arrived.wait()
        data = bytes(self._buffer[:count])
        del self._buffer[:count]
        return data

    async def wait_closed(self) -> None:
        """Returns when the host has closed."""
        while not self.is_closed:
            self._arrived.clear()
            await self._arrived.wait()

    def take(self, data: bytes) -> None:
        self._buffer += data
        self._arrived.set()

    def acknowledge(self) -> None:
        self._may_send.set()

    def end(self) -> None:
        self.is_closed = True
        self._arrived.set()
        self._may_send.set()


class Connection:
    """The phone's side of one cable."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        *,
        banner: str,
        faults: Faults,
        serve: Service,
    ) -> None:
        self._reader, self._writer = reader, writer
        self._banner, self._faults, self._serve = banner, faults, serve
        self._streams: dict[int, Stream] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._next_id = 0
        self._is_open = False
        self.max_payload = 4096

    async def run(self) -> None:
        """Serves until the cable is cut, by either side."""
        try:
            while True:
                packet = await read_packet(self._reader)
                if self._faults.is_offline:
                    continue
                await self._faults.delay(len(packet.data))
                await self._handle(packet)
        except (ConnectionError, asyncio.IncompleteReadError, OSError):
            pass
        finally:
            self.cut()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def cut(self) -> None:
        """Pulls the cable."""
        for stream in self._streams.values():
            stream.end()
        self._writer.transport.abort()

    async def send(self, packet: Packet) -> None:
        data = packet.encode()
        if self._faults.count_sent(len(data)):
            self.cut()
            raise ConnectionError("the cable was cut")
        await self._faults.delay(len(data))
        self._writer.write(data)
        await self._writer.drain()

    async def _handle(self, packet: Packet) -> None:
        if packet.command == CNXN:
            self.max_payload = min(packet.arg1, MAX_PAYLOAD)
            if self._faults.is_unauthorized:
                await self.send(Packet(AUTH, AUTH_TOKEN, 0, os.urandom(20)))
            else:
                await self._welcome()
        elif packet.command == AUTH:
            # a signature by an unknown key is answered by a new token; then the host offers its public
            # key, and a phone would ask its owner, who has not answered yet
            if packet.arg0 == AUTH_SIGNATURE:
                await self.send(Packet(AUTH, AUTH_TOKEN, 0, os.urandom(20)))
        elif not self._is_open:
            return
        elif packet.command == OPEN:
            await self._open(packet)
        elif (stream := self._streams.get(packet.arg1)) is None:
            if packet.command == WRTE:
                await self.send(Packet(CLSE, 0, packet.arg0))
        elif packet.command == OKAY:
            stream.acknowledge()
        elif packet.command == WRTE:
            stream.take(packet.data)
            await self.send(Packet(OKAY, packet.arg1, packet.arg0))
        elif packet.command == CLSE:
            stream.end()
            self._streams.pop(packet.arg1, None)

    async def _welcome(self) -> None:
        self._is_open = True
        await self.send(Packet(CNXN, VERSION, MAX_PAYLOAD, self._banner.encode()))

    async def _open(self, packet: Packet) -> None:
        self._next_id += 1
        local, remote = self._next_id, packet.arg0
        stream = Stream(self, local, remote)
        self._streams[local] = stream
        service = packet.data.rstrip(b"\0").decode("utf-8", "replace")

        async def work() -> None:
            try:
                await self._serve(stream, service)
            except LookupError:
                await self.send(Packet(CLSE, 0, remote))
            finally:
                if not stream.is_closed:
                    stream.end()
                    with contextlib.suppress(ConnectionError):
                        await self.send(Packet(CLSE, local, remote))
                self._streams.pop(local, None)

        await self.send(Packet(OKAY, local, remote))
        stream.acknowledge()
        task = asyncio.create_task(work())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
