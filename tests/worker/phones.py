"""An adb server and a virtual phone for tests, as fixtures (`conftest.py` hands them to every file here)."""

from __future__ import annotations

import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from studio.devices.adb.binary import find_adb
from studio.devices.adb.server import AdbServer
from studio.devices.virtual_phone import VirtualPhone, load_profile

needs_phone = pytest.mark.skipif(
    not all(map(shutil.which, ("proot", "mksh", "toybox", "cc"))),
    reason="the virtual phone needs proot, mksh, toybox and a C compiler",
)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def kit_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built runner is kept from test to test."""
    return tmp_path_factory.mktemp("kit")


@pytest.fixture
def server(tmp_path: Path, kit_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AdbServer]:
    """An adb server of our own, which knows nobody."""
    monkeypatch.setenv("DEPLOYMENT_STUDIO_CACHE", str(kit_cache))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", str(free_port()))
    monkeypatch.setenv("ADB_MDNS", "0")
    monkeypatch.delenv("ANDROID_ADB_SERVER_ADDRESS", raising=False)
    made = AdbServer.default()
    yield made
    kill(made)


def kill(server: AdbServer) -> None:
    subprocess.run([find_adb().path, "-P", str(server.port), "kill-server"], capture_output=True, timeout=20)


@pytest.fixture
def phone(server: AdbServer) -> Iterator[VirtualPhone]:
    """A connected virtual phone."""
    with VirtualPhone(load_profile("tensor-g3")) as made:
        made.connect(server)
        yield made
