"""The shell and exec services: commands in the phone's own mksh.

v1 (`shell:`) runs on a terminal, so lines end in CR LF and the exit code is lost, as on old phones; v2
(`shell,v2,raw:` or `…,pty:`) frames its channels (see `studio.devices.adb.shell`).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import pty
import signal
import struct
import termios
from collections.abc import Awaitable, Callable

from studio.devices.virtual_phone.connection import Stream

SHELL = "/system/bin/sh"
MARK = "DEPLOYMENT_STUDIO_PHONE"
"""Environment variable that all of a phone's processes carry: how the daemon finds them."""
_STDIN, _STDOUT, _STDERR, _EXIT, _CLOSE_STDIN = range(5)

Send = Callable[[bytes], Awaitable[None]]


def environment(mark: str) -> dict[str, str]:
    """What a command finds on the phone."""
    return {
        "PATH": "/system/bin",
        "HOME": "/",
        "ANDROID_DATA": "/data",
        "ANDROID_ROOT": "/system",
        "TMPDIR": "/data/local/tmp",
        MARK: mark,
    }


async def serve_shell(stream: Stream, service: str, mark: str) -> None:
    """`shell…:COMMAND` or `exec:COMMAND`; an empty command is an interactive shell."""
    head, _, command = service.partition(":")
    options = head.split(",")[1:]
    if head == "exec":
        await _raw(stream, command, mark, is_framed=False)
    elif "v2" in options and "raw" in options:
        await _raw(stream, command, mark, is_framed=True)
    else:
        await _terminal(stream, command, mark, is_framed="v2" in options)


def _argv(command: str) -> list[str]:
    return [SHELL, "-c", command] if command else [SHELL, "-i"]


async def _raw(stream: Stream, command: str, mark: str, *, is_framed: bool) -> None:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *_argv(command), stdin=pipe, stdout=pipe,
        stderr=pipe if is_framed else asyncio.subprocess.STDOUT,
        cwd="/", env=environment(mark), start_new_session=True,
    )  # fmt: skip

    async def copy(source: asyncio.StreamReader | None, channel: int) -> None:
        while source is not None and (data := await source.read(32768)):
            await stream.send(_frame(channel, data) if is_framed else data)

    async def feed() -> None:
        assert process.stdin is not None
        while True:
            if is_framed:
                channel, length = struct.unpack("<BI", await stream.read_exact(5))
                data = await stream.read_exact(length)
                if channel == _CLOSE_STDIN:
                    process.stdin.close()
                elif channel == _STDIN:
                    process.stdin.write(data)
            else:
                data = await stream.read()
                if not data:
                    raise ConnectionError
                process.stdin.write(data)

    async def copy_all() -> None:
        await asyncio.gather(copy(process.stdout, _STDOUT), copy(process.stderr, _STDERR))

    copies = asyncio.ensure_future(copy_all())
    feeding = asyncio.ensure_future(feed())
    closed = asyncio.ensure_future(stream.wait_closed())
    try:
        await asyncio.wait({copies, closed}, return_when=asyncio.FIRST_COMPLETED)
        if stream.is_closed:
            return
        code = await process.wait()
        if is_framed:
            await stream.send(_frame(_EXIT, bytes([code & 0xFF if code >= 0 else 128 - code])))
    except ConnectionError:
        pass
    finally:
        _hang_up(process.pid, process.returncode)
        for task in (copies, feeding, closed):
            task.cancel()
        await asyncio.gather(copies, feeding, closed, return_exceptions=True)
        await process.wait()


async def _terminal(stream: Stream, command: str, mark: str, *, is_framed: bool) -> None:
    master, slave = pty.openpty()
    if command:
        settings = termios.tcgetattr(slave)
        settings[3] &= ~termios.ECHO
        termios.tcsetattr(slave, termios.TCSANOW, settings)
    process = await asyncio.create_subprocess_exec(
        *_argv(command), stdin=slave, stdout=slave, stderr=slave,
        cwd="/", env=environment(mark), start_new_session=True,
    )  # fmt: skip
    os.close(slave)
    loop = asyncio.get_running_loop()
    arrived: asyncio.Queue[bytes] = asyncio.Queue()

    def on_readable() -> None:
        try:
            data = os.read(master, 32768)
        except OSError:  # EIO: the last process on the terminal has left
            data = b""
        arrived.put_nowait(data)
        if not data:
            loop.remove_reader(master)

    async def feed() -> None:
        while data := await stream.read():
            while is_framed and len(data) >= 5:
                channel, length = struct.unpack_from("<BI", data)
                if channel == _STDIN:
                    os.write(master, data[5 : 5 + length])
                data = data[5 + length :]
            if not is_framed:
                os.write(master, data)
        arrived.put_nowait(b"")

    loop.add_reader(master, on_readable)
    feeding = asyncio.ensure_future(feed())
    try:
        while data := await arrived.get():
            await stream.send(_frame(_STDOUT, data) if is_framed else data)
        if not stream.is_closed:
            code = await process.wait()
            if is_framed:
                await stream.send(_frame(_EXIT, bytes([code & 0xFF if code >= 0 else 128 - code])))
    except ConnectionError:
        pass
    finally:
        _hang_up(process.pid, process.returncode)
        feeding.cancel()
        loop.remove_reader(master)
        os.close(master)
        await process.wait()


def _frame(channel: int, data: bytes) -> bytes:
    return struct.pack("<BI", channel, len(data)) + data


def _hang_up(pid: int, returncode: int | None) -> None:
    """The cable is gone: what is still on this session dies; what called setsid lives on."""
    if returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
