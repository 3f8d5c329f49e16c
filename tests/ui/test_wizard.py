"""The wizard: choices are edits, advice and validation follow them, steps run and can be stopped."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QWizard
from pytestqt.qtbot import QtBot

from studio.artifact import hash_file
from studio.paths import artifacts_dir
from studio.project import DataSet, edit
from studio.recipes.advice import Level
from studio.recipes.recipe import Preprocessing, QuantizeScheme, QuantizeStep, Recipe, VerifyStep
from studio.recipes.shape import convert_step, export_step, quantize_step
from studio.ui import device_jobs
from studio.ui.session import Session
from studio.ui.views.wizard import DeployWizard
from studio.ui.views.wizard.convert_page import ConvertPage
from studio.ui.views.wizard.deploy_page import DeployPage
from studio.ui.views.wizard.export_page import ExportPage
from studio.ui.views.wizard.preprocessing_field import PreprocessingField
from studio.ui.views.wizard.quantize_page import FLOAT, QuantizePage
from studio.ui.views.wizard.step_page import StepPage
from studio.ui.views.wizard.verify_page import VerifyPage
from tests.unit.recipes.recipe_projects import save_arrays, save_convolution

TARGETS = ("ort/cpu", "ort/nnapi", "executorch/xnnpack")
_SLOW_MS = 120_000


@pytest.fixture
def session(qtbot: QtBot) -> Iterator[Session]:
    session = Session()
    yield session
    session.shut_down()


@pytest.fixture
def onnx_session(qtbot: QtBot, session: Session, tmp_path: Path) -> Session:
    """A session on a small ONNX model with data beside it and no recipe."""
    save_arrays(tmp_path / "d.npz")
    with qtbot.waitSignal(session.stage_opened, timeout=_SLOW_MS):
        session.open_path(save_convolution(tmp_path / "m.onnx"))
    session.edit(lambda p: edit.set_recipe(edit.set_targets(p, TARGETS), Recipe()), "start")
    return session


@pytest.fixture
def torch_session(session: Session, tmp_path: Path) -> Session:
    """A session on a Python source that is never run here."""
    from studio.recipes.recipe import InputSpec
    from studio.ui.model_source import python_project

    (tmp_path / "net.py").write_text("def build(): ...\n")
    inputs = (InputSpec(name="x", shape=(1, 3, 8, 8)),)
    session.open_python(tmp_path / "net.py", python_project(tmp_path / "net.py", "build", "", inputs))
    session.edit(lambda p: edit.set_targets(p, TARGETS), "start")
    return session


def open_wizard(qtbot: QtBot, session: Session, kind: str = "") -> DeployWizard:
    wizard = DeployWizard(session, start=kind)
    qtbot.addWidget(wizard)
    wizard.show()
    qtbot.waitExposed(wizard)
    return wizard


def page_of(wizard: DeployWizard, kind: type) -> object:
    return next(wizard.page(i) for i in wizard.pageIds() if isinstance(wizard.page(i), kind))


def name_data(session: Session) -> None:
    session.edit(lambda p: edit.set_calibration(p, DataSet(path="d.npz")), "data")
    session.edit(lambda p: edit.set_evaluation(p, DataSet(path="d.npz")), "data")


def run_page(qtbot: QtBot, page: StepPage) -> None:
    with qtbot.waitSignal(page.strip.finished, timeout=_SLOW_MS):
        qtbot.mouseClick(page.strip.run_button, Qt.MouseButton.LeftButton)


def test_it_starts_where_there_is_something_to_choose(qtbot: QtBot, onnx_session: Session) -> None:
    assert isinstance(open_wizard(qtbot, onnx_session).currentPage(), QuantizePage)
    assert isinstance(open_wizard(qtbot, onnx_session, "deploy").currentPage(), DeployPage)


def test_a_torch_source_starts_at_export(qtbot: QtBot, torch_session: Session) -> None:
    assert isinstance(open_wizard(qtbot, torch_session).currentPage(), ExportPage)


def test_a_click_on_a_step_goes_to_its_page_and_next_to_the_following(
    qtbot: QtBot, onnx_session: Session
) -> None:
    wizard = open_wizard(qtbot, onnx_session)
    qtbot.mouseClick(wizard.steps.rows[2], Qt.MouseButton.LeftButton)
    assert isinstance(wizard.currentPage(), ConvertPage)
    qtbot.mouseClick(wizard.button(QWizard.WizardButton.NextButton), Qt.MouseButton.LeftButton)
    assert isinstance(wizard.currentPage(), VerifyPage)


def test_export_choices_are_edits_that_undo_takes_back(qtbot: QtBot, torch_session: Session) -> None:
    page = page_of(open_wizard(qtbot, torch_session), ExportPage)
    assert isinstance(page, ExportPage)
    page.any_batch.setChecked(True)
    assert torch_session.project is not None
    step = export_step(torch_session.project.recipe)
    assert step is not None and step.dynamic_batch
    advice = {a.target_id: a.level for a in page.advice_panel.shown}
    assert advice["ort/nnapi"] is Level.BAD and advice["ort/cpu"] is Level.GOOD
    torch_session.undo()
    assert not page.any_batch.isChecked()
    assert {a.target_id: a.level for a in page.advice_panel.shown}["ort/nnapi"] is Level.GOOD


def test_an_impossible_export_is_said_and_cannot_be_run(qtbot: QtBot, torch_session: Session) -> None:
    wizard = open_wizard(qtbot, torch_session)
    page = wizard.currentPage()
    assert isinstance(page, ExportPage)
    page.opset.setValue(13)
    page.exporter.setCurrentIndex(1)
    assert "opset 18 at least" in page._problem.text()
    assert not page.strip.run_button.isEnabled()
    assert not wizard.button(QWizard.WizardButton.NextButton).isEnabled()
    page.exporter.setCurrentIndex(0)
    assert wizard.button(QWizard.WizardButton.NextButton).isEnabled()


def test_onnx_has_nothing_to_export(qtbot: QtBot, onnx_session: Session) -> None:
    wizard = open_wizard(qtbot, onnx_session, "export")
    page = wizard.currentPage()
    assert isinstance(page, ExportPage)
    assert page._nothing.text().endswith("Its opset is 18.")
    assert page.strip.isHidden()
    assert wizard.button(QWizard.WizardButton.NextButton).isEnabled()


def test_static_wants_data_and_takes_it(qtbot: QtBot, onnx_session: Session) -> None:
    wizard = open_wizard(qtbot, onnx_session)
    page = wizard.currentPage()
    assert isinstance(page, QuantizePage)
    page.radios["static"].click()
    assert "name a folder" in page._problem.text()
    assert not wizard.button(QWizard.WizardButton.NextButton).isEnabled()
    page.data.path.setText("absent.npz")
    page.data.path.setModified(True)
    page.data.path.editingFinished.emit()
    assert "does not exist" in page._problem.text()
    page.data.path.setText("d.npz")
    page.data.path.editingFinished.emit()
    assert page._problem_row.isHidden()
    assert page.data.summary is not None and page.data.summary.count == 12
    assert wizard.button(QWizard.WizardButton.NextButton).isEnabled()


def test_a_path_outside_the_project_changes_nothing(
    qtbot: QtBot, onnx_session: Session, tmp_path_factory: pytest.TempPathFactory
) -> None:
    seen: list[str] = []
    onnx_session.failed.connect(lambda failed: seen.append(failed.message))
    page = page_of(open_wizard(qtbot, onnx_session), QuantizePage)
    assert isinstance(page, QuantizePage)
    page.data._take_absolute(str(tmp_path_factory.mktemp("elsewhere")))
    assert "outside the project's folder" in seen[0]
    assert onnx_session.project is not None and onnx_session.project.calibration is None


def test_schemes_are_edits_with_their_advice(qtbot: QtBot, onnx_session: Session) -> None:
    page = open_wizard(qtbot, onnx_session).currentPage()
    assert isinstance(page, QuantizePage)
    page.radios["dynamic"].click()
    assert onnx_session.project is not None
    step = quantize_step(onnx_session.project.recipe)
    assert step is not None and step.scheme is QuantizeScheme.DYNAMIC
    advice = {a.target_id: a for a in page.advice_panel.shown}
    assert advice["ort/cpu"].level is Level.WARN and "convolutions" in advice["ort/cpu"].text
    page.radios[FLOAT].click()
    assert quantize_step(onnx_session.project.recipe) is None


def test_a_preset_takes_what_suits_the_targets(qtbot: QtBot, onnx_session: Session) -> None:
    name_data(onnx_session)
    page = page_of(open_wizard(qtbot, onnx_session), QuantizePage)
    assert isinstance(page, QuantizePage)
    page._on_preset(0)
    assert onnx_session.project is not None
    step = quantize_step(onnx_session.project.recipe)
    assert step is not None and step.scheme is QuantizeScheme.STATIC
    assert page.preset.currentText() == "For all my targets"


def test_formats_that_cannot_be_made_say_why(qtbot: QtBot, onnx_session: Session) -> None:
    page = page_of(open_wizard(qtbot, onnx_session), ConvertPage)
    assert isinstance(page, ConvertPage)
    assert not page.cards["tflite"].check.isEnabled()
    assert "torch source" in page.cards["tflite"]._why.text()
    page.cards["ort"].check.setChecked(True)
    assert onnx_session.project is not None
    assert convert_step(onnx_session.project.recipe, "ort") is not None
    page.cards["ort"].check.setChecked(False)
    assert convert_step(onnx_session.project.recipe, "ort") is None


def test_a_pte_can_keep_its_etrecord(qtbot: QtBot, torch_session: Session) -> None:
    page = page_of(open_wizard(qtbot, torch_session), ConvertPage)
    assert isinstance(page, ConvertPage)
    card = page.cards["pte"]
    if not card.is_wanted:
        card.check.setChecked(True)
    project = torch_session.project
    assert project is not None and not convert_step(project.recipe, "pte").etrecord
    assert page.cards["ort"].record.parent() is None or page.cards["ort"].record.isHidden()
    qtbot.mouseClick(card.record, Qt.MouseButton.LeftButton, pos=QPoint(8, card.record.height() // 2))
    assert convert_step(torch_session.project.recipe, "pte").etrecord
    torch_session.undo()
    assert not card.keeps_record


def test_an_accuracy_budget_needs_labels(qtbot: QtBot, onnx_session: Session, tmp_path: Path) -> None:
    name_data(onnx_session)
    step = QuantizeStep(id="quantize", after="source", samples=8)
    onnx_session.edit(lambda p: edit.set_recipe(p, Recipe(steps=(step,))), "quantize")
    save_arrays(tmp_path / "no-labels.npz", labels=False)
    wizard = open_wizard(qtbot, onnx_session, "verify")
    page = wizard.currentPage()
    assert isinstance(page, VerifyPage)
    page.limits_loss.setChecked(True)
    assert page._problem_row.isHidden()
    onnx_session.edit(lambda p: edit.set_evaluation(p, DataSet(path="no-labels.npz")), "data")
    assert "needs labels" in page._problem.text()
    assert not page.strip.run_button.isEnabled()


def test_steps_run_show_what_they_made_and_go_stale(qtbot: QtBot, onnx_session: Session) -> None:
    name_data(onnx_session)
    wizard = open_wizard(qtbot, onnx_session)
    page = wizard.currentPage()
    assert isinstance(page, QuantizePage)
    page.radios["static"].click()
    assert page.strip.run_button.property("role") == "primary"
    run_page(qtbot, page)
    assert "5 of 5 nodes in fewer bits" in page.strip.status or "4 of 4" in page.strip.status
    assert wizard.button(QWizard.WizardButton.NextButton).property("role") == "primary"
    page.per_channel.setChecked(False)
    assert "changed since" in page.strip.status
    assert page.strip.run_button.property("role") == "primary"


def test_the_whole_way_to_a_run_on_this_computer(qtbot: QtBot, onnx_session: Session) -> None:
    name_data(onnx_session)
    step = QuantizeStep(id="quantize", after="source", samples=8)
    onnx_session.edit(lambda p: edit.set_recipe(p, Recipe(steps=(step,))), "quantize")
    wizard = open_wizard(qtbot, onnx_session, "convert")
    convert = wizard.currentPage()
    assert isinstance(convert, ConvertPage)
    convert.cards["ort"].check.setChecked(True)
    wizard.next()
    verify = wizard.currentPage()
    assert isinstance(verify, VerifyPage)
    verify.limits_snr.setChecked(True)
    verify.snr.setValue(15)
    verify.snr.editingFinished.emit()
    run_page(qtbot, verify)
    assert verify.table.rowCount() == 1
    assert verify.table.item(0, 6).text() == "yes"
    verify.snr.setValue(150)
    verify.snr.editingFinished.emit()
    assert verify.table.item(0, 6).text() == "no"  # judged anew without running anew
    wizard.next()
    deploy = wizard.currentPage()
    assert isinstance(deploy, DeployPage)
    device_jobs.watch_devices(onnx_session)
    qtbot.waitUntil(lambda: deploy.run_button.isEnabled(), timeout=_SLOW_MS)
    with qtbot.waitSignal(onnx_session.run_finished, timeout=_SLOW_MS):
        qtbot.mouseClick(deploy.run_button, Qt.MouseButton.LeftButton)
    result = onnx_session.last_results[deploy.device_id]
    assert result.target_ran == "ort/cpu" and result.latency_ms is not None
    assert result.error is not None
    qtbot.waitUntil(lambda: deploy._figures.rowCount() > 2)
    assert deploy.is_done and deploy.run_button.property("role") == ""
    shown = [text.text() for text in deploy.findChildren(QLabel)]
    assert any(text.startswith("ort · .ort") for text in shown)
    deploy.stage.setCurrentIndex(deploy.stage.findData("source"))
    assert not deploy.is_done and deploy.run_button.property("role") == "primary"


def test_cancel_stops_the_step_and_leaves_nothing_half_made(qtbot: QtBot, onnx_session: Session) -> None:
    page = open_wizard(qtbot, onnx_session).currentPage()
    assert isinstance(page, QuantizePage)
    page.radios["float16"].click()
    with qtbot.waitSignal(page.strip.finished, timeout=_SLOW_MS):
        qtbot.mouseClick(page.strip.run_button, Qt.MouseButton.LeftButton)
        qtbot.mouseClick(page.strip.cancel_button, Qt.MouseButton.LeftButton)
    stage = onnx_session.stage("quantize")
    assert stage is not None
    if stage.artifact is not None:  # the step was quicker than the hand: then it is whole
        assert hash_file(Path(stage.artifact.path)) == stage.artifact.sha256
    assert list(artifacts_dir().rglob("*.partial*")) == []
    assert page.strip.banner.isHidden()
    assert page.strip.run_button.isEnabled()


def test_a_failed_step_says_so_on_its_page(qtbot: QtBot, onnx_session: Session, tmp_path: Path) -> None:
    import numpy as np

    np.savez(tmp_path / "d.npz", inputs=np.zeros((4, 3, 9, 9), np.float32))
    name_data(onnx_session)
    page = open_wizard(qtbot, onnx_session).currentPage()
    assert isinstance(page, QuantizePage)
    page.radios["static"].click()
    run_page(qtbot, page)
    assert page.strip.banner.failed is not None
    assert "1×3×9×9" in page.strip.banner.failed.message


def test_every_result_gets_a_comparison(qtbot: QtBot, torch_session: Session) -> None:
    torch_session.edit(
        lambda p: edit.set_recipe(
            p, Recipe(steps=tuple(s for s in p.recipe.steps if not isinstance(s, VerifyStep)))
        ),
        "none",
    )
    wizard = open_wizard(qtbot, torch_session, "verify")
    page = wizard.currentPage()
    assert isinstance(page, VerifyPage)
    assert page.table.rowCount() == len(page.step_ids()) > 0


def test_a_field_that_was_only_left_changes_no_budget(qtbot: QtBot, torch_session: Session) -> None:
    page = open_wizard(qtbot, torch_session, "verify").currentPage()
    assert isinstance(page, VerifyPage) and torch_session.project is not None
    steps = list(torch_session.project.recipe.steps)
    verified = [n for n, s in enumerate(steps) if isinstance(s, VerifyStep)]
    for n in verified:  # finer than the form shows, and every result its own
        steps[n] = replace(steps[n], min_snr_db=30.4 + n, max_accuracy_loss=0.01234)
    torch_session.edit(lambda p: edit.set_recipe(p, Recipe(steps=tuple(steps))), "by hand")
    before = torch_session.project
    for field in (page.samples, page.loss, page.snr):
        field.editingFinished.emit()  # what leaving a field does
    assert len(verified) > 1 and torch_session.project == before
    page.snr.setValue(50)
    page.snr.editingFinished.emit()
    budgets = {s.min_snr_db for s in torch_session.project.recipe.steps if isinstance(s, VerifyStep)}
    assert budgets == {50}


def test_numbers_of_preprocessing_keep_their_digits_when_left(qtbot: QtBot) -> None:
    field = PreprocessingField()
    qtbot.addWidget(field)
    told: list[Preprocessing] = []
    field.changed.connect(told.append)
    field.show_preprocessing(Preprocessing(mean=(0.123456789,), std=(0.3,)))
    field.mean.editingFinished.emit()
    assert told == []
    field.std.setText("0.5")
    field.std.editingFinished.emit()
    assert told[-1].mean == (0.123456789,) and told[-1].std == (0.5,)


def test_data_that_was_put_back_is_seen_when_one_comes_back(
    qtbot: QtBot, onnx_session: Session, tmp_path: Path
) -> None:
    name_data(onnx_session)
    (tmp_path / "d.npz").rename(tmp_path / "away.npz")
    wizard = open_wizard(qtbot, onnx_session, "quantize")
    page = wizard.currentPage()
    assert isinstance(page, QuantizePage)
    page.radios["static"].click()
    assert page.data.problem and not page.strip.run_button.isEnabled()
    (tmp_path / "away.npz").rename(tmp_path / "d.npz")
    QApplication.sendEvent(wizard, QEvent(QEvent.Type.WindowActivate))
    assert not page.data.problem and page.strip.run_button.isEnabled()


def test_letters_are_unique_on_every_page(qtbot: QtBot, torch_session: Session) -> None:
    wizard = open_wizard(qtbot, torch_session)
    close, back, forward, finish = wizard.buttons_below()
    for number in wizard.pageIds():
        page = wizard.page(number)
        end = finish if number == wizard.pageIds()[-1] else forward
        labels = [x for x in page.findChildren(QLabel) if x.buddy() is not None]
        texts = [x.text() for x in (*page.findChildren(QAbstractButton), *labels, close, back, end)]
        letters = re.findall(r"&([^&])", " ".join(texts).replace("&&", "").lower())
        assert len(set(letters)) == len(letters), (number, letters)


def test_tab_goes_from_the_list_of_pages_through_the_page_to_the_buttons(
    qtbot: QtBot, torch_session: Session
) -> None:
    wizard = open_wizard(qtbot, torch_session)
    seen = []
    for _ in range(60):
        assert wizard.focusNextPrevChild(True)
        if wizard.focusWidget() in seen:
            break
        seen.append(wizard.focusWidget())
    page = wizard.currentPage()
    assert isinstance(page, ExportPage)
    order = [seen.index(x) for x in (page.opset, page.exporter, page.any_batch, page.strip.run_button)]
    first = seen.index(wizard.steps.rows[0])
    around = [(n - first) % len(seen) for n in (first, *order, seen.index(wizard.buttons_below()[2]))]
    assert around == sorted(around)
