"""Story: open the digits model, walk the wizard, run on this computer, see live curves, save, reopen."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QPushButton, QWizard
from pytestqt.qtbot import QtBot

from studio.paths import resources
from studio.project import edit
from studio.project.store import load_project, save_project
from studio.recipes.recipe import Recipe

MINUTES = 60_000


def copy_of_sample(folder: Path) -> Path:
    """The sample with its ONNX Runtime steps only: the other runtimes have tests of their own."""
    shutil.copytree(resources() / "sample", folder)
    path = folder / "digits.studio"
    project = load_project(path)
    steps = tuple(s for s in project.recipe.steps if s.id in ("export", "quantize", "ort", "verify-ort"))
    save_project(edit.set_recipe(project, Recipe(steps=steps)), path)
    return path


def click(qtbot: QtBot, button: QPushButton) -> None:
    qtbot.waitUntil(lambda: button.isEnabled() and button.isVisible(), timeout=MINUTES)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def test_from_python_to_curves_and_back(qtbot: QtBot, play: Any, tmp_path: Path) -> None:
    path = copy_of_sample(tmp_path / "digits")

    def act(window: Any) -> None:
        session = window.session
        qtbot.waitUntil(lambda: window.recipe_panel.rows != {}, timeout=MINUTES)
        click(qtbot, window.findChild(QPushButton, "NextStep"))
        qtbot.waitUntil(lambda: window.findChild(QWizard) is not None)
        wizard = window.findChild(QWizard)

        # Export: Python has to be trusted first, by a click of its own.
        click(qtbot, wizard.currentPage().findChild(QPushButton, "RunStep"))
        qtbot.waitUntil(lambda: dialog_named(window, "TrustDialog") is not None, timeout=MINUTES)
        trust = dialog_named(window, "TrustDialog")
        click(qtbot, next(b for b in trust.findChildren(QPushButton) if b.text() == "Trust and run"))
        qtbot.waitUntil(lambda: made(session, "export"), timeout=5 * MINUTES)

        for step in ("quantize", "ort", "verify-ort"):
            click(qtbot, wizard.button(QWizard.WizardButton.NextButton))
            click(qtbot, wizard.currentPage().findChild(QPushButton, "RunStep"))
            qtbot.waitUntil(lambda s=step: made(session, s), timeout=5 * MINUTES)
        figures = session.step_results["verify-ort"].figures
        assert figures.accuracy >= figures.reference_accuracy - 0.01
        wizard.close()

        # The exported graph is in the middle, coloured.
        session.set_current_stage("export")
        qtbot.waitUntil(lambda: session.opened is not None, timeout=MINUTES)
        assert window.stage_area.graph_view.canvas.overlay is not None

        click(qtbot, window.device_panel.bar.findChild(QPushButton, "RunButton"))
        qtbot.waitUntil(lambda: bool(session.last_results), timeout=5 * MINUTES)
        result = session.last_results["this-computer"]
        assert result.latency_ms.n > 0
        assert result.error is not None  # no speed without its error
        live = session.live["this-computer"]
        assert live.series["latency"].count > 0
        assert window.device_panel.live_view.isVisible()
        assert Path(result.run_file).parent == path.with_suffix(".runs")

        window._menus.actions["file.save"][1].trigger()
        assert not session.is_modified
        saved = session.project
        window.files.open_path(path)
        assert session.project == saved
        qtbot.waitUntil(lambda: made(session, "ort"), timeout=MINUTES)  # found by hash, not made again
        assert session.stage("ort").was_cached
        qtbot.mouseClick(window.recipe_panel.rows["quantize"], Qt.MouseButton.LeftButton, pos=QPoint(20, 8))
        qtbot.waitUntil(lambda: session.opened is not None, timeout=MINUTES)
        assert session.current_stage_id == "quantize"

    assert play([str(path)], act) == 0


def made(session: Any, step_id: str) -> bool:
    stage = session.stage(step_id)
    running = any(j.kind in ("run_recipe", "find_artifacts") and not j.is_over for j in session.jobs)
    return stage is not None and stage.artifact is not None and not running


def dialog_named(window: Any, name: str) -> Any:
    tops = (*QApplication.topLevelWidgets(), *window.findChildren(object))
    return next((w for w in tops if type(w).__name__ == name and w.isVisible()), None)
