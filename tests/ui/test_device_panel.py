"""The device panel: who is there, what can be run, what the curves show."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from studio.devices import DeviceInfo, DeviceKind, DeviceState, Inference, RunSettings, Sample, Summary
from studio.measure.live import LiveRun
from studio.project import Project, SourceModel
from studio.project.edit import History
from studio.recipes.recipe import ConvertStep, Recipe
from studio.ui.session import Session
from studio.ui.stages import OTHER, Stage, StageStatus
from studio.ui.views.devices import DevicePanel
from studio.ui.views.devices.device_list import STATE_WORDS
from studio.ui.views.devices.run_bar import stage_title, targets_for

COMPUTER = DeviceInfo(
    id="this-computer", kind=DeviceKind.THIS_COMPUTER, name="This computer", state=DeviceState.READY
)
LOCKED = DeviceInfo(
    id="R5",
    kind=DeviceKind.ANDROID,
    name="SM-S926B",
    state=DeviceState.UNAUTHORIZED,
    state_hint="Accept the prompt on the phone.",
)


@pytest.fixture
def session(qtbot: QtBot) -> Session:
    session = Session()
    session.devices = (COMPUTER, LOCKED)
    session.stages = [
        Stage(id="source", kind="source", path=Path("model.onnx"), status=StageStatus.MADE),
        Stage(id="tflite", kind="convert", path=Path("model.tflite"), status=StageStatus.MADE),
    ]
    return session


@pytest.fixture
def panel(qtbot: QtBot, session: Session) -> DevicePanel:
    panel = DevicePanel(session)
    qtbot.addWidget(panel)
    panel.resize(1200, 260)
    panel.show()
    return panel


def button(panel: DevicePanel) -> QPushButton:
    return panel.bar._button


def test_a_click_wishes_a_run_of_the_chosen_artifact(qtbot: QtBot, panel: DevicePanel) -> None:
    with qtbot.waitSignal(panel.run_requested) as asked:
        qtbot.mouseClick(button(panel), Qt.MouseButton.LeftButton)
    device_id, stage_id, settings = asked.args
    assert (device_id, stage_id) == ("this-computer", "tflite")
    assert isinstance(settings, RunSettings)
    assert settings.target == "litert/cpu"


def test_an_unauthorised_phone_says_what_to_do_and_cannot_be_run_on(panel: DevicePanel) -> None:
    panel.devices.select("R5")
    assert not button(panel).isEnabled()
    assert button(panel).toolTip() == "Accept the prompt on the phone."
    assert "Accept the prompt" in panel._teach.text()


def test_while_it_runs_the_button_stops(qtbot: QtBot, session: Session, panel: DevicePanel) -> None:
    session.live["this-computer"] = LiveRun("this-computer")
    session.run_jobs["this-computer"] = "job"
    session.run_started.emit("this-computer", "job")
    assert button(panel).text() == "Stop"
    with qtbot.waitSignal(panel.stop_requested):
        qtbot.mouseClick(button(panel), Qt.MouseButton.LeftButton)


def test_curves_grow_with_the_records(qtbot: QtBot, session: Session, panel: DevicePanel) -> None:
    run = session.live["this-computer"] = LiveRun("this-computer")
    session.run_jobs["this-computer"] = "job"
    session.run_started.emit("this-computer", "job")
    view = panel.live_view
    assert view is not None
    for i in range(50):
        run.add(Inference(i=i, t_ns=i * 20_000_000, latency_ns=12_000_000))
    run.add(Sample(t_ns=2_000_000_000, unavailable={"temperature": "no sensor is readable"}))
    qtbot.waitUntil(lambda: "12.0" in view._latency._readout.text(), timeout=3000)
    times, values = view._latency._curves[0][1].getData()
    assert len(times) == 50 and set(values) == {12.0}
    assert "no sensor is readable" in view._temperature._empty.text()


def test_dragging_holds_the_picture_until_follow_is_pressed(
    qtbot: QtBot, session: Session, panel: DevicePanel
) -> None:
    session.live["this-computer"] = LiveRun("this-computer")
    session.run_started.emit("this-computer", "job")
    view = panel.live_view
    assert view is not None and view.is_following
    view._latency.range_dragged.emit(1.0, 2.0)
    assert not view.is_following
    assert panel.bar._follow.isVisible()
    qtbot.mouseClick(panel.bar._follow, Qt.MouseButton.LeftButton)
    assert view.is_following


def test_only_targets_that_the_device_can_run_are_offered() -> None:
    assert [t.id for t in targets_for("onnx", COMPUTER)] == ["ort/cpu"]
    assert [t.id for t in targets_for("tflite", COMPUTER)] == ["litert/cpu"]
    assert [t.id for t in targets_for("tflite", LOCKED)] == ["litert/cpu", "litert/gpu", "litert/nnapi"]
    assert targets_for("dla", LOCKED) == []


def test_a_runner_that_tells_phases_only_gets_words_and_no_curve(
    qtbot: QtBot, session: Session, panel: DevicePanel
) -> None:
    run = session.live["this-computer"] = LiveRun("this-computer")
    session.run_jobs["this-computer"] = "job"
    session.run_started.emit("this-computer", "job")
    run.add(Summary(t_ns=1, name="measure", count=50, mean_ns=12.5e6, min_ns=11e6, max_ns=20e6))
    view = panel.live_view
    assert view is not None
    qtbot.waitUntil(lambda: "12.5" in view._latency._empty.text(), timeout=3000)
    assert not view._latency._curves


def test_the_stage_that_is_looked_at_is_the_one_to_deploy(session: Session, panel: DevicePanel) -> None:
    session.current_stage_changed.emit("source")
    assert panel.bar._stage.currentData() == "source"
    session.current_stage_changed.emit("verify")  # leaves no file: the choice stays
    assert panel.bar._stage.currentData() == "source"


def test_a_conversion_is_offered_on_the_target_it_was_made_for(session: Session, panel: DevicePanel) -> None:
    step = ConvertStep(id="pte", after="source", format="pte", target="executorch/xnnpack")
    project = Project(
        name="net", source=SourceModel(path="net.pt2"), targets=("ort/cpu",),
        recipe=Recipe(steps=(step,)), run_settings=RunSettings(target="ort/cpu"),
    )  # fmt: skip
    session.history = History.start(project)
    session.stages.append(Stage(id="pte", kind="convert", path=Path("net.pte"), status=StageStatus.MADE))
    session.stages_changed.emit()
    session.current_stage_changed.emit("pte")
    target = panel.bar._target
    assert target.currentData() == "executorch/xnnpack"
    target.setCurrentIndex(target.findData("executorch/portable"))
    target.activated.emit(target.currentIndex())
    session.stages_changed.emit()
    assert target.currentData() == "executorch/portable"  # a person's choice stays


def test_a_file_opened_beside_goes_by_its_name() -> None:
    path = Path("/models/net-int8.onnx")
    beside = Stage(id=f"{OTHER}:{path}", kind=OTHER, path=path, status=StageStatus.MADE)
    assert stage_title(beside) == "net-int8.onnx"


def test_before_a_run_the_panel_is_low_and_says_what_to_do(session: Session, panel: DevicePanel) -> None:
    low = panel.wanted_height()
    assert low <= 150
    assert panel._virtual.isHidden()  # a phone is there already
    session.stages = []
    session.devices = (COMPUTER,)
    session.devices_changed.emit()
    panel.bar.refresh()
    panel.refresh()
    assert panel._virtual.isVisible()
    assert not panel.bar._stage.isVisible()  # an empty list is no choice
    session.live["this-computer"] = LiveRun("this-computer")
    assert panel.wanted_height() > low


def test_a_curve_among_others_is_named_at_its_end(qtbot: QtBot, session: Session, panel: DevicePanel) -> None:
    run = session.live["this-computer"] = LiveRun("this-computer")
    for second in range(4):
        heat = {"skin": 30.0 + second, "cpu": 40.0 + 5 * second}
        run.add(Sample(t_ns=second * 10**9, temperature_celsius=heat))
    panel.refresh()
    live = panel.live_view
    assert live is not None
    qtbot.waitUntil(lambda: live._temperature._plot.isVisible())
    live.refresh()
    assert live._temperature._names.shown == ["cpu", "skin"]
    assert "cpu" in live._temperature._readout.text()  # the hottest one is told when there is room for one


def test_every_state_of_a_device_has_a_word() -> None:
    assert set(STATE_WORDS) == set(DeviceState)
