"""Story: somebody opens a branch of an If and one inside it, and comes back by clicks on the bread crumb."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from studio.graph.scopes import scope_tree
from tests.stories.test_look_at_a_graph import Hands


def save_nested(path: Path) -> Path:
    """A model with an If in the main graph and another one in its then branch."""
    import onnx
    from onnx import TensorProto, helper

    info = helper.make_tensor_value_info

    def branch(name: str, *nodes: Any) -> Any:
        return helper.make_graph(nodes, name, [], [info(nodes[-1].output[0], TensorProto.FLOAT, [4])])

    def choice(made: str, name: str, **branches: Any) -> Any:
        return helper.make_node("If", ["go"], [made], name=name, **branches)

    inner = choice(
        "i", "inner",
        then_branch=branch("deep then", helper.make_node("Sin", ["s"], ["a"], name="deep_Sin")),
        else_branch=branch("deep else", helper.make_node("Tanh", ["s"], ["b"], name="deep_Tanh")),
    )  # fmt: skip
    outer = choice(
        "y", "outer",
        then_branch=branch("then", inner, helper.make_node("Abs", ["i"], ["d"], name="shallow_Abs")),
        else_branch=branch("else", helper.make_node("Exp", ["s"], ["c"], name="shallow_Exp")),
    )  # fmt: skip
    nodes = [helper.make_node("Neg", ["x"], ["s"], name="stem"), outer]
    inputs = [info("x", TensorProto.FLOAT, [4]), info("go", TensorProto.BOOL, [])]
    graph = helper.make_graph(nodes, "nested", inputs, [info("y", TensorProto.FLOAT, [4])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), str(path))
    return path


def test_open_a_body_and_come_back_by_the_bread_crumb(qtbot: QtBot, play: Any, tmp_path: Path) -> None:
    def act(window: Any) -> None:
        hands = Hands(qtbot, window)
        canvas = hands.canvas
        clicked: list[QPointF] = []

        def go_to(name: str) -> None:
            hands.look_for(name)
            hands.keys(Qt.Key.Key_Return)
            hands.until(lambda: hands.name_of_selected() == name)

        def titles() -> list[str]:
            return [crumb.title for crumb in canvas._panels.crumbs]

        def click_crumb(index: int) -> None:
            canvas.repaint()
            box, crumb = canvas._panels._crumbs._places[index]
            assert crumb.title == titles()[index]
            clicked.append(box.center())
            QTest.mouseClick(canvas, Qt.MouseButton.LeftButton, pos=box.center().toPoint())

        def is_shown_whole(body: str) -> bool:
            """Whether the frame of that body is all in sight, and in the middle."""
            layout, view, graph = canvas.scene.layout, canvas.viewport, canvas.scene.graph
            number = next(k for k, known in enumerate(graph.subgraphs) if known.name == body)
            frame = layout.frame_scope.tolist().index(scope_tree(graph).size + number)
            x, y = float(layout.frame_x[frame]), float(layout.frame_y[frame])
            right, bottom = x + float(layout.frame_width[frame]), y + float(layout.frame_height[frame])
            drawn = QRectF(QPointF(*view.to_screen(x, y)), QPointF(*view.to_screen(right, bottom)))
            seen = QRectF(canvas.rect())
            return seen.contains(drawn) and (drawn.center() - seen.center()).manhattanLength() < 60

        # The If's body opens in place, the one inside it too: the crumb says the way down.
        for name in ("outer", "inner"):
            go_to(name)
            before = canvas.scene.count
            hands.command("body in place")
            hands.until(lambda: canvas.scene.count > before)  # noqa: B023
        go_to("deep_Tanh")
        assert titles() == ["If · then_branch", "If · else_branch"]

        # A click on a step of the way shows that body whole; what is selected stays, so one can go on.
        for index, body in ((1, "deep else"), (0, "then")):
            QTest.keyClick(canvas, Qt.Key.Key_PageDown)  # away from it
            way = titles()
            assert not is_shown_whole(body)
            click_crumb(index)
            hands.until(lambda: is_shown_whole(body))  # noqa: B023
            assert titles() == way and hands.name_of_selected() == "deep_Tanh"

        # Outside of every body there is no crumb left.
        go_to("stem")
        assert titles() == []
        canvas.repaint()
        assert all(canvas._panels._crumbs.crumb_at(at) is None for at in clicked)

    assert play([str(save_nested(tmp_path / "nested.onnx"))], act) == 0
