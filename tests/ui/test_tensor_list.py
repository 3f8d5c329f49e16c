"""A file of weights in the window: its tensors as a list, where a model has its graph."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from studio.devices import DeviceInfo, DeviceKind, DeviceState
from studio.ui.so_far import next_step
from studio.ui.views.recipe_panel import RecipePanel
from studio.ui.views.tensor_dialog import TensorDialog
from studio.ui.views.tensor_list_view import TensorListView

Open = Callable[..., Any]


COMPUTER = DeviceInfo(
    id="this-computer", kind=DeviceKind.THIS_COMPUTER, name="This computer", state=DeviceState.READY
)


def weights_file(path: Path) -> Path:
    from safetensors.numpy import save_file

    tensors = {
        "encoder.weight": np.arange(12, dtype=np.float32).reshape(3, 4),
        "encoder.bias": np.zeros(3, np.float16),
        "head.weight": np.ones((2, 3), np.float32),
    }
    save_file(tensors, str(path))
    return path


def texts(view: TensorListView, row: int) -> list[str]:
    return [view.table.index(row, column).data() for column in range(view.table.columnCount())]


def test_a_file_of_weights_lists_its_tensors(qtbot: QtBot, open_inline: Open, tmp_path: Path) -> None:
    studio = open_inline(weights_file(tmp_path / "w.safetensors"))
    qtbot.waitUntil(lambda: studio.session.opened is not None, timeout=60_000)
    window = studio.window
    views = window.stage_area.findChildren(TensorListView)
    assert len(views) == 1 and views[0].isVisible()
    view = views[0]
    rows = {texts(view, row)[0]: texts(view, row)[1:] for row in range(view.table.rowCount())}
    assert rows == {
        "encoder.weight": ["float32", "[3, 4]", "12", "48 B"],
        "encoder.bias": ["float16", "[3]", "3", "6 B"],
        "head.weight": ["float32", "[2, 3]", "6", "24 B"],
    }
    view.view.sortByColumn(3, Qt.SortOrder.DescendingOrder)
    assert [texts(view, row)[3] for row in range(3)] == ["12", "6", "3"]
    qtbot.keyClicks(view.field, "ENCODER")
    assert view.table.rowCount() == 2


def test_a_tensor_of_the_list_shows_its_values(qtbot: QtBot, open_inline: Open, tmp_path: Path) -> None:
    studio = open_inline(weights_file(tmp_path / "w.safetensors"))
    qtbot.waitUntil(lambda: studio.session.opened is not None, timeout=60_000)
    view = studio.window.stage_area.findChild(TensorListView)
    qtbot.keyClicks(view.field, "head")
    view.view.setCurrentIndex(view.table.index(0, 0))
    qtbot.keyClick(view.view, Qt.Key.Key_Return)
    dialogs = studio.window.findChildren(TensorDialog)
    assert len(dialogs) == 1
    qtbot.waitUntil(
        lambda: {"head.weight", "6"} <= {w.text() for w in dialogs[0].findChildren(QLabel)}, timeout=60_000
    )


def test_weights_are_not_said_to_run_anywhere(qtbot: QtBot, open_inline: Open, tmp_path: Path) -> None:
    studio = open_inline(weights_file(tmp_path / "w.safetensors"))
    qtbot.waitUntil(lambda: studio.session.opened is not None, timeout=60_000)
    said = [words.text() for words in studio.window.findChildren(QLabel) if words.isVisible()]
    assert not any("every node runs" in words or "can be run as it is" in words for words in said)
    assert any("weights only: there is nothing to judge" in words for words in said)
    studio.window.stage_area.show_tab("matrix")
    assert studio.window.stage_area.matrix.table.rowCount() == 0


@pytest.mark.parametrize("is_opened", [False, True])
def test_weights_have_no_deploy_step_and_the_bar_says_why(
    qtbot: QtBot, open_inline: Open, tmp_path: Path, is_opened: bool
) -> None:
    studio = open_inline(weights_file(tmp_path / "w.safetensors"))
    if is_opened:
        qtbot.waitUntil(lambda: studio.session.opened is not None, timeout=60_000)
    panel = studio.window.findChild(RecipePanel)
    assert panel is not None and list(panel.rows) == ["source"]
    assert next_step(studio.session) is None
    bar = studio.window.device_panel.bar
    bar.set_device(COMPUTER, is_running=False)
    assert bar.why_not == "No runtime loads this file: there is nothing to deploy"
