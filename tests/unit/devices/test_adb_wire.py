"""The adb server's wire: refusals in words, shell codecs byte by byte, sync and its reasons."""

from __future__ import annotations

import socket
import struct
import time
from pathlib import Path

import pytest
from adb_server import answering, okay, refuse
from hypothesis import given
from hypothesis import strategies as st

from studio.devices.adb import sync
from studio.devices.adb.server import AdbServer, LinkLost
from studio.devices.adb.shell import EXIT, STDERR, STDOUT, open_shell, quote, run_shell
from studio.errors import DeviceError, InputError


def packet(channel: int, data: bytes) -> bytes:
    return struct.pack("<BI", channel, len(data)) + data


def shell_server(chunks: list[bytes], features: bytes = b"shell_v2,cmd", pause: float = 0.0):  # type: ignore[no-untyped-def]
    """Answers features, and a shell with those chunks, each its own write."""

    def answer(service: str, connection: socket.socket) -> None:
        if service.endswith(":features"):
            okay(connection, features)
            return
        okay(connection)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for chunk in chunks:
            connection.sendall(chunk)
            time.sleep(pause)

    return answering(answer)


def test_v2_keeps_channels_and_exit_code() -> None:
    stream = packet(STDOUT, b"out\n") + packet(STDERR, b"err\n") + packet(EXIT, b"\x03")
    with shell_server([stream]) as server:
        result = run_shell(server, "S", "x")
    assert (result.stdout, result.stderr, result.returncode) == ("out\n", "err\n", 3)


def test_v2_cut_anywhere_into_single_bytes_is_the_same() -> None:
    stream = packet(STDOUT, b"a\nb") + packet(STDERR, b"e") + packet(EXIT, b"\x00")
    with shell_server([stream[i : i + 1] for i in range(len(stream))]) as server:
        result = run_shell(server, "S", "x")
    assert (result.stdout, result.stderr, result.returncode) == ("a\nb", "e", 0)


@pytest.mark.parametrize("cut", range(14))
def test_v2_an_end_without_exit_code_is_a_lost_link(cut: int) -> None:
    stream = packet(STDOUT, b"out\n") + packet(EXIT, b"\x00")
    with shell_server([stream[:cut]]) as server, pytest.raises(LinkLost):
        run_shell(server, "S", "x")


@pytest.mark.parametrize(
    ("text", "said", "code"),
    [
        (b"hello\r\n\r\n__deployment_studio_exit__3\r\n", "hello\n", 3),
        (b"no end\r\n__deployment_studio_exit__0\r\n", "no end", 0),
        (b"\r\n__deployment_studio_exit__7\r\n", "", 7),
        (b"a\r\n\r\nb\r\n\r\n__deployment_studio_exit__0\r\n", "a\n\nb\n", 0),
    ],
)
@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_v1_takes_the_exit_code_from_the_sentinel(text: bytes, said: str, code: int, size: int) -> None:
    chunks = [text[i : i + size] for i in range(0, len(text), size)]
    with shell_server(chunks, features=b"", pause=0.001) as server:
        result = run_shell(server, "S", "x")
    assert result.stdout.rstrip("\n") == said.rstrip("\n")
    assert result.returncode == code


def test_v1_an_end_without_sentinel_is_a_lost_link() -> None:
    with shell_server([b"hello\r\n"], features=b"") as server, pytest.raises(LinkLost):
        run_shell(server, "S", "x")


def test_v1_gives_whole_lines_while_the_command_runs() -> None:
    """A follower must not wait for the next line to get this one."""

    def answer(service: str, connection: socket.socket) -> None:
        if service.endswith(":features"):
            okay(connection, b"")
            return
        okay(connection)
        connection.sendall(b'{"i":1}\r\n')
        time.sleep(1.0)

    with answering(answer) as server, open_shell(server, "S", "x", timeout=0.5) as shell:
        assert next(shell.packets()) == (STDOUT, b'{"i":1}\n')


def test_a_silent_command_times_out_in_words() -> None:
    def answer(service: str, connection: socket.socket) -> None:
        okay(connection, b"shell_v2" if service.endswith(":features") else None)
        time.sleep(1.0)

    with answering(answer) as server, pytest.raises(DeviceError, match="did not finish"):
        run_shell(server, "S", "sleep 9", timeout=0.2)


@pytest.mark.parametrize(
    ("reason", "kind", "said"),
    [
        ("device unauthorized.\nThis adb server's $ADB_VENDOR_KEYS is not set", DeviceError, "authorised"),
        ("device 'X' not found", LinkLost, "not there"),
        ("device offline", LinkLost, "offline"),
        ("closed", LinkLost, "closed"),
        ("more than one device/emulator", DeviceError, "more than one"),
    ],
)
def test_a_refusal_is_a_sentence(reason: str, kind: type[DeviceError], said: str) -> None:
    with answering(lambda _, connection: refuse(connection, reason)) as server:
        with pytest.raises(kind, match=said) as raised:
            server.transport("X", "shell:ls")
        assert "Traceback" not in str(raised.value)


def test_what_is_no_adb_server_is_told() -> None:
    with (
        answering(lambda _, connection: connection.sendall(b"HTTP/1.1 400")) as server,
        pytest.raises(DeviceError, match="not an adb server"),
    ):
        server.ask("host:version")


def test_nobody_listening_is_a_lost_link() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(LinkLost, match="does not answer"):
        AdbServer("127.0.0.1", port).ask("host:version")


@given(
    st.lists(
        st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",))), min_size=1, max_size=4
    )
)
def test_quoted_words_come_back_from_a_shell(words: list[str]) -> None:
    import shlex

    assert shlex.split(quote(*words)) == words


def test_a_name_with_a_nul_byte_is_refused() -> None:
    with pytest.raises(DeviceError, match="NUL"):
        quote("a\0b")


def push_server(answer_to_push: bytes):  # type: ignore[no-untyped-def]
    def answer(service: str, connection: socket.socket) -> None:
        okay(connection)
        data = bytearray()
        while data[-8:-4] != b"DONE":
            data += connection.recv(65536)
        connection.sendall(answer_to_push)

    return answering(answer)


@pytest.mark.parametrize(
    ("reason", "said", "hint"),
    [
        (b"write failed: No space left on device", "no space left", "Delete"),
        (b"couldn't create file: Permission denied", "permission denied", "rm -rf"),
        (b"couldn't create file: Read-only file system", "read-only", "/data/local/tmp"),
        (b"what ever", "what ever", ""),
    ],
)
def test_a_failed_push_says_why(tmp_path: Path, reason: bytes, said: str, hint: str) -> None:
    source = tmp_path / "m"
    source.write_bytes(b"x" * 100_000)
    with (
        push_server(struct.pack("<4sI", b"FAIL", len(reason)) + reason) as server,
        pytest.raises(DeviceError, match=said) as raised,
    ):
        sync.push(server, "S", source, "/data/local/tmp/m")
    assert hint in raised.value.hint


def test_a_push_tells_how_far_it_is(tmp_path: Path) -> None:
    source = tmp_path / "m"
    source.write_bytes(b"x" * 150_000)
    sent: list[int] = []
    with push_server(struct.pack("<4sI", b"OKAY", 0)) as server:
        sync.push(server, "S", source, "/data/local/tmp/m", on_sent=sent.append)
    assert sent == [65536, 131072, 150_000]


def test_a_push_can_be_stopped(tmp_path: Path) -> None:
    source = tmp_path / "m"
    source.write_bytes(b"x" * 150_000)
    with push_server(b"") as server, pytest.raises(InterruptedError):
        sync.push(server, "S", source, "/data/m", should_stop=lambda: True)


def test_a_missing_source_is_an_input_error(tmp_path: Path) -> None:
    with push_server(b"") as server, pytest.raises(InputError):
        sync.push(server, "S", tmp_path / "absent", "/data/m")


@pytest.mark.parametrize("size", [5, (5 << 30) + 7])
def test_sizes_beyond_32_bits_are_right_where_the_phone_knows_them(size: int) -> None:
    """A 32-bit stat of 5 GiB says 1 GiB: compared modulo, never taken as a difference."""

    def answer_of(has_v2: bool):  # type: ignore[no-untyped-def]
        def answer(service: str, connection: socket.socket) -> None:
            if service.endswith(":features"):
                okay(connection, b"stat_v2" if has_v2 else b"")
                return
            okay(connection)
            connection.recv(4096)
            if has_v2:
                fields = (0, 1, 2, 0o100644, 1, 0, 0, size, 0, 0, 0)
                connection.sendall(b"STA2" + struct.pack("<IQQIIIIQqqq", *fields))
            else:
                connection.sendall(struct.pack("<4sIII", b"STAT", 0o100644, size & 0xFFFFFFFF, 0))
            connection.recv(1)

        return answer

    for has_v2 in (True, False):
        with answering(answer_of(has_v2)) as server:
            found = sync.stat(server, "S", "/x")
        assert found.exists and found.has_size(size)
        assert not found.has_size(size + 1)
        assert found.has_size(size + (1 << 32)) is not has_v2


def test_a_missing_file_has_no_size() -> None:
    def answer(service: str, connection: socket.socket) -> None:
        if service.endswith(":features"):
            okay(connection, b"stat_v2")
            return
        okay(connection)
        connection.recv(4096)
        connection.sendall(b"STA2" + struct.pack("<IQQIIIIQqqq", 2, *(0,) * 10))
        connection.recv(1)

    with answering(answer) as server:
        found = sync.stat(server, "S", "/x")
    assert not found.exists and not found.has_size(0)
