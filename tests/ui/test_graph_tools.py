"""What can be done with the graph in sight: bookmarks, paths, bodies, blocks, edits, pictures, tables."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from models import save_branches, save_model
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent, QImage
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from studio.recipes.edit_records import CutOut, FreezeDim, RemoveNode, RenameNode, SetAttribute
from studio.recipes.recipe import EditStep, FixStep
from studio.ui.graph_overlays import OVERLAYS
from studio.ui.session import Selection
from studio.ui.views import graph_view
from studio.ui.views.block_dialog import BlockDialog
from studio.ui.views.bookmark_dialog import BookmarkDialog
from studio.ui.views.edit_dialogs import (
    AttributeDialog,
    CutDialog,
    FreezeDialog,
    RenameDialog,
    open_dims,
    parse_value,
)
from studio.ui.views.graph_view import MEASURED
from studio.ui.views.picture_dialog import PictureDialog

Open = Callable[..., Any]


@pytest.fixture
def opened(qtbot: QtBot, open_inline: Open, tmp_path: Path) -> Any:
    """The window on the tiny model."""
    studio = open_inline(save_model(tmp_path / "tiny.onnx", with_foreign_op=False))
    qtbot.waitUntil(lambda: studio.session.opened is not None, timeout=30_000)
    return studio


@pytest.fixture
def branches(qtbot: QtBot, open_inline: Open, tmp_path: Path) -> Any:
    """The window on a model with bodies and repeated blocks."""
    studio = open_inline(save_branches(tmp_path / "branches.onnx"))
    qtbot.waitUntil(lambda: studio.session.opened is not None, timeout=30_000)
    return studio


def trigger(studio: Any, action_id: str) -> None:
    studio.window._menus.refresh()
    action = studio.window._menus.action(action_id)
    assert action.isEnabled(), action_id
    action.trigger()


def go_to(studio: Any, name: str) -> int:
    node = int(studio.session.opened.graph.node_name.index(name))
    studio.session.go_to_node(node)
    return node


# --- bookmarks -----------------------------------------------------------------------------------


def test_bookmarks_are_kept_by_the_project_and_undone(qtbot: QtBot, opened: Any, tmp_path: Path) -> None:
    session = opened.session
    relu = go_to(opened, "relu")
    trigger(opened, "graph.bookmark")
    assert [b.node for b in session.project.bookmarks] == ["relu"]
    strip = opened.window.stage_area.graph_view.strip
    assert strip.isVisible() and not strip._clear.isVisible()  # nothing is faded
    session.undo()
    assert session.project.bookmarks == ()
    session.redo()
    assert session.save(tmp_path / "tiny.studio")
    assert 'node = "relu"' in (tmp_path / "tiny.studio").read_text()
    session.select_node(None)
    trigger(opened, "graph.bookmarks")
    dialog = opened.window.findChild(BookmarkDialog)
    item = dialog.list.item(0)
    item.setText("the rectifier")
    assert [b.name for b in session.project.bookmarks] == ["the rectifier"]
    qtbot.keyClick(dialog.list, Qt.Key.Key_Return)
    assert session.selection.node == relu
    assert not dialog.isVisible()


def test_a_bookmark_is_deleted_by_its_key(qtbot: QtBot, opened: Any) -> None:
    go_to(opened, "relu")
    trigger(opened, "graph.bookmark")
    trigger(opened, "graph.bookmark")
    assert len(opened.session.project.bookmarks) == 2
    trigger(opened, "graph.bookmarks")
    dialog = opened.window.findChild(BookmarkDialog)
    qtbot.keyClick(dialog.list, Qt.Key.Key_Delete)
    assert len(opened.session.project.bookmarks) == 1
    dialog.reject()


def test_a_bookmark_whose_node_is_gone_says_so(opened: Any) -> None:
    from studio.project.project import Bookmark

    seen: list[str] = []
    opened.session.failed.connect(lambda failed: seen.append(failed.message))
    opened.window.graph_tools.go_to_bookmark(Bookmark(name="x", node="no such", stage="source"))
    assert "no such" in seen[0]


# --- edges, paths, fading ------------------------------------------------------------------------


def test_an_edge_is_followed_to_its_end(opened: Any) -> None:
    graph = opened.session.opened.graph
    opened.session.select_tensor(graph.tensor_name.index("a"))
    trigger(opened, "graph.follow")
    assert graph.node_name[opened.session.selection.node] == "relu"


def test_a_path_between_two_nodes_fades_the_rest(opened: Any) -> None:
    view = opened.window.stage_area.graph_view
    go_to(opened, "conv")
    trigger(opened, "graph.start_path")
    assert view.strip.isVisible()
    go_to(opened, "relu")
    trigger(opened, "graph.show_path")
    dimmed = view.canvas._marks.dimmed
    names = opened.session.opened.graph.node_name
    assert {n for n, off in zip(names, dimmed) if not off} == {"conv", "relu"}
    trigger(opened, "graph.clear")
    assert view.canvas._marks.dimmed is None
    assert not view.strip.isVisible()


def test_what_the_search_does_not_find_is_faded(qtbot: QtBot, opened: Any) -> None:
    view = opened.window.stage_area.graph_view
    qtbot.mouseClick(view._only_found, Qt.MouseButton.LeftButton)
    view._field.setText("op:Relu")
    view.search_now()
    assert view.canvas._marks.dimmed.tolist() == [True, False, True]
    view._field.setText("op:NoSuch")
    view.search_now()
    assert view.canvas._marks.dimmed is None  # a graph that is faded as a whole shows nothing
    view._field.clear()
    view.search_now()
    assert view.canvas._marks.dimmed is None


# --- overlays ------------------------------------------------------------------------------------


@pytest.mark.parametrize("overlay", [overlay for overlay, _ in OVERLAYS if overlay not in MEASURED])
def test_every_overlay_is_a_menu_entry_and_colours_the_graph(opened: Any, overlay: str) -> None:
    trigger(opened, f"overlay.{overlay}")
    assert opened.session.overlay == overlay
    view = opened.window.stage_area.graph_view
    assert view.canvas.overlay is not None
    assert view.curve.isVisible() is (overlay == "memory")
    opened.window._menus.refresh()
    assert opened.window._menus.action(f"overlay.{overlay}").isChecked()


def test_the_threshold_fades_what_is_below(opened: Any) -> None:
    trigger(opened, "overlay.macs")
    view = opened.window.stage_area.graph_view
    assert view.strip.isVisible()
    view.strip._slider.setValue(900)
    names = opened.session.opened.graph.node_name
    bright = {n for n, off in zip(names, view.canvas._marks.dimmed) if not off}
    assert bright == {"conv"}
    view.strip.cleared.emit()
    assert view.canvas._marks.dimmed is None


def test_the_memory_curve_leads_to_its_node(qtbot: QtBot, opened: Any) -> None:
    trigger(opened, "overlay.memory")
    curve = opened.window.stage_area.graph_view.curve
    live = opened.session.opened.costs.live_bytes
    assert curve._bytes.tolist() == live.tolist()
    qtbot.mouseClick(curve, Qt.MouseButton.LeftButton, pos=QPoint(curve.width() // 2, 40))
    assert opened.session.selection.node == 1
    qtbot.keyClick(curve, Qt.Key.Key_Right)
    assert opened.session.selection.node == 2


# --- scopes, bodies, blocks ----------------------------------------------------------------------


def test_bodies_open_in_place_with_a_bread_crumb(qtbot: QtBot, branches: Any) -> None:
    session, view = branches.session, branches.window.stage_area.graph_view
    go_to(branches, "choice")
    trigger(branches, "graph.bodies")
    assert len(session.opened.view.opened) == 2
    assert session.opened.view.subgraph == 0
    go_to(branches, "inner_Tanh")
    assert session.opened.view.subgraph == 0
    assert [c.title for c in view.canvas._panels.crumbs] == ["If · else_branch"]
    frame = int(view.canvas.scene.layout.frame_scope.max())
    view.toggle_scope(frame)
    assert session.opened.view.opened == frozenset()


def test_scopes_close_and_open_all_together(branches: Any) -> None:
    view = branches.window.stage_area.graph_view
    trigger(branches, "graph.collapse")
    closed = view.canvas.scene.count
    trigger(branches, "graph.expand")
    assert view.canvas.scene.count > closed


@pytest.mark.parametrize("most", [0, 10_000])
def test_a_long_layout_shows_the_waiting_pointer(
    branches: Any, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    pointers = []
    real = graph_view.lay_out

    def watched(*arguments: Any) -> Any:
        pointers.append(QApplication.overrideCursor())
        return real(*arguments)

    monkeypatch.setattr(graph_view, "lay_out", watched)
    monkeypatch.setattr(graph_view, "_MANY_BOXES", most)
    trigger(branches, "graph.collapse")
    trigger(branches, "graph.expand")
    assert [pointer is not None for pointer in pointers] == [most == 0] * 2
    assert QApplication.overrideCursor() is None


def test_blocks_that_are_alike_are_compared(branches: Any) -> None:
    from studio.graph.scopes import scope_tree

    tree = scope_tree(branches.session.opened.graph)
    branches.session.select_scope(tree.name.index("block1"))
    trigger(branches, "graph.blocks")
    dialog = branches.window.findChild(BlockDialog)
    assert dialog.table.rowCount() == 0  # they differ in nothing
    assert dialog.canvas.first.scene.graph.node_op == ["Relu", "Exp"]
    dialog.accept()


def test_hidden_kinds_are_switched(branches: Any) -> None:
    session = branches.session
    assert session.opened.view.hide_constants
    trigger(branches, "graph.constants")
    assert not session.opened.view.hide_constants
    trigger(branches, "graph.shapes")
    assert session.opened.view.hide_shape_arithmetic


# --- context menus -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("selection", "entry"),
    [
        (Selection(node=0), "Set an attribute…"),
        (Selection(tensor=0), "Follow the edge to its other end"),
        (Selection(scope=1), "Open or close this scope"),
        (Selection(), "Bookmarks…"),
    ],
)
def test_the_context_menu_fits_what_is_selected(branches: Any, selection: Selection, entry: str) -> None:
    branches.session._select(selection)
    branches.window.show_graph_menu(QPoint(100, 100))
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    assert entry in [a.text().replace("&", "") for a in menu.actions()]
    menu.close()


def test_a_right_click_selects_what_is_under_it(opened: Any) -> None:
    canvas = opened.window.stage_area.graph_view.canvas
    node = go_to(opened, "relu")
    x, y = canvas.viewport.to_screen(*canvas.scene.center(canvas.scene.item_of_node(node)))
    opened.session.select_node(None)
    at = QPoint(round(x), round(y))
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, at, canvas.mapToGlobal(at))
    QApplication.sendEvent(canvas, event)
    assert opened.session.selection.node == node
    popup = QApplication.activePopupWidget()
    assert popup is not None
    popup.close()


# --- light edits ---------------------------------------------------------------------------------


def test_a_removed_node_is_a_step_and_comes_back_by_undo(qtbot: QtBot, opened: Any) -> None:
    session = opened.session
    go_to(opened, "relu")
    trigger(opened, "edit.remove")
    step = next(s for s in session.project.recipe.steps if isinstance(s, EditStep))
    assert step.edits == (RemoveNode(node="relu"),)
    qtbot.waitUntil(
        lambda: session.current_stage_id == step.id and session.opened is not None, timeout=60_000
    )
    assert session.opened.graph.node_op == ["Conv", "GlobalAveragePool"]
    followers = [s.after for s in session.project.recipe.steps if s.id != step.id]
    assert "source" not in followers  # what came after the source comes after the edit
    session.undo()
    assert session.current_stage_id == "source"
    assert not any(isinstance(s, EditStep) for s in session.project.recipe.steps)


def test_a_second_edit_joins_the_step_and_runs_again(qtbot: QtBot, opened: Any) -> None:
    session = opened.session
    go_to(opened, "relu")
    trigger(opened, "edit.remove")
    qtbot.waitUntil(lambda: session.current_stage_id == "edit" and session.opened is not None, timeout=60_000)
    go_to(opened, "pool")
    trigger(opened, "edit.rename")
    dialog = opened.window.findChild(RenameDialog)
    dialog.name.setText("mean")
    dialog.accept()
    step = next(s for s in session.project.recipe.steps if isinstance(s, EditStep))
    assert step.edits[1] == RenameNode(node="pool", name="mean")

    def names() -> list[str]:
        return list(session.opened.graph.node_name) if session.opened is not None else []

    qtbot.waitUntil(lambda: "mean" in names(), timeout=60_000)
    session.undo()
    qtbot.waitUntil(lambda: "pool" in names(), timeout=60_000)


def test_the_forms_say_edits(qtbot: QtBot, branches: Any) -> None:
    got: list[Any] = []
    graph = branches.session.opened.graph
    attribute = AttributeDialog(graph, 1, None, got.append)
    qtbot.addWidget(attribute)
    attribute.attribute.addItem("alpha")
    attribute.attribute.setCurrentText("alpha")
    attribute.value.setText("0.5")
    attribute.accept()
    cut = CutDialog(graph, graph.main_inputs(), [graph.tensor_name.index("b")], got.append)
    qtbot.addWidget(cut)
    cut.accept()
    freeze = FreezeDialog(open_dims(graph), got.append)
    qtbot.addWidget(freeze)
    freeze.fields["N"].setText("0")
    freeze.accept()
    assert freeze._wrong.text()
    freeze.fields["N"].setText("2")
    freeze.accept()
    assert got == [
        (SetAttribute(node="/block1/Relu", attribute="alpha", value=0.5),),
        (CutOut(inputs=(), outputs=("b",)),),
        (FreezeDim(dim="N", size=2),),
    ]


@pytest.mark.parametrize(
    ("text", "value"), [("1", 1), ("0.5", 0.5), ("[1, 2]", [1, 2]), ("SAME_UPPER", "SAME_UPPER")]
)
def test_values_are_read_as_they_look(text: str, value: object) -> None:
    assert parse_value(text) == value


def test_the_cut_of_a_scope_proposes_its_borders(branches: Any) -> None:
    from studio.graph.scopes import scope_tree

    tree = scope_tree(branches.session.opened.graph)
    branches.session.select_scope(tree.name.index("block2"))
    trigger(branches, "edit.cut")
    dialog = branches.window.findChild(CutDialog)
    assert (dialog.inputs.text(), dialog.outputs.text()) == ("b", "d")
    dialog.reject()


def test_a_fix_becomes_a_step(opened: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from studio.recipes.fixes import FIXES
    from studio.ui.views.fix_dialog import FixDialog

    monkeypatch.setattr("studio.ui.light_edits.run_steps", lambda *_, **__: "")
    opened.window.commands.show_fix(next(iter(FIXES)), 0)
    dialog = opened.window.findChild(FixDialog)
    dialog._dims.setText("N=1,2")
    dialog._add.click()
    assert dialog.isVisible()  # a step makes one file
    dialog._dims.setText("")
    dialog._add.click()
    fix = next(s for s in opened.session.project.recipe.steps if isinstance(s, FixStep))
    assert (fix.after, fix.fix) == ("source", next(iter(FIXES)))


# --- taking away ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_pictures_of_the_graph_and_of_the_view(opened: Any, tmp_path: Path, kind: str) -> None:
    trigger(opened, "overlay.partitions")
    trigger(opened, "view.picture")
    dialog = opened.window.findChild(PictureDialog)
    dialog.format.setCurrentIndex(dialog.format.findData(kind))
    dialog.part.setCurrentIndex(1)
    path = tmp_path / f"graph.{kind}"
    dialog.save(path)
    data = path.read_bytes()
    assert data.startswith({"png": b"\x89PNG", "svg": b"<svg", "pdf": b"%PDF"}[kind])
    canvas = opened.window.stage_area.graph_view.canvas
    if kind == "png":
        assert QImage(str(path)).width() == canvas.width() * 2
    if kind == "svg":
        svg = path.read_text()
        for category, count in zip(canvas.overlay.categories, canvas.overlay.counts):
            assert not count or f">{category.title} {count}<" in svg
        assert all(outline.title in svg for outline in canvas.overlay.outlines)


def test_the_picture_of_the_view_holds_what_is_in_sight_and_no_more(opened: Any, tmp_path: Path) -> None:
    canvas = opened.window.stage_area.graph_view.canvas
    canvas.camera.zoom_to_scale(1.0)
    canvas.camera.show(canvas.viewport.centred(*canvas.scene.center(1), 4.0))
    trigger(opened, "view.picture")
    dialog = opened.window.findChild(PictureDialog)
    dialog.format.setCurrentIndex(dialog.format.findData("svg"))
    dialog.part.setCurrentIndex(1)
    dialog.save(tmp_path / "view.svg")
    svg = (tmp_path / "view.svg").read_text()
    left, top, right, bottom = canvas.viewport.visible()
    seen = {int(k) for k in canvas.scene.items_in(left, top, right, bottom)}
    assert 0 < len(seen) < canvas.scene.count
    ops = opened.session.opened.graph.node_op
    for item in range(canvas.scene.count):
        node = canvas.scene.node_of_item(item)
        if node >= 0:
            assert (f">{ops[node]}<" in svg) == (item in seen)


def test_a_picture_that_cannot_be_written_is_told(opened: Any, tmp_path: Path) -> None:
    seen: list[str] = []
    opened.session.failed.connect(lambda failed: seen.append(failed.message))
    trigger(opened, "view.picture")
    dialog = opened.window.findChild(PictureDialog)
    dialog.save(tmp_path / "absent" / "graph.png")
    assert "graph.png" in seen[0]
    dialog.reject()


def test_the_table_of_nodes_is_csv(opened: Any, tmp_path: Path) -> None:
    opened.window.graph_tools.write_table(tmp_path / "nodes.csv")
    with (tmp_path / "nodes.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [r["operator"] for r in rows] == ["Conv", "Relu", "GlobalAveragePool"]
    assert int(rows[0]["macs"]) == 4 * 3 * 9 * 64


def test_names_are_copied(branches: Any) -> None:
    go_to(branches, "choice")
    trigger(branches, "edit.copy_name")
    assert QApplication.clipboard().text() == "choice"
    branches.session.select_scope(1)
    trigger(branches, "edit.copy_name")
    assert QApplication.clipboard().text() == "block1"


# --- compare -------------------------------------------------------------------------------------


def test_two_files_are_compared_and_a_difference_leads_to_both(
    qtbot: QtBot, open_inline: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    studio = open_inline(save_model(tmp_path / "one.onnx"))
    qtbot.waitUntil(lambda: studio.session.opened is not None, timeout=30_000)
    studio.session.open_beside(save_model(tmp_path / "other.onnx", with_foreign_op=False))
    qtbot.waitUntil(lambda: studio.session.opened is not None, timeout=30_000)
    area = studio.window.stage_area
    trigger(studio, "view.compare")
    compare = area._compare
    compare.choose("source", studio.session.stages[-1].id)
    qtbot.waitUntil(lambda: compare.table.rowCount() > 0)
    kinds = [compare.table.index(r, 0).data() for r in range(compare.table.rowCount())]
    names = [compare.table.index(r, 1).data() for r in range(compare.table.rowCount())]
    assert ("removed", "warp") in zip(kinds, names)
    row = names.index("warp")
    place = compare._list.visualRect(compare.table.index(row, 1)).center()
    qtbot.mouseClick(compare._list.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert compare.canvas.first.scene.graph.node_op[compare.canvas.first.selected_node] == "Warp"
    assert compare.canvas.second.selected_node == -1
    ended: list[str] = []
    monkeypatch.setattr(studio.session, "cancel", ended.append)
    compare._running = (compare._shown, "being compared")
    compare.choose("source", "source")
    assert ended == ["being compared"]  # else it would be shown under the names of another pair
    assert compare._running is None


# --- the inspector -------------------------------------------------------------------------------


def test_a_constant_is_read_on_demand_and_exported(
    qtbot: QtBot, opened: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import numpy as np

    from studio.ui.views.tensor_dialog import Histogram, TensorDialog

    out = tmp_path / "w.npy"
    monkeypatch.setattr(
        "studio.ui.views.tensor_dialog.QFileDialog.getSaveFileName", lambda *_: (str(out), "")
    )
    opened.window.commands.show_tensor(opened.session.opened.graph.tensor_name.index("w"))
    dialog = opened.window.findChild(TensorDialog)
    qtbot.waitUntil(dialog._export.isEnabled, timeout=60_000)
    assert dialog.findChild(Histogram) is not None
    dialog._export.click()
    qtbot.waitUntil(out.exists, timeout=60_000)
    assert np.load(out).shape == (4, 3, 3, 3)
    dialog.accept()


def test_a_selected_edge_shows_the_tensors_and_a_node_the_page_before(opened: Any) -> None:
    panel, graph = opened.window.node_panel, opened.session.opened.graph
    go_to(opened, "relu")
    panel.show_page("attributes")
    opened.session.select_tensor(graph.tensor_name.index("a"))
    assert panel._tabs.currentIndex() == 2
    go_to(opened, "conv")
    assert panel._tabs.currentIndex() == 1


def test_the_comparison_fits_a_low_window(opened: Any, tmp_path: Path) -> None:
    from studio.ui.views.compare_view import CompareView

    view = CompareView(opened.session)
    view._counts.setText("1,234 same · 1,234 changed · 1,234 added · 1,234 removed")
    assert view.minimumSizeHint().width() < 640  # the middle of a window of 1280 × 720
    view.deleteLater()
