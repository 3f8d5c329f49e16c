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
    yield from _windows(qtbot, inline=False)


@pytest.fixture
def open_inline(qtbot: QtBot) -> Iterator[Callable[..., object]]:
    """The same without worker processes: jobs run in this one, at once (`inline_runner`)."""
    yield from _windows(qtbot, inline=True)


def _windows(qtbot: QtBot, *, inline: bool) -> Iterator[Callable[..., object]]:
    from inline_runner import InlineRunner

    from studio.ui.app import Studio, make_application
    from studio.ui.session import Session

    made: list[Studio] = []

    def start(*paths: Path) -> Studio:
        app = make_application()
        studio = Studio(app, Session(app, runner=InlineRunner()) if inline else None)
        made.append(studio)
        studio.window.resize(1440, 900)
        studio.start([str(p) for p in paths])
        qtbot.waitExposed(studio.window)
        return studio

    yield start
    for studio in made:
        studio._install_language("en")  # its translators go with it later; the next test's window comes now
        studio.session.shut_down()
        studio.window.hide()
        studio.window.deleteLater()
        studio.deleteLater()
