"""The ETRecord of a `.pte` file is chosen from the menu: its delegates open as what they were made from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from models import save_branches
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QMenu
from pytestqt.qtbot import QtBot

from studio.graph import Graph
from studio.graph.restated import BEFORE_DELEGATION

Open = Callable[..., Any]


@pytest.fixture(scope="module")
def lowered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `linear.pte`, and in `kept` its record and that of another program."""
    torch = pytest.importorskip("torch")
    edge = pytest.importorskip("executorch.exir")
    pytest.importorskip("executorch.devtools")
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner

    folder = tmp_path_factory.mktemp("lowered")
    (folder / "kept").mkdir()
    made = {
        "linear": torch.nn.Linear(4, 3),
        "other": torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Tanh()),
    }
    for name, net in made.items():
        program = torch.export.export(net.eval(), (torch.zeros(1, 4),))
        parts = [XnnpackPartitioner()] if name == "linear" else []
        done = edge.to_edge_transform_and_lower(
            program, partitioner=parts, generate_etrecord=True
        ).to_executorch()
        (folder / f"{name}.pte").write_bytes(done.buffer)
        done.get_etrecord().save(str(folder / "kept" / f"{name}.etrecord"))
    return folder


def bodies(graph: Graph) -> list[str]:
    return [s.attribute for s in graph.subgraphs if s.attribute == BEFORE_DELEGATION]


def click(qtbot: QtBot, studio: Any, action_id: str) -> None:
    """Opens the menu that has the action and clicks it."""
    row = studio.window._menus.action(action_id)
    menu = next(m for m in row.associatedObjects() if isinstance(m, QMenu))
    menu.popup(studio.window.mapToGlobal(studio.window.rect().topLeft()))
    qtbot.waitUntil(menu.isVisible)
    qtbot.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(row).center())


def test_a_chosen_record_opens_the_delegate_and_a_wrong_one_changes_nothing(
    qtbot: QtBot, open_inline: Open, lowered: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    studio = open_inline(lowered / "linear.pte")
    session = studio.session
    qtbot.waitUntil(lambda: session.opened is not None)
    assert bodies(session.opened.graph) == []
    chosen: list[str] = []
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *args: (chosen[-1], ""))

    told: list[Any] = []
    session.failed.connect(told.append)
    chosen.append(str(lowered / "kept" / "other.etrecord"))
    click(qtbot, studio, "file.etrecord")
    qtbot.waitUntil(lambda: bool(told))
    assert "another program" in told[0].message
    assert session.opened is not None and session.current_stage.etrecord is None

    chosen.append(str(lowered / "kept" / "linear.etrecord"))
    with qtbot.waitSignal(session.stage_opened):
        click(qtbot, studio, "file.etrecord")
    graph = session.opened.graph
    assert len(bodies(graph)) == 1 and any("linear" in op for op in graph.node_op)

    with qtbot.waitSignal(session.stage_opened):
        session.open_stage(session.current_stage_id, again=True)
    assert len(bodies(session.opened.graph)) == 1  # kept for the session


def test_other_files_have_no_record(qtbot: QtBot, open_inline: Open, tmp_path: Path) -> None:
    studio = open_inline(save_branches(tmp_path / "m.onnx"))
    qtbot.waitUntil(lambda: studio.session.opened is not None)
    studio.window._menus.refresh()
    assert not studio.window._menus.action("file.etrecord").isEnabled()


def test_a_lowered_program_is_looked_at_and_run_on_the_backend_it_was_lowered_for(
    qtbot: QtBot, open_inline: Open, lowered: Path
) -> None:
    studio = open_inline(lowered / "linear.pte")
    qtbot.waitUntil(lambda: studio.session.opened is not None)
    assert studio.session.target_id == "executorch/xnnpack"
    assert studio.session.project.run_settings.target == "executorch/xnnpack"
    studio.session.open_path(lowered / "other.pte")
    assert studio.session.target_id == "executorch/portable"  # no delegate: kernels run it
