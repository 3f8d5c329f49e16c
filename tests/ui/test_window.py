"""The main window: what it shows, what a click does, what survives."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from models import save_model
from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QAction, QDropEvent
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QPushButton
from pytestqt.qtbot import QtBot

from studio.jobs.job import Failed
from studio.project import edit
from studio.support import Verdict
from studio.ui.actions import ACTIONS, MENUS
from studio.ui.theme import ThemeChoice
from studio.ui.views.command_palette import CommandPalette, match, plain_text
from studio.ui.views.target_dialog import TargetDialog

Open = Callable[..., Any]


def wait_for_graph(qtbot: QtBot, studio: Any) -> None:
    qtbot.waitUntil(lambda: studio.session.opened is not None, timeout=120_000)


def test_the_first_page_teaches(qtbot: QtBot, open_window: Open) -> None:
    window = open_window().window
    assert window.start_page.isVisible()
    assert not window.target_bar.isVisible()
    words = " ".join(label.text() for label in window.start_page.findChildren(QLabel))
    assert "Drop a model" in words
    assert "no telemetry" in words or "stays on this computer" in words


def test_every_action_has_a_menu_and_shortcuts_are_unique() -> None:
    menus = {id_ for id_, _ in MENUS}
    assert {a.menu for a in ACTIONS} <= menus
    assert len({a.id for a in ACTIONS}) == len(ACTIONS)
    shortcuts = [a.shortcut for a in ACTIONS if a.shortcut]
    assert len(set(shortcuts)) == len(shortcuts)


def test_actions_follow_what_is_open(qtbot: QtBot, open_window: Open, tmp_path: Path) -> None:
    studio = open_window()
    enabled = {id_: made.isEnabled() for id_, (_, made) in studio.window._menus.actions.items()}
    assert not enabled["file.save"]
    assert not enabled["run.all"]
    assert not enabled["run.cancel"]
    studio.window.files.open_path(save_model(tmp_path / "tiny.onnx"))
    wait_for_graph(qtbot, studio)
    enabled = {id_: made.isEnabled() for id_, (_, made) in studio.window._menus.actions.items()}
    assert enabled["file.save"]
    assert enabled["view.fit"]
    assert not enabled["edit.undo"]


def test_chips_count_verdicts_and_choose_the_target(qtbot: QtBot, open_window: Open, tmp_path: Path) -> None:
    studio = open_window(save_model(tmp_path / "tiny.onnx"))
    wait_for_graph(qtbot, studio)
    chips = studio.window.target_bar._chips
    assert [c.target_id for c in chips] == list(studio.session.project.targets)
    assert chips[0]._counts[Verdict.UNKNOWN] >= 1  # com.acme.Warp is nobody's operator
    shown = next(c for c in chips if c.isVisible() and not c.isChecked())
    qtbot.mouseClick(shown, Qt.MouseButton.LeftButton)
    assert studio.session.target_id == shown.target_id
    assert studio.window.stage_area.graph_view.canvas.overlay is not None


def test_a_problem_leads_to_its_node(qtbot: QtBot, open_window: Open, tmp_path: Path) -> None:
    studio = open_window(save_model(tmp_path / "tiny.onnx"))
    wait_for_graph(qtbot, studio)
    panel = studio.window.problem_panel
    row = next(i for i, p in enumerate(panel.list.shown) if p.op == "Warp")
    place = panel._view.visualRect(panel.list.index(row)).center()
    panel._view.scrollTo(panel.list.index(row))
    place = panel._view.visualRect(panel.list.index(row)).center()
    qtbot.mouseClick(panel._view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    session = studio.session
    assert session.opened.graph.node_op[session.selection.node] == "Warp"
    assert studio.window.stage_area.graph_view.canvas.selected_node == session.selection.node
    assert studio.window.node_panel._op.text() == "Warp"


def test_search_walks_through_what_it_finds(qtbot: QtBot, open_window: Open, tmp_path: Path) -> None:
    studio = open_window(save_model(tmp_path / "tiny.onnx"))
    wait_for_graph(qtbot, studio)
    studio.window.commands.find_in_graph()
    view = studio.window.stage_area.graph_view
    field = view.bar.findChild(QLineEdit)
    qtbot.keyClicks(field, "relu")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert studio.session.opened.graph.node_op[studio.session.selection.node] == "Relu"


def test_the_inspector_shows_attributes_with_defaults_and_words(
    qtbot: QtBot, open_window: Open, tmp_path: Path
) -> None:
    studio = open_window(save_model(tmp_path / "tiny.onnx"))
    wait_for_graph(qtbot, studio)
    session, panel = studio.session, studio.window.node_panel
    qtbot.waitUntil(lambda: session.docs.get(("onnx", "", "Conv")) is not None, timeout=120_000)
    session.go_to_node(session.opened.graph.node_op.index("Conv"))

    def words() -> str:
        return " ".join(label.text() for label in panel._stack.currentWidget().findChildren(QLabel))

    panel.show_page("attributes")
    assert "pads" in words()
    assert "NOTSET" in words()  # auto_pad's default, which the file leaves out
    panel.show_page("tensors")
    assert "float32 [4, 3, 3, 3]" in words()
    panel.show_page("about")
    assert "convolution" in words()
    session.go_to_node(session.opened.graph.node_op.index("Warp"))
    assert "no standard operator" in words()


def test_partitions_come_first_where_the_graph_shows_them(
    qtbot: QtBot, open_window: Open, tmp_path: Path
) -> None:
    studio = open_window(save_model(tmp_path / "tiny.onnx"))
    wait_for_graph(qtbot, studio)
    session, panel = studio.session, studio.window.node_panel
    session.set_target("ort/nnapi")
    qtbot.waitUntil(lambda: session.verdicts is not None, timeout=60_000)

    def heights() -> tuple[int, int]:
        page = panel._stack.currentWidget().widget()
        page.resize(300, 900)
        page.layout().activate()
        labels = page.findChildren(QLabel)
        facts = next(w for w in labels if w.text() == "Format")
        parts = next(w for w in labels if "partition" in w.text().lower())
        return facts.y(), parts.y()

    facts, parts = heights()
    assert facts < parts
    session.set_overlay("partitions")
    facts, parts = heights()
    assert parts < facts


def test_a_failure_is_shown_copied_and_closed(qtbot: QtBot, open_window: Open, tmp_path: Path) -> None:
    studio = open_window()
    studio.window.files.open_path(tmp_path / "absent.onnx")
    banner = studio.window.banner
    assert banner.isVisible()
    assert "absent.onnx" in banner.failed.message
    banner.copy()
    assert "absent.onnx" in QApplication.clipboard().text()
    banner.close_banner()
    assert not banner.isVisible()


def test_a_broken_model_says_so_in_the_middle(qtbot: QtBot, open_window: Open, tmp_path: Path) -> None:
    path = save_model(tmp_path / "cut.onnx")
    path.write_bytes(path.read_bytes()[:200])
    studio = open_window(path)
    banner, area = studio.window.banner, studio.window.stage_area
    qtbot.waitUntil(lambda: banner.isVisible() or area._message._icon.isVisible(), timeout=120_000)


def test_dropping_a_file_opens_it(qtbot: QtBot, open_window: Open, tmp_path: Path) -> None:
    studio = open_window()
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(save_model(tmp_path / "tiny.onnx")))])
    action, left, none = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    studio.window.dropEvent(QDropEvent(QPoint(5, 5), action, data, left, none))
    wait_for_graph(qtbot, studio)
    assert studio.window.windowTitle().startswith("tiny.onnx")


def test_the_palette_runs_what_was_typed(qtbot: QtBot, open_window: Open) -> None:
    studio = open_window()
    studio.window.show_palette()
    palette = studio.window.findChild(CommandPalette)
    qtbot.keyClicks(palette._field, "about")
    assert match("abut", "About Deployment Studio") is not None
    assert match("xyz", "About Deployment Studio") is None
    palette.reject()


def test_targets_are_chosen_and_undone(qtbot: QtBot, open_window: Open, tmp_path: Path) -> None:
    studio = open_window(save_model(tmp_path / "tiny.onnx"))
    wait_for_graph(qtbot, studio)
    studio.window.commands.choose_targets()
    dialog = studio.window.findChild(TargetDialog)
    dialog._items["litert/cpu"].setCheckState(0, Qt.CheckState.Checked)
    before = studio.session.project.targets
    dialog.accept()
    assert studio.session.project.targets == (*before, "litert/cpu")
    qtbot.waitUntil(lambda: "litert/cpu" in studio.session.opened.verdicts, timeout=120_000)
    studio.session.undo()
    assert studio.session.project.targets == before


def test_both_themes_can_be_worn(qtbot: QtBot, open_window: Open) -> None:
    from msgspec.structs import replace

    from studio.ui import theme

    studio = open_window()
    for choice, is_dark in ((ThemeChoice.DARK, True), (ThemeChoice.LIGHT, False)):
        studio.session.set_preferences(replace(studio.session.preferences, theme=choice))
        assert theme.current().is_dark is is_dark
        assert "@" not in QApplication.instance().styleSheet().split("*/", 1)[1]


def test_another_language_makes_another_window_on_the_same_work(
    qtbot: QtBot, open_window: Open, tmp_path: Path
) -> None:
    from msgspec.structs import replace

    studio = open_window(save_model(tmp_path / "tiny.onnx"))
    wait_for_graph(qtbot, studio)
    first = studio.window
    studio.session.set_preferences(replace(studio.session.preferences, language="zh_CN"))
    qtbot.waitUntil(lambda: studio.window is not first, timeout=60_000)
    assert studio.window.dock_layout.recipe.windowTitle() == "配方"
    assert studio.session.opened is not None
    assert studio.window.stage_area.graph_view is not None
    studio.session.set_preferences(replace(studio.session.preferences, language="en"))
    second = studio.window
    qtbot.waitUntil(lambda: studio.window is not second, timeout=60_000)


def test_layout_is_restored_and_reset(qtbot: QtBot, open_window: Open) -> None:
    studio = open_window()
    window = studio.window
    window.dock_layout.problems.hide()
    window.save_layout()
    again = open_window()
    assert again.window.dock_layout.problems.isHidden()
    again.window.reset_layout()
    assert not again.window.dock_layout.problems.isHidden()
    assert again.window.dock_layout.log.isHidden()


def test_an_uncaught_mistake_is_shown_and_logged(qtbot: QtBot, open_window: Open) -> None:
    from studio.ui.app import ExceptionHook

    studio = open_window()
    try:
        raise ZeroDivisionError("by hand")
    except ZeroDivisionError as error:
        ExceptionHook(studio)(type(error), error, error.__traceback__)
    banner = studio.window.banner
    qtbot.waitUntil(banner.isVisible)
    assert isinstance(banner.failed, Failed)
    assert "by hand" in banner.failed.message
    assert "ZeroDivisionError" in banner.failed.detail


def test_closing_with_unsaved_changes_asks(
    qtbot: QtBot, open_window: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    studio = open_window(save_model(tmp_path / "tiny.onnx"))
    wait_for_graph(qtbot, studio)
    studio.session.edit(lambda p: edit.set_notes(p, "x"), "Notes")
    answers = iter(["cancel", "discard"])
    monkeypatch.setattr("studio.ui.file_commands.ask_to_save", lambda *_: next(answers))
    assert not studio.window.close()
    assert studio.window.close()


def test_every_button_says_what_it_is(qtbot: QtBot, open_window: Open, tmp_path: Path) -> None:
    studio = open_window(save_model(tmp_path / "tiny.onnx"))
    wait_for_graph(qtbot, studio)
    silent = [
        b.objectName()
        for b in studio.window.findChildren(QPushButton)
        if b.isVisible() and not (b.text() or b.accessibleName())
    ]
    assert silent == []


def test_the_palette_shows_no_menu_keys() -> None:
    for title, shown in (("&Open…", "Open…"), ("打开(&O)…", "打开…"), ("Deploy && run", "Deploy & run")):
        assert plain_text(QAction(title)) == shown


def test_a_failure_goes_when_the_same_is_tried_again(qtbot: QtBot, open_window: Open, tmp_path: Path) -> None:
    from studio.jobs.run_recipe import RunRecipe

    studio = open_window(save_model(tmp_path / "m.onnx"))
    session, banner = studio.session, studio.window.banner
    broken = RunRecipe(project=session.project, folder=str(tmp_path / "absent"))
    with qtbot.waitSignal(session.failed, timeout=120_000):
        session.start(broken, title="Run")
    assert banner.isVisible()
    session.cancel(session.start(broken, title="Run"))
    assert not banner.isVisible()
    session.tell(Failed(error="input", message="Something else.", hint=""))
    session.cancel(session.start(broken, title="Run"))
    assert banner.isVisible()


def test_what_runs_already_is_not_offered_again(qtbot: QtBot, open_window: Open, tmp_path: Path) -> None:
    from studio.jobs.run_recipe import RunRecipe
    from studio.recipes.recipe import InputSpec
    from studio.ui.model_source import python_project

    (tmp_path / "net.py").write_text("def build(): ...\n")
    studio = open_window()
    session = studio.session
    project = python_project(tmp_path / "net.py", "build", "", (InputSpec(name="x", shape=(1, 3, 8, 8)),))
    session.open_python(tmp_path / "net.py", project)

    def offered() -> list[str]:
        found = studio.window.stage_area._message.findChildren(QPushButton)
        return [b.text() for b in found if not b.isHidden()]

    qtbot.waitUntil(lambda: "Export now" in offered())
    job_id = session.start(
        RunRecipe(project=project, folder=str(tmp_path / "absent")), title="Run", quiet=True
    )
    assert offered() == []
    with qtbot.waitSignal(session.job_finished, timeout=120_000):
        session.cancel(job_id)
    qtbot.waitUntil(lambda: "Export now" in offered())


def test_a_failed_run_is_marked_in_the_recipe(qtbot: QtBot, open_window: Open, tmp_path: Path) -> None:
    from studio.jobs.run_recipe import RunRecipe

    studio = open_window(save_model(tmp_path / "m.onnx"))
    wait_for_graph(qtbot, studio)
    session = studio.session
    broken = RunRecipe(project=session.project, folder=str(tmp_path / "absent"))
    with qtbot.waitSignal(session.run_finished, timeout=120_000):
        session.run_jobs["this-computer"] = session.start(broken, title="Run")
    row = studio.window.recipe_panel.rows["deploy"]
    assert "failed" in row.accessibleName()
    assert row.accessibleDescription() == session.run_failures["this-computer"].message
