"""Stories: somebody looks at a graph, by mouse and by keys: finds, opens, follows, keeps, takes, edits."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QFileDialog
from pytestqt.qtbot import QtBot

from studio.recipes.edit_records import CutOut, FreezeDim, RenameNode
from studio.recipes.recipe import EditStep
from tests.stories.scoped_model import save_layers

MINUTE = 60_000
CTRL, SHIFT, ALT = (
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.AltModifier,
)


class Hands:
    """Mouse and keys of a person in front of the window, who waits until things have happened."""

    def __init__(self, qtbot: QtBot, window: Any) -> None:
        self.qtbot, self.window = qtbot, window
        self.session = window.session
        self.until(lambda: self.session.opened is not None)
        self.canvas.camera.motion_is_on = False  # the story waits for places, not for movements
        QApplication.setActiveWindow(window)

    @property
    def view(self) -> Any:
        return self.window.stage_area.graph_view

    @property
    def canvas(self) -> Any:
        return self.view.canvas

    def until(self, check: Callable[[], object]) -> None:
        self.qtbot.waitUntil(lambda: bool(check()), timeout=2 * MINUTE)

    def keys(self, key: Qt.Key, modifiers: Any = Qt.KeyboardModifier.NoModifier, to: Any = None) -> None:
        """Presses a key in what has the focus."""
        if to is None:
            self.come_back()
        QTest.keyClick(to or QApplication.focusWidget() or self.window, key, modifiers)

    def come_back(self) -> None:
        """After a dialog the window is active again, which a platform without windows has to be told."""
        active = QApplication.activeWindow()
        if active is None or not active.isVisible():
            self.window.activateWindow()
            self.until(self.window.isActiveWindow)

    def type(self, text: str, to: Any = None) -> None:
        QTest.keyClicks(to or QApplication.focusWidget(), text)

    def look_for(self, text: str) -> None:
        """Ctrl+F, the text, and the results."""
        self.keys(Qt.Key.Key_F, CTRL)
        field = QApplication.focusWidget()
        assert field is self.view._field, "Ctrl+F goes to the search field"
        self.keys(Qt.Key.Key_A, CTRL)
        self.type(text)
        self.until(lambda: not self.view._search_timer.isActive())

    def found(self) -> int:
        """How many nodes the words beside the search field say were found."""
        digits = "".join(c for c in self.view._count.text().split("/")[-1] if c.isdigit())
        return int(digits or 0)

    def command(self, words: str) -> None:
        """Ctrl+K, the words, Enter."""
        self.keys(Qt.Key.Key_K, CTRL)
        self.until(lambda: self.dialog("CommandPalette"))
        palette = self.dialog("CommandPalette")
        self.type(words, palette._field)
        self.keys(Qt.Key.Key_Return, to=palette._field)

    def dialog(self, kind: str) -> Any:
        tops = (*QApplication.topLevelWidgets(), *self.window.findChildren(QDialog))
        return next((w for w in tops if type(w).__name__ == kind and w.isVisible()), None)

    def name_of_selected(self) -> str:
        node = self.session.selection.node
        return "" if node is None else str(self.session.opened.graph.node_name[node])

    def place(self, item: int) -> QPoint:
        x, y = self.canvas.viewport.to_screen(*self.canvas.scene.center(item))
        return QPoint(round(x), round(y))

    def is_in_sight(self, name: str) -> bool:
        item = self.canvas.scene.item_of_node(self.session.opened.graph.node_name.index(name))
        return bool(self.canvas.rect().contains(self.place(item)))

    def bring(self, item: int) -> QPoint:
        """Moves a box into the middle, at full size."""
        self.canvas.camera.show(self.canvas.viewport.centred(*self.canvas.scene.center(item), 1.0))
        return self.place(item)


def test_search_open_follow_and_keep(
    qtbot: QtBot, play: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = save_layers(tmp_path / "layers.onnx", layers=20)
    project = tmp_path / "layers.studio"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_a, **_k: (str(project), ""))

    def act(window: Any) -> None:
        hands = Hands(qtbot, window)
        session, canvas = hands.session, hands.canvas

        # Search as you type; Enter goes to the first, again to the next; each is in the middle.
        hands.keys(Qt.Key.Key_Down, CTRL | SHIFT)
        hands.look_for("op:Softmax")
        hands.until(lambda: hands.found() == 20)
        hands.keys(Qt.Key.Key_Return)
        assert hands.name_of_selected() == "/layers.0/score/Softmax"
        hands.keys(Qt.Key.Key_Return)
        assert hands.name_of_selected() == "/layers.1/score/Softmax"
        middle = hands.place(canvas.selected_item) - canvas.rect().center()
        assert middle.manhattanLength() < canvas.height() / 2

        # A path pattern.
        hands.look_for("Mul -> Softmax -> MatMul -> Add")
        hands.until(lambda: hands.found() == 80)
        hands.keys(Qt.Key.Key_Escape)

        # Scopes: all closed, one opened by a double click, closed by Backspace, opened by Enter.
        canvas.setFocus()
        hands.keys(Qt.Key.Key_Up, CTRL | SHIFT)
        closed = canvas.scene.count
        scopes = [k for k in range(closed) if canvas.scene.scope_of_item(k) >= 0]
        scope = max(scopes, key=lambda k: int(canvas.scene.layout.item_nodes[k]))
        qtbot.mouseDClick(canvas, Qt.MouseButton.LeftButton, pos=hands.bring(scope))
        hands.until(lambda: canvas.scene.count > closed)
        scene = canvas.scene
        inside = next(
            k
            for k in range(scene.count)
            if scene.node_of_item(k) >= 0 and len(scene.frames_in(*scene.center(k), *scene.center(k)))
        )
        qtbot.mouseClick(canvas, Qt.MouseButton.LeftButton, pos=hands.bring(inside))
        canvas.setFocus()
        hands.keys(Qt.Key.Key_Backspace)
        hands.until(lambda: canvas.scene.count == closed)
        hands.keys(Qt.Key.Key_Return)
        hands.until(lambda: canvas.scene.count > closed)

        # A bookmark is kept in the project's file.
        hands.keys(Qt.Key.Key_Down, CTRL | SHIFT)
        hands.look_for("name:layers.3/score op:Mul")
        hands.keys(Qt.Key.Key_Return)
        hands.keys(Qt.Key.Key_B, CTRL)
        assert [b.node for b in session.project.bookmarks] == ["/layers.3/score/Mul"]
        hands.keys(Qt.Key.Key_S, CTRL)
        hands.until(project.is_file)
        assert 'node = "/layers.3/score/Mul"' in project.read_text()

        # Along an edge through a portal to its other end, and back.
        layout = canvas.scene.layout
        edge = next(e for e in range(len(layout.edge_source)) if layout.edge_is_portal[e])
        start, end = int(layout.edge_source[edge]), int(layout.edge_target[edge])
        hands.bring(start)
        canvas.repaint()
        drawn = next(e for e in canvas._painter.portal_ends if e.edge == edge and e.is_source)
        before = canvas.viewport
        qtbot.mouseClick(canvas, Qt.MouseButton.LeftButton, pos=drawn.place.center().toPoint())
        assert canvas.selected_item == end
        assert canvas.rect().contains(hands.place(end))
        canvas.setFocus()
        hands.keys(Qt.Key.Key_Left, ALT)
        assert canvas.viewport.offset_y == pytest.approx(before.offset_y, abs=2)

    assert play([str(path)], act) == 0


def test_compare_two_models_and_go_to_a_difference(qtbot: QtBot, play: Any, tmp_path: Path) -> None:
    path = save_layers(tmp_path / "layers.onnx")
    other = save_layers(tmp_path / "other.onnx", scale=0.25, extra="Tanh")

    def act(window: Any) -> None:
        hands = Hands(qtbot, window)
        hands.session.open_beside(other)
        hands.until(lambda: hands.session.opened is not None)
        hands.keys(Qt.Key.Key_D, CTRL)
        compare = window.stage_area._compare
        hands.until(lambda: compare.table.rowCount() > 0)
        counts = compare._counts.text().replace("\N{NO-BREAK SPACE}", " ")
        assert counts == "26 same · 6 changed · 1 added · 0 removed"
        rows = {compare.table.index(r, 1).data(): r for r in range(compare.table.rowCount())}
        kinds = [compare.table.index(r, 0).data() for r in range(compare.table.rowCount())]
        assert sorted(kinds) == ["added", *["weights"] * 6]

        view = compare._list
        first, second = compare.canvas.first, compare.canvas.second
        first.camera.motion_is_on = second.camera.motion_is_on = False
        name = "/layers.4/score/Mul"
        index = compare.table.index(rows[name], 1)
        view.scrollTo(index)
        qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=view.visualRect(index).center())
        for canvas in (first, second):
            assert canvas.scene.graph.node_name[canvas.selected_node] == name
        places = [c.viewport.to_screen(*c.scene.center(c.selected_item)) for c in (first, second)]
        assert places[0][1] == pytest.approx(places[1][1], abs=2), "both stand at the same height"

        before = second.viewport.offset_y
        QTest.mousePress(first, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, QPoint(60, 60))
        QTest.mouseMove(first, QPoint(60, 90))
        QTest.mouseMove(first, QPoint(60, 130))
        QTest.mouseRelease(first, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, QPoint(60, 130))
        assert second.viewport.offset_y != before, "the other side follows"

        # The list by keys alone.
        view.setFocus()
        view.setCurrentIndex(compare.table.index(rows["/head/Tanh"], 1))
        hands.keys(Qt.Key.Key_Return, to=view)
        assert second.scene.graph.node_op[second.selected_node] == "Tanh" and first.selected_node == -1

    assert play([str(path)], act) == 0


def test_take_away_and_edit_by_keys_alone(
    qtbot: QtBot, play: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = save_layers(tmp_path / "layers.onnx")
    places: list[str] = []
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_a, **_k: (places.pop(0), ""))

    def act(window: Any) -> None:
        hands = Hands(qtbot, window)
        session = hands.session

        # A node as text.
        hands.look_for("name:layers.2/score op:Softmax")
        hands.keys(Qt.Key.Key_Return)
        hands.keys(Qt.Key.Key_C, CTRL | SHIFT)
        said = QApplication.clipboard().text()
        assert "Softmax" in said and "/layers.2/score/Softmax" in said

        # The picture, as SVG; the table, as CSV.
        places.append(str(tmp_path / "graph.svg"))
        hands.keys(Qt.Key.Key_P, CTRL | SHIFT)
        hands.until(lambda: hands.dialog("PictureDialog"))
        dialog = hands.dialog("PictureDialog")
        dialog.format.setFocus()
        hands.keys(Qt.Key.Key_S, to=dialog.format)
        assert dialog.format.currentData() == "svg"
        hands.keys(Qt.Key.Key_Return, to=dialog)
        hands.until((tmp_path / "graph.svg").is_file)
        assert "Softmax" in (tmp_path / "graph.svg").read_text()
        places.append(str(tmp_path / "nodes.csv"))
        hands.command("Save table of nodes")
        hands.until((tmp_path / "nodes.csv").is_file)
        rows = list(csv.DictReader((tmp_path / "nodes.csv").read_text().splitlines()))
        assert len(rows) == session.opened.graph.node_count

        # A light edit: another name, in the recipe, made by a worker; undone.
        hands.look_for("name:layers.2/score op:Softmax")
        hands.keys(Qt.Key.Key_Return)
        hands.canvas.setFocus()
        hands.keys(Qt.Key.Key_F2)
        hands.until(lambda: hands.dialog("RenameDialog"))
        field = hands.dialog("RenameDialog").name
        hands.keys(Qt.Key.Key_A, CTRL, to=field)
        hands.type("attention", field)
        hands.keys(Qt.Key.Key_Return, to=field)
        hands.until(lambda: edits(session) == (RenameNode(node="/layers.2/score/Softmax", name="attention"),))
        hands.until(lambda: session.opened is not None and "attention" in session.opened.graph.node_name)

        # Sizes fixed, as the second edit of the same step.
        hands.command("Fix sizes of dims")
        hands.until(lambda: hands.dialog("FreezeDialog"))
        dialog = hands.dialog("FreezeDialog")
        hands.type("3", dialog.fields["N"])
        hands.keys(Qt.Key.Key_Return, to=dialog.fields["N"])
        hands.until(lambda: any(isinstance(e, FreezeDim) for e in edits(session)))
        hands.until(lambda: session.opened is not None and frozen(session))

        for left in (1, 0):
            hands.keys(Qt.Key.Key_Z, CTRL)
            hands.until(lambda n=left: len(edits(session)) == n)
        hands.until(lambda: session.opened is not None and session.current_stage_id == "source")
        assert "attention" not in session.opened.graph.node_name

        # Cut out a part: from a tensor to a tensor.
        hands.look_for("name:layers.1/score op:Softmax")
        hands.keys(Qt.Key.Key_Return)
        hands.canvas.setFocus()
        hands.keys(Qt.Key.Key_X, CTRL | SHIFT)
        hands.until(lambda: hands.dialog("CutDialog"))
        hands.keys(Qt.Key.Key_Return, to=hands.dialog("CutDialog"))
        hands.until(lambda: any(isinstance(e, CutOut) for e in edits(session)))

    assert play([str(path)], act) == 0


def edits(session: Any) -> tuple[Any, ...]:
    """The edits of the recipe's step."""
    return next((s.edits for s in session.project.recipe.steps if isinstance(s, EditStep)), ())


def frozen(session: Any) -> bool:
    graph = session.opened.graph
    return all(isinstance(d, int) for t in graph.main_inputs() for d in graph.tensor_shape[t] or ())
