"""Story: open a foreign ONNX, switch targets, click a problem, land on the node."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from models import save_model
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot


def test_open_switch_target_click_problem_land_on_node(qtbot: QtBot, play: Any, tmp_path: Path) -> None:
    path = save_model(tmp_path / "foreign.onnx")

    def act(window: Any) -> None:
        session = window.session
        qtbot.waitUntil(lambda: session.opened is not None, timeout=60_000)
        assert window.windowTitle().startswith("foreign.onnx")

        chip = next(c for c in window.target_bar._chips if c.isVisible() and not c.isChecked())
        qtbot.mouseClick(chip, Qt.MouseButton.LeftButton)
        assert session.target_id == chip.target_id

        panel = window.problem_panel
        row = next(i for i, p in enumerate(panel.list.shown) if p.op == "Warp")
        index = panel.list.index(row)
        panel._view.scrollTo(index)
        place = panel._view.visualRect(index).center()
        qtbot.mouseClick(panel._view.viewport(), Qt.MouseButton.LeftButton, pos=place)

        graph, node = session.opened.graph, session.selection.node
        assert graph.node_op[node] == "Warp"
        canvas = window.stage_area.graph_view.canvas
        qtbot.wait(400)  # the graph glides to the node
        at = canvas.viewport.to_screen(*canvas.scene.center(canvas.selected_item))
        assert canvas.rect().contains(QPoint(int(at[0]), int(at[1])))
        assert window.node_panel._op.text() == "Warp"

        qtbot.mouseClick(canvas, Qt.MouseButton.LeftButton, pos=QPoint(3, canvas.height() - 3))
        qtbot.keyClick(window, Qt.Key.Key_F8)
        assert session.selection.node is not None

    assert play([str(path)], act) == 0


def test_a_file_that_is_no_model_leaves_the_window_alive(qtbot: QtBot, play: Any, tmp_path: Path) -> None:
    path = tmp_path / "holiday.onnx"
    path.write_bytes(b"\x89PNG\r\n" + bytes(500))

    def act(window: Any) -> None:
        qtbot.waitUntil(
            lambda: window.banner.isVisible() or window.stage_area._message._icon.isVisible(), timeout=60_000
        )
        window.files.open_path(save_model(tmp_path / "good.onnx"))
        qtbot.waitUntil(lambda: window.session.opened is not None, timeout=60_000)
        assert not window.banner.isVisible()

    play([str(path)], act)
