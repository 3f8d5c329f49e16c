"""Every row of the table of actions, one by one, in a window of its own: no error and no dead window."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from models import save_branches
from msgspec.structs import replace
from PySide6.QtCore import QTimer
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QApplication, QDialog, QMenu, QWidget
from pytestqt.qtbot import QtBot

from studio.graph.scopes import scope_tree
from studio.ui.actions import ACTIONS

Open = Callable[..., Any]

WITHOUT_A_WORKER = ("device.virtual", "model.ask", "file.quit")
"""Rows that start tools or a phone, which `tests/worker` and `tests/stories` do, or end the window."""
NEEDS_MORE = ("run.all", "run.again", "run.cancel", "device.stop", "file.etrecord")
"""Rows that are greyed out until a recipe has steps, something runs, or the file is an ExecuTorch program."""


def save_tensor_list(path: Path) -> Path:
    """One weight as .safetensors: a file of tensors without nodes."""
    from safetensors.numpy import save_file

    save_file({"w": np.arange(6, dtype=np.float32).reshape(2, 3)}, str(path))
    return path


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A .pte of one linear layer on XNNPACK."""
    torch = pytest.importorskip("torch")
    edge = pytest.importorskip("executorch.exir")
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner

    exported = torch.export.export(torch.nn.Linear(4, 3).eval(), (torch.zeros(1, 4),))
    lowered = edge.to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
    path = tmp_path_factory.mktemp("program") / "linear.pte"
    path.write_bytes(lowered.to_executorch().buffer)
    return path


@pytest.fixture
def errors(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What was raised inside of Qt's calls."""
    found: list[str] = []
    monkeypatch.setattr(
        sys, "excepthook", lambda kind, error, trace: found.append(f"{kind.__name__}: {error}")
    )
    yield found


@pytest.fixture
def nothing_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """No browser, no editor and no process of another program is started."""
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: True)


def close_what_is_open(window: QWidget) -> None:
    """Closes dialogs and menus, also those that a call waits in."""
    for widget in [*QApplication.topLevelWidgets(), *window.findChildren(QDialog)]:
        if widget is not window and widget.isVisible() and isinstance(widget, QDialog | QMenu):
            widget.reject() if isinstance(widget, QDialog) else widget.close()


def walk(studio: Any, file: Path | None, qtbot: QtBot, errors: list[str]) -> tuple[list[str], set[str]]:
    """Triggers every action that is enabled, on the file anew where one before closed or replaced it.

    Returns what raised or left the window blocked or gone, and which actions were triggered.
    """
    wrong: list[str] = []
    reached: set[str] = set()
    window, session = studio.window, studio.session
    guard = QTimer()
    guard.timeout.connect(lambda: close_what_is_open(window))
    guard.start(40)
    for action in ACTIONS:
        if action.id in WITHOUT_A_WORKER:
            continue
        start_on(session, file, qtbot)
        select_for(action.id, session)
        window._menus.refresh()
        row = window._menus.action(action.id)
        if not row.isEnabled():
            continue
        reached.add(action.id)
        row.trigger()  # what a slot raises goes to the hook, not here
        qtbot.wait(30)
        wrong += [f"{action.id}: {error}" for error in errors]
        errors.clear()
        close_what_is_open(window)
        if not window.isVisible() or QApplication.activeModalWidget() is not None:
            wrong.append(f"{action.id}: the window cannot be used")
            window.show()
    guard.stop()
    return wrong, reached


def start_on(session: Any, file: Path | None, qtbot: QtBot) -> None:
    """The file is open as it was, whatever the action before did."""
    if file is None:
        if session.project is not None:
            session.close_project()
        return
    stage = session.current_stage
    if stage is not None and stage.path == file and stage.opened is not None and not session.is_modified:
        return
    session.open_path(file)
    qtbot.waitUntil(lambda: session.opened is not None, timeout=60_000)


def select_for(action_id: str, session: Any) -> None:
    """Selects what the action works on: an edge, a scope, a node with bodies, else a node."""
    if session.opened is None or not session.opened.graph.node_count:
        return
    graph = session.opened.graph
    if action_id == "graph.follow":
        session.select_tensor(int(graph.outputs_of(0)[0]))
    elif action_id in ("graph.scope", "graph.blocks"):
        session.select_scope(next((s for s, n in enumerate(scope_tree(graph).node_count) if s and n), None))
    else:
        holder = graph.subgraphs[1].parent_node if len(graph.subgraphs) > 1 else 0
        session.go_to_node(holder if action_id == "graph.bodies" else 0)
    if action_id in ("edit.undo", "edit.redo"):
        session.edit(lambda project: replace(project, name="renamed"), "rename")
    if action_id == "edit.redo":
        session.undo()


@pytest.mark.parametrize("state", ["model", "tensor list", "program", "nothing"])
def test_no_action_breaks_the_window(
    state: str,
    open_inline: Open,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    qtbot: QtBot,
    errors: list[str],
    nothing_outside: None,
) -> None:
    file: Path | None = None
    if state == "model":
        file = save_branches(tmp_path / "branches.onnx")
    elif state == "tensor list":
        file = save_tensor_list(tmp_path / "weights.safetensors")
    elif state == "program":
        file = request.getfixturevalue("program")
    studio = open_inline(*([file] if file else []))
    wrong, reached = walk(studio, file, qtbot, errors)
    assert not wrong, "\n".join(wrong)
    if state == "model":
        missed = {a.id for a in ACTIONS} - reached - {*WITHOUT_A_WORKER, *NEEDS_MORE}
        assert not missed, "never enabled: " + ", ".join(sorted(missed))
