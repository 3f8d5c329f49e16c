"""The session: what it remembers, what it tells, what it refuses."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from models import save_model
from pytestqt.qtbot import QtBot

from studio.project import edit
from studio.ui.session import Session
from studio.ui.stages import StageStatus


@pytest.fixture
def session(qtbot: QtBot) -> Iterator[Session]:
    session = Session()
    yield session
    session.shut_down()


def failures_of(session: Session) -> list[str]:
    seen: list[str] = []
    session.failed.connect(lambda failed: seen.append(failed.message))
    return seen


def open_model(qtbot: QtBot, session: Session, path: Path) -> None:
    with qtbot.waitSignal(session.stage_opened, timeout=120_000):
        session.open_path(path)


def test_opening_a_model_makes_a_project_and_shows_its_graph(
    qtbot: QtBot, session: Session, tmp_path: Path
) -> None:
    open_model(qtbot, session, save_model(tmp_path / "tiny.onnx"))
    assert session.project is not None
    assert session.opened is not None
    assert session.opened.graph.node_count == 4
    assert set(session.opened.verdicts) == set(session.project.targets)
    assert not session.is_modified


@pytest.mark.parametrize("content", [b"", b"not a model", b"\x08\x07" * 400])
def test_a_file_that_is_no_model_is_one_sentence(
    qtbot: QtBot, session: Session, tmp_path: Path, content: bytes
) -> None:
    seen = failures_of(session)
    path = tmp_path / "broken.onnx"
    path.write_bytes(content)
    session.open_path(path)
    qtbot.waitUntil(
        lambda: (
            bool(seen)
            or (session.current_stage is not None and session.current_stage.status is StageStatus.FAILED)
        ),
        timeout=120_000,
    )


def test_a_folder_and_a_missing_file_are_refused_and_change_nothing(session: Session, tmp_path: Path) -> None:
    seen = failures_of(session)
    session.open_path(tmp_path)
    session.open_path(tmp_path / "absent.onnx")
    session.open_path(tmp_path / "absent.studio")
    assert len(seen) == 3
    assert session.project is None


def test_undo_redo_save_and_reopen(qtbot: QtBot, session: Session, tmp_path: Path) -> None:
    open_model(qtbot, session, save_model(tmp_path / "tiny.onnx"))
    assert session.project is not None
    before = session.project.targets
    assert session.edit(lambda p: edit.set_targets(p, ("litert/gpu",)), "Choose targets")
    assert session.is_modified
    assert session.target_id == "litert/gpu"
    session.undo()
    assert session.project.targets == before
    session.redo()
    assert session.save(tmp_path / "tiny.studio")
    assert not session.is_modified
    saved = session.project
    session.open_path(tmp_path / "tiny.studio")
    assert session.project == saved


def test_an_edit_that_is_refused_tells_why(qtbot: QtBot, session: Session, tmp_path: Path) -> None:
    open_model(qtbot, session, save_model(tmp_path / "tiny.onnx"))
    seen = failures_of(session)
    assert not session.edit(lambda p: edit.add_target(p, "no/such"), "Add target")
    assert "no/such" in seen[0]
    assert not session.is_modified


def test_saving_elsewhere_keeps_paths_inside(qtbot: QtBot, session: Session, tmp_path: Path) -> None:
    model = tmp_path / "models" / "tiny.onnx"
    model.parent.mkdir()
    open_model(qtbot, session, save_model(model))
    assert session.save(tmp_path / "tiny.studio")
    assert session.project is not None
    assert session.project.source.path == "models/tiny.onnx"
    seen = failures_of(session)
    (tmp_path / "elsewhere").mkdir()
    assert not session.save(tmp_path / "elsewhere" / "tiny.studio")
    assert "outside" in seen[0]


def test_unsaved_edits_are_there_after_a_crash(qtbot: QtBot, session: Session, tmp_path: Path) -> None:
    from studio.project.recovery import find_recoverable

    open_model(qtbot, session, save_model(tmp_path / "tiny.onnx"))
    session.edit(lambda p: edit.set_targets(p, ("litert/gpu",)), "Choose targets")
    assert find_recoverable() == ()  # its window lives
    assert session._swap._handle is not None
    os.close(session._swap._handle)  # as the death of the process does
    session._swap._handle = None
    qtbot.waitUntil(lambda: find_recoverable() != ())  # a worker that was just forked holds it for a moment
    found = find_recoverable()
    assert [r.project.targets for r in found] == [("litert/gpu",)]
    session.recover(found[0])
    assert session.project is not None
    assert session.project.targets == ("litert/gpu",)
    assert session.is_modified


def test_python_waits_for_trust(session: Session, tmp_path: Path) -> None:
    from studio.recipes.recipe import InputSpec
    from studio.ui import recipe_jobs
    from studio.ui.model_source import factories_in, python_project

    source = tmp_path / "net.py"
    source.write_text("def build():\n    raise SystemExit\n\ndef helper(x):\n    return x\n")
    assert factories_in(source) == ["build"]
    inputs = (InputSpec(name="x", shape=(1, 3)),)
    session.open_python(source, python_project(source, "build", "", inputs))
    asked: list[str] = []
    session.trust_needed.connect(asked.append)
    assert recipe_jobs.run_steps(session) == ""
    assert asked == [str(tmp_path)]
    assert session.jobs == []
    session.distrust()
    session.trust()  # an answer without a question does nothing
    assert recipe_jobs.needs_trust(session)


def test_another_file_can_be_opened_beside(qtbot: QtBot, session: Session, tmp_path: Path) -> None:
    open_model(qtbot, session, save_model(tmp_path / "tiny.onnx"))
    with qtbot.waitSignal(session.stage_opened, timeout=120_000):
        session.open_beside(save_model(tmp_path / "other.onnx", with_foreign_op=False))
    assert session.opened is not None
    assert session.opened.graph.node_count == 3
    assert [s.kind for s in session.stages].count("other") == 1
