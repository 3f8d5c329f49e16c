"""A window over a session of its own, closed without questions after the test."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

sys.path.insert(0, str(Path(__file__).parent))  # so that tests can import models.py beside them


@pytest.fixture
def open_window(qtbot: QtBot) -> Iterator[Callable[..., object]]:
    """Starts the application on some paths and returns its `Studio`."""
    from studio.ui.app import Studio, make_application

    made: list[Studio] = []

    def start(*paths: Path) -> Studio:
        studio = Studio(make_application())
        made.append(studio)
        studio.window.resize(1440, 900)
        studio.start([str(p) for p in paths])
        qtbot.waitExposed(studio.window)
        return studio

    yield start
    for studio in made:
        studio.session.shut_down()
        studio.window.hide()
        studio.window.deleteLater()
        studio.deleteLater()
