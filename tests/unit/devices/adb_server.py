"""A stand-in for the adb server: a thread that answers each connection by a script."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from studio.devices.adb.server import AdbServer

Answer = Callable[[str, socket.socket], None]


def okay(connection: socket.socket, block: bytes | None = None) -> None:
    """OKAY, and a block with its length when there is one."""
    connection.sendall(b"OKAY" + (b"" if block is None else b"%04x" % len(block) + block))


def refuse(connection: socket.socket, reason: str) -> None:
    """FAIL and the reason."""
    data = reason.encode()
    connection.sendall(b"FAIL%04x" % len(data) + data)


@contextmanager
def answering(answer: Answer) -> Iterator[AdbServer]:
    """A server that calls `answer(service, connection)` for each service requested, until it hangs up."""
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(0.05)
    leave = threading.Event()

    def serve_one(connection: socket.socket) -> None:
        with connection:
            while not leave.is_set():
                head = connection.recv(4)
                if len(head) < 4:
                    return
                service = connection.recv(int(head, 16)).decode()
                if service.startswith("host:transport:"):
                    okay(connection)
                    continue
                answer(service, connection)
                if not service.startswith("sync:"):
                    return

    def serve() -> None:
        while not leave.is_set():
            try:
                connection, _ = listener.accept()
            except TimeoutError:
                continue
            connection.settimeout(5)
            threading.Thread(target=serve_one, args=(connection,), daemon=True).start()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield AdbServer("127.0.0.1", listener.getsockname()[1])
    finally:
        leave.set()
        thread.join()
        listener.close()
