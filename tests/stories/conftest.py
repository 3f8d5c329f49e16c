"""Plays a story in the real window, started from `main()`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "ui"))  # models.py is there


@pytest.fixture
def play(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Runs `main(arguments)` with the real window; `act(window)` clicks while it is open."""
    from studio.__main__ import main
    from studio.ui import app as window_app

    windows: list[Any] = []
    made = window_app.Studio

    class Watched(made):  # type: ignore[misc, valid-type]
        """The same application, whose window the story can find."""

        def start(self, argv_paths: Any) -> None:
            super().start(argv_paths)
            windows.append(self.window)

    monkeypatch.setattr(window_app, "Studio", Watched)

    def run(arguments: list[str], act: Any) -> int:
        errors: list[BaseException] = []

        def begin() -> None:
            if not windows:
                QTimer.singleShot(20, begin)
                return
            try:
                act(windows[0])
            except BaseException as error:
                errors.append(error)
            finally:
                windows[0].session.history = None  # close without the question
                windows[0].close()
                QApplication.instance().quit()

        QTimer.singleShot(20, begin)
        monkeypatch.setattr(sys, "argv", ["deployment-studio", *arguments])
        app = QApplication.instance()
        if app is not None:
            app.setQuitOnLastWindowClosed(True)
        code = main(arguments)
        _listen_again()
        if errors:
            raise errors[0]
        return code

    yield run


def _listen_again() -> None:
    """Makes event loops run again: one that is told to quit after its end leaves all later ones shut."""
    app = QApplication.instance()
    app.setQuitOnLastWindowClosed(False)
    QTimer.singleShot(0, app.quit)
    app.exec()
