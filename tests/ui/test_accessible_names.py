"""Every control that can be used has a name that a screen reader can say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from models import save_model
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QScrollBar,
    QTabBar,
    QWidget,
)
from pytestqt.qtbot import QtBot

from studio.ui.canvas import GraphCanvas
from studio.ui.graph_overlays import OVERLAYS

Open = Callable[..., Any]

USED = (
    QAbstractButton, QAbstractItemView, QAbstractSlider, QAbstractSpinBox, QComboBox, QLineEdit,
    QPlainTextEdit, QTabBar, GraphCanvas,
)  # fmt: skip


def nameless(root: QWidget) -> list[str]:
    """The controls under a widget that say nothing: no accessible name, no text, no label beside them."""
    found = []
    for widget in root.findChildren(QWidget):
        if not isinstance(widget, USED) or isinstance(widget, QScrollBar):
            continue
        parent = widget.parentWidget()
        if widget.objectName().startswith("qt_") or _is_made_by_qt(parent):
            continue
        is_part_of_view = isinstance(parent, QAbstractItemView)
        text = widget.text() if isinstance(widget, QAbstractButton) else ""
        if not (widget.accessibleName() or text or is_part_of_view or _has_label(root, widget)):
            found.append(f"{type(widget).__name__} {widget.objectName()} in {type(parent).__name__}")
    return sorted(set(found))


def _is_made_by_qt(parent: QWidget | None) -> bool:
    """Whether a widget inside is a part that Qt makes for a control that is looked at itself."""
    while parent is not None:
        kind = parent.metaObject().className()
        if isinstance(parent, USED) or kind == "QComboBoxPrivateContainer":
            return not isinstance(parent, GraphCanvas)
        parent = parent.parentWidget()
    return False


def _has_label(root: QWidget, widget: QWidget) -> bool:
    from PySide6.QtWidgets import QLabel

    return any(label.buddy() is widget for label in root.findChildren(QLabel))


@pytest.fixture
def studio(qtbot: QtBot, open_inline: Open, tmp_path: Path) -> Any:
    """The window with a model, another beside it, and every tab looked at once."""
    studio = open_inline(save_model(tmp_path / "one.onnx"))
    session, area = studio.session, studio.window.stage_area
    qtbot.waitUntil(lambda: session.opened is not None, timeout=60_000)
    session.open_beside(save_model(tmp_path / "other.onnx", with_foreign_op=False))
    qtbot.waitUntil(lambda: session.opened is not None, timeout=60_000)
    area.show_tab("matrix")
    area.show_tab("compare")
    qtbot.waitUntil(lambda: area._compare.table.rowCount() > 0, timeout=60_000)
    area.show_tab("source")
    session.go_to_node(0)
    return studio


def test_every_control_of_the_window_has_a_name(studio: Any) -> None:
    for overlay, _ in OVERLAYS:
        studio.session.set_overlay(overlay)
    assert not (found := nameless(studio.window)), "\n".join(found)


@pytest.mark.parametrize(
    "action",
    ["view.picture", "graph.bookmarks", "edit.rename", "edit.attribute", "edit.cut", "edit.freeze",
     "file.settings", "model.targets", "view.palette"],
)  # fmt: skip
def test_every_control_of_a_dialog_has_a_name(studio: Any, action: str) -> None:
    from PySide6.QtWidgets import QApplication, QDialog

    studio.window._menus.refresh()
    studio.window._menus.action(action).trigger()
    dialogs = [d for d in studio.window.findChildren(QDialog) if d.isVisible()]
    dialogs += [w for w in QApplication.topLevelWidgets() if isinstance(w, QDialog) and w.isVisible()]
    assert dialogs, action
    found = [name for dialog in dialogs for name in nameless(dialog)]
    for dialog in dialogs:
        dialog.close()
    assert not found, "\n".join(found)
