"""Problems, matrix, tools and fixes, each with the clicks that a person makes."""

from __future__ import annotations

from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from models import save_model
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QApplication, QComboBox, QLabel, QPushButton, QToolTip, QWidget
from pytestqt.qtbot import QtBot

from studio.devices.device import RunSettings
from studio.project import edit
from studio.recipes.recipe import FixStep
from studio.support import Tier, Verdict
from studio.ui import device_jobs
from studio.ui.views.fix_dialog import FixDialog

Open = Callable[..., Any]
LEFT = Qt.MouseButton.LeftButton


def save_hardswish(path: Path) -> Path:
    """Conv → HardSwish → Conv, which NNAPI cuts in two."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    rng = np.random.default_rng(0)
    weights = [
        numpy_helper.from_array(rng.normal(size=(3, 3, 3, 3)).astype(np.float32), name) for name in ("v", "w")
    ]
    nodes = [
        helper.make_node("Conv", ["x", "v"], ["a"], name="first", pads=[1, 1, 1, 1]),
        helper.make_node("HardSwish", ["a"], ["b"], name="swish"),
        helper.make_node("Conv", ["b", "w"], ["y"], name="second", pads=[1, 1, 1, 1]),
    ]
    shape = [1, 3, 8, 8]
    graph = helper.make_graph(
        nodes,
        "swish",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
        weights,
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), str(path))
    return path


def opened(qtbot: QtBot, open_window: Open, path: Path, *targets: str) -> Any:
    """The window on a model, judged for these targets (none named: the default ones)."""
    studio = open_window(path)
    qtbot.waitUntil(lambda: studio.session.opened is not None, timeout=120_000)
    if targets:
        studio.session.edit(lambda p: edit.set_targets(p, targets), "targets")
        qtbot.waitUntil(lambda: set(studio.session.opened.verdicts) == set(targets), timeout=120_000)
    return studio


def click_row(qtbot: QtBot, panel: Any, row: int) -> None:
    index = panel.list.index(row)
    panel._view.scrollTo(index)
    qtbot.mouseClick(panel._view.viewport(), LEFT, pos=panel._view.visualRect(index).center())


def named(widget: QWidget, text: str) -> QPushButton:
    """The visible button with these words."""
    return next(b for b in widget.findChildren(QPushButton) if b.isVisible() and text in b.text())


def refusals(widget: QWidget) -> str:
    """What is said in the colour of failures."""
    return "\n".join(label.text() for label in widget.findChildren(QLabel) if label.property("role") == "bad")


def words(widget: QWidget) -> str:
    return "\n".join(label.text() for label in widget.findChildren(QLabel) if label.isVisible())


# --- the matrix ----------------------------------------------------------------------------------


def test_a_click_on_a_cell_marks_its_nodes_and_lists_the_reasons(
    qtbot: QtBot, open_window: Open, tmp_path: Path
) -> None:
    studio = opened(qtbot, open_window, save_model(tmp_path / "tiny.onnx"), "ort/cpu", "ort/nnapi")
    area, session = studio.window.stage_area, studio.session
    area.show_tab("matrix")
    matrix = area.matrix
    row = next(r for r in range(matrix.table.rowCount()) if matrix.table.op_of(r) == "Warp")
    cell = matrix.table.index(row, 3)
    qtbot.mouseClick(matrix._view.viewport(), LEFT, pos=matrix._view.visualRect(cell).center())
    assert area.current_key == "matrix"  # the next cell may be asked
    assert session.target_id == "ort/nnapi"
    assert session.opened.graph.node_op[session.selection.node] == "Warp"
    assert matrix.reasons.isVisible()
    reason = session.verdicts.reason(session.selection.node)
    assert reason.text in words(matrix.reasons) and reason.source in words(matrix.reasons)
    qtbot.mouseClick(named(matrix.reasons, "Show 1 node"), LEFT)
    assert area.current_key == "source"
    focus_words, mask = area.graph_view._focus
    assert focus_words.startswith("Warp · ")
    assert [session.opened.graph.node_op[n] for n in np.flatnonzero(mask)] == ["Warp"]
    assert area.graph_view.canvas.selected_node == session.selection.node


def test_a_cell_with_several_reasons_tells_each_with_its_nodes(
    qtbot: QtBot, open_window: Open, tmp_path: Path
) -> None:
    studio = opened(qtbot, open_window, save_hardswish(tmp_path / "m.onnx"), "ort/nnapi")
    table = studio.window.stage_area.matrix.table
    for row in range(table.rowCount()):
        reasons = table.reasons(row, 2)
        assert sorted(n for r in reasons for n in r.nodes) == sorted(table.nodes(row))
        assert {r.verdict: sum(len(q.nodes) for q in reasons if q.verdict is r.verdict) for r in reasons} == (
            table.counts(row, 2)
        )


# --- the list ------------------------------------------------------------------------------------


def test_the_list_sorts_filters_and_is_copied_for_an_issue(
    qtbot: QtBot, open_window: Open, tmp_path: Path
) -> None:
    studio = opened(
        qtbot,
        open_window,
        save_hardswish(tmp_path / "m.onnx"),
        "ort/nnapi",
        "litert/gpu",
        "executorch/vulkan",
    )
    panel = studio.window.problem_panel
    target, sort = (panel.findChildren(QComboBox)[i] for i in (0, 1))
    costs = [(p.verdict is Verdict.FAILS, p.macs) for p in panel.list.shown]
    assert costs == sorted(costs, reverse=True)
    for _ in range(2):
        qtbot.keyClick(sort, Qt.Key.Key_Down)
    assert sort.currentText() == "by operator"
    assert [p.op for p in panel.list.shown] == sorted(p.op for p in panel.list.shown)
    qtbot.keyClick(target, Qt.Key.Key_Down)
    assert target.currentData() == "ort/nnapi"
    assert {p.target_id for p in panel.list.shown} == {"ort/nnapi"}
    qtbot.mouseClick(named(panel, "Copy"), LEFT)
    lines = QApplication.clipboard().text().splitlines()
    assert lines[0] == f"### m.onnx: {len(panel.list.shown)} problem" + "s" * (len(panel.list.shown) > 1)
    text = "\n".join(lines)
    assert "- Target: `ort/nnapi`:" in text and "litert/gpu" not in text
    assert "Deployment Studio 0." in text and "onnxruntime 1." in text
    head = lines.index(next(line for line in lines if line.startswith("| verdict |")))
    rows = lines[head + 2 :]
    assert len(rows) == len(panel.list.shown) and all(r.count(" | ") == 7 for r in rows)
    assert any("`swish`" in r and "2 → 1 if fixed" in r for r in rows)


def test_hovering_over_a_node_says_why(qtbot: QtBot, open_window: Open, tmp_path: Path) -> None:
    studio = opened(qtbot, open_window, save_hardswish(tmp_path / "m.onnx"), "ort/nnapi")
    canvas, graph = studio.window.stage_area.graph_view.canvas, studio.session.opened.graph
    node = graph.node_op.index("HardSwish")
    place = next(
        QPoint(x, y)
        for y in range(0, canvas.height(), 6)
        for x in range(0, canvas.width(), 6)
        if "HardSwish" in canvas.tooltip_at(QPointF(x, y))
    )
    help_event = QHelpEvent(QHelpEvent.Type.ToolTip, place, canvas.mapToGlobal(place))
    QApplication.sendEvent(canvas, help_event)
    said = unescape(QToolTip.text().removeprefix("<qt>").removesuffix("</qt>"))
    reason = studio.session.verdicts.reason(node)
    assert "falls back" in said and reason.text.split(".")[0] in said and reason.source in said


# --- the real tools ------------------------------------------------------------------------------


def test_asking_the_real_tools_turns_rules_into_their_answers(
    qtbot: QtBot, open_window: Open, tmp_path: Path
) -> None:
    pytest.importorskip("onnxruntime_qnn")
    path = save_model(tmp_path / "tiny.onnx", with_foreign_op=False)
    studio = opened(qtbot, open_window, path, "ort/qnn")
    session = studio.session
    session.edit(lambda p: edit.set_soc(p, "SM8650"), "SoC")
    qtbot.waitUntil(
        lambda: not any(not j.is_over and j.kind == "open_graph" for j in session.jobs), timeout=120_000
    )
    session.go_to_node(session.opened.graph.node_op.index("Conv"))
    panel = studio.window.node_panel
    assert session.verdicts.reason(session.selection.node).tier is Tier.RULE
    qtbot.mouseClick(named(panel, "Ask the real tools"), LEFT)
    qtbot.waitUntil(
        lambda: session.verdicts.reason(session.selection.node).tier is Tier.TOOL, timeout=300_000
    )
    assert "QNN HTP for SM8650" in session.verdicts.reason(session.selection.node).source
    assert "tool: QNN HTP for SM8650" in words(panel)
    assert not [b for b in panel.findChildren(QPushButton) if "Ask the real" in b.text() and b.isVisible()]


def test_a_run_turns_verdicts_into_measured_ones(qtbot: QtBot, open_window: Open, tmp_path: Path) -> None:
    studio = opened(qtbot, open_window, save_hardswish(tmp_path / "m.onnx"), "ort/cpu", "ort/nnapi")
    session = studio.session
    assert {r.tier for r in session.opened.verdicts["ort/cpu"].reasons} == {Tier.RULE}
    settings = RunSettings(target="ort/cpu", runs=3, seconds=0.0, warmup_runs=1)
    device_jobs.deploy(session, "this-computer", "source", settings)
    qtbot.waitUntil(lambda: bool(session.opened.verdicts["ort/cpu"].evidence), timeout=300_000)
    session.set_target("ort/cpu")
    session.go_to_node(0)
    reason = session.verdicts.reason(0)
    assert reason.tier is Tier.MEASURED
    assert reason.source in words(studio.window.node_panel)
    assert "measured on This computer" in studio.window.stage_area.graph_view.canvas.overlay.sentence(0)
    assert {r.tier for r in session.opened.verdicts["ort/nnapi"].reasons} == {Tier.RULE}
    asked = session.opened.verdicts["ort/cpu"]
    session.edit(lambda p: edit.set_soc(p, "SM8650"), "SoC")  # this computer is another one
    qtbot.waitUntil(
        lambda: (
            session.opened.verdicts["ort/cpu"] is not asked
            and bool(session.opened.verdicts["ort/cpu"].evidence)
        ),
        timeout=300_000,
    )
    assert session.opened.verdicts["ort/cpu"].reason(0).tier is Tier.RULE
    assert "Ran on this target: measured on This computer" in words(studio.window.node_panel)


# --- fixes ---------------------------------------------------------------------------------------


def test_a_problem_is_fixed_by_one_click_shown_proven_added_and_undone(
    qtbot: QtBot, open_window: Open, tmp_path: Path
) -> None:
    studio = opened(qtbot, open_window, save_hardswish(tmp_path / "m.onnx"), "ort/nnapi")
    panel, session = studio.window.problem_panel, studio.session
    fix = named(panel, "Fix")
    assert not fix.isEnabled()  # nothing is chosen
    row = next(i for i, p in enumerate(panel.list.shown) if p.op == "HardSwish")
    click_row(qtbot, panel, row)
    assert fix.isEnabled()
    qtbot.mouseClick(fix, LEFT)
    dialog = studio.window.findChild(FixDialog)
    qtbot.waitUntil(lambda: "largest difference" in words(dialog), timeout=300_000)
    said = words(dialog)
    assert "2 → 1 partitions" in said and "1 → " in said
    steps = session.project.recipe.steps
    qtbot.mouseClick(named(dialog, "Add to the recipe"), LEFT)
    step = next(s for s in session.project.recipe.steps if isinstance(s, FixStep))
    assert (step.after, step.fix) == ("source", panel.list.shown[row].fixes[0])
    qtbot.waitUntil(
        lambda: session.current_stage_id == step.id and session.opened is not None, timeout=300_000
    )
    assert "HardSwish" not in session.opened.graph.node_op
    assert len(session.verdicts.partitions) == 1
    session.undo()
    assert session.project.recipe.steps == steps


def test_a_fix_that_is_refused_says_why_and_cannot_be_added(
    qtbot: QtBot, open_window: Open, tmp_path: Path
) -> None:
    path = save_model(tmp_path / "tiny.onnx", with_foreign_op=False)
    studio = opened(qtbot, open_window, path, "ort/nnapi")
    studio.window.commands.show_fix("decompose-gelu", 0)  # there is no Gelu
    dialog = studio.window.findChild(FixDialog)
    add = named(dialog, "Add to the recipe")
    qtbot.waitUntil(lambda: not add.isEnabled(), timeout=300_000)
    qtbot.waitUntil(lambda: bool(refusals(dialog)), timeout=10_000)
    assert "Gelu" in refusals(dialog)
    dialog.reject()


# --- partitions and layout -----------------------------------------------------------------------


def test_partitions_are_listed_and_lead_to_their_nodes(
    qtbot: QtBot, open_window: Open, tmp_path: Path
) -> None:
    from studio.ui.widgets.row import Row

    studio = opened(qtbot, open_window, save_hardswish(tmp_path / "m.onnx"), "ort/nnapi")
    panel = studio.window.node_panel
    rows = [r for r in panel.findChildren(Row) if r.isVisible()]
    assert len(rows) == 2
    assert "about 2 transposes expected around the partitions" in words(panel)
    assert "about 2 transposes" in words(studio.window.problem_panel)
    qtbot.mouseClick(rows[0], LEFT)
    focus_words, mask = studio.window.stage_area.graph_view._focus
    assert focus_words == "partition 1 of 2" and mask.sum() == 1
    studio.session.go_to_node(studio.session.opened.graph.node_op.index("Conv"))
    assert "where layouts meet: about 1" in words(panel)
