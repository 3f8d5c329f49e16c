"""waiting: the pointer says that the window is busy, for work of a few tenths of a second."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication


@contextmanager
def waiting(is_long: bool = True) -> Iterator[None]:
    """Shows the waiting pointer meanwhile, when the work `is_long`."""
    if is_long:
        QGuiApplication.setOverrideCursor(Qt.CursorShape.WaitCursor)
    try:
        yield
    finally:
        if is_long:
            QGuiApplication.restoreOverrideCursor()
