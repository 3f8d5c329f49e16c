"""Story: add a virtual phone, deploy to it, watch the curves, stop; its numbers are marked simulated."""

from __future__ import annotations

import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from models import save_model
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QPushButton
from pytestqt.qtbot import QtBot

from studio.devices.adb.binary import find_adb

MINUTES = 60_000


pytestmark = pytest.mark.skipif(
    not all(map(shutil.which, ("proot", "mksh", "toybox", "cc", "adb"))),
    reason="the virtual phone needs proot, mksh, toybox, a C compiler and adb",
)


@pytest.fixture
def own_adb(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An adb server of this test's own, on a free port, ended afterwards."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", port)
    monkeypatch.setenv("ADB_MDNS", "0")
    monkeypatch.delenv("ANDROID_ADB_SERVER_ADDRESS", raising=False)
    yield
    kill = [find_adb().path, "-P", port, "kill-server"]
    subprocess.run(kill, capture_output=True, timeout=20, check=False)


def test_deploy_watch_stop(qtbot: QtBot, play: Any, own_adb: None, tmp_path: Path) -> None:
    path = save_model(tmp_path / "tiny.onnx", with_foreign_op=False)

    def act(window: Any) -> None:
        session, panel = window.session, window.device_panel
        qtbot.waitUntil(lambda: session.opened is not None, timeout=MINUTES)
        add = next(b for b in panel.findChildren(QAbstractButton) if "virtual" in b.text() and b.isVisible())
        qtbot.mouseClick(add, Qt.MouseButton.LeftButton)
        qtbot.waitUntil(lambda: len(session.devices) > 1, timeout=2 * MINUTES)
        phone = session.devices[1]
        assert phone.is_simulated
        panel.devices.select(phone.id)
        panel.bar._mode.setCurrentIndex(1)  # sustained: it runs until it is stopped
        button = panel.bar.findChild(QPushButton, "RunButton")
        qtbot.waitUntil(button.isEnabled, timeout=MINUTES)
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
        live = lambda: session.live.get(phone.id)  # noqa: E731
        arrived = lambda: live() is not None and "latency" in live().series  # noqa: E731
        qtbot.waitUntil(lambda: arrived() or phone.id not in session.run_jobs, timeout=3 * MINUTES)
        assert arrived(), window.banner.failed
        assert live().hello.is_simulated
        qtbot.waitUntil(panel._simulated.isVisible, timeout=MINUTES)
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
        qtbot.waitUntil(lambda: phone.id not in session.run_jobs, timeout=2 * MINUTES)
        result = session.last_results[phone.id]
        assert result.is_simulated
        assert result.latency_ms.n > 0

    assert play([str(path)], act) == 0
