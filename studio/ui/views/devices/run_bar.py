"""The bar above the curves: what will run where and how, the button that starts or stops it, and
the figures so far."""

from __future__ import annotations

import msgspec
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QDoubleSpinBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSpinBox,
    QWidget,
)

from studio.devices import DeviceInfo, DeviceState, RunMode, RunSettings
from studio.devices.registry import runnable_targets
from studio.measure import LatencyStats
from studio.measure.live import LiveRun
from studio.targets import TARGETS, Target
from studio.ui.domain_texts import translate_sentence
from studio.ui.runnable import can_ever_run, format_of, runnable_stages
from studio.ui.session import Session
from studio.ui.stages import OTHER, Stage
from studio.ui.texts import fill
from studio.ui.views.devices.made_for import made_for


class RunBar(QFrame):
    """`run_requested(stage id, RunSettings)` and `stop_requested` are wishes; the session acts."""

    run_requested = Signal(str, object)
    stop_requested = Signal()
    follow_requested = Signal()

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("Bar")
        self._session = session
        self._device: DeviceInfo | None = None
        self._is_running = False
        self._target_chosen_for = ""
        """The stage that a person chose the target for, "" when nobody did."""
        self.why_not = ""
        """Why nothing can be run now, "" when it can."""

        self._button = QPushButton()
        self._button.setProperty("role", "primary")
        self._button.setObjectName("RunButton")
        self._button.clicked.connect(self._on_button)
        self._stage = self._combo(self.tr("Artifact"))
        self._target = self._combo(self.tr("Target"))
        self._threads = QSpinBox()
        self._threads.lineEdit().setTextMargins(5, 0, 0, 0)
        self._threads.setRange(1, 64)
        self._threads.setMaximumWidth(112)
        self._threads.setAccessibleName(self.tr("Threads"))
        self._threads.setToolTip(self.tr("How many threads the runtime may use"))
        self._mode = self._combo(self.tr("Mode"))
        for mode, text, tip in (
            (RunMode.BURST, self.tr("burst"), self.tr("As fast as it goes, for a few seconds")),
            (RunMode.SUSTAINED, self.tr("sustained"), self.tr("For minutes, to see it grow hot and slow")),
            (RunMode.CADENCE, self.tr("cadence"), self.tr("At a fixed rate with idle gaps, as an app does")),
        ):
            self._mode.addItem(text, mode)
            self._mode.setItemData(self._mode.count() - 1, tip, Qt.ItemDataRole.ToolTipRole)
        self._seconds = QDoubleSpinBox()
        self._seconds.lineEdit().setTextMargins(5, 0, 0, 0)
        self._seconds.setRange(1.0, 36_000.0)
        self._seconds.setDecimals(0)
        self._seconds.setSuffix(" s")
        self._seconds.setMaximumWidth(96)
        self._seconds.setAccessibleName(self.tr("Seconds"))
        self._seconds.setToolTip(self.tr("How long to measure at least"))
        self._figures = QLabel()
        self._figures.setTextFormat(Qt.TextFormat.RichText)
        self._drift = QLabel()
        self._drift.setProperty("role", "warn")
        self._follow = QPushButton(self.tr("Follow"))
        self._follow.setProperty("role", "link")
        self._follow.setToolTip(self.tr("Go with the newest moment again"))
        self._follow.clicked.connect(self.follow_requested)
        self._follow.hide()

        row = QHBoxLayout(self)
        row.setContentsMargins(12, 6, 12, 6)
        row.setSpacing(8)
        row.addWidget(self._button)
        for widget in (self._stage, self._target, self._threads):
            row.addWidget(widget)
        row.addWidget(self._mode)
        row.addWidget(self._seconds)
        row.addStretch(1)
        row.addWidget(self._follow)
        row.addWidget(self._figures)
        row.addWidget(self._drift)

        self._stage.currentIndexChanged.connect(lambda *_: self._refresh_targets())
        self._target.activated.connect(self._keep_target)
        self._threads.valueChanged.connect(self._name_threads)
        self._mode.currentIndexChanged.connect(lambda *_: self._on_mode())
        session.stages_changed.connect(self.refresh)
        session.current_stage_changed.connect(self._follow_stage)
        session.project_opened.connect(self._take_settings)
        self._take_settings()

    def set_device(self, info: DeviceInfo | None, *, is_running: bool) -> None:
        """Which device the bar speaks of, and whether something runs there."""
        self._device, self._is_running = info, is_running
        self.refresh()

    def refresh(self) -> None:
        """Shows what can be run now."""
        chosen = self._stage.currentData()
        stages = runnable_stages(self._session.stages)
        self._stage.blockSignals(True)
        self._stage.clear()
        for stage in stages:
            self._stage.addItem(stage_title(stage), stage.id)
        ids = [stage.id for stage in stages]
        if ids:
            self._stage.setCurrentIndex(ids.index(chosen) if chosen in ids else len(ids) - 1)
        self._stage.blockSignals(False)
        self._refresh_targets()

    def show_figures(self, run: LiveRun | None, final: LatencyStats | None = None) -> None:
        """p50 and p90 so far, or those of the whole run once it is over; the drift since minute 1."""
        figures = run.figures() if run else None
        if figures is None:
            self._figures.clear()
            self._drift.clear()
            return
        # A fast run tells the window only a part of its inferences; the result counts all of them.
        n, p50, p90 = (
            (final.n, final.p50, final.p90) if final else (figures.n, figures.p50_ms, figures.p90_ms)
        )
        counted = fill(self.tr("n {n}"), n=f"{n:,}")
        self._figures.setText(f"<b>p50 {_ms(p50)}</b> &nbsp; p90 {_ms(p90)} ms &nbsp; {counted}")
        drift = figures.drift_percent
        self._drift.setText(
            fill(self.tr("{drift} % since minute 1"), drift=f"{drift:+.0f}")
            if drift is not None and abs(drift) >= 1
            else ""
        )

    def show_following(self, is_following: bool) -> None:
        """Offers to go with the newest moment when the view does not."""
        self._follow.setVisible(not is_following)

    def settings(self) -> RunSettings:
        """The settings as they stand in the bar."""
        project = self._session.project
        base = project.run_settings if project else RunSettings(target="ort/cpu")
        seconds = self._seconds.value()
        return msgspec.structs.replace(
            base,
            target=self._target.currentData() or base.target,
            threads=self._threads.value(),
            mode=RunMode(self._mode.currentData()),  # Qt keeps the text of an enum
            seconds=seconds,
            interval_ms=base.interval_ms or (100.0 if self._mode.currentData() == RunMode.CADENCE else 0.0),
            sample_hz=base.sample_hz,
        )

    # Inside

    def _follow_stage(self, stage_id: str) -> None:
        """What is looked at is what will be deployed, unless it runs nowhere or a run is on."""
        index = self._stage.findData(stage_id)
        if index >= 0 and not self._is_running:
            self._stage.setCurrentIndex(index)

    def _keep_target(self, _index: int) -> None:
        self._target_chosen_for = str(self._stage.currentData() or "")

    def _combo(self, name: str) -> QComboBox:
        combo = QComboBox()
        combo.setAccessibleName(name)
        combo.setToolTip(name)
        combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        return combo

    def _take_settings(self) -> None:
        project = self._session.project
        settings = project.run_settings if project else RunSettings(target="ort/cpu", seconds=5.0)
        self._threads.setValue(settings.threads)
        self._name_threads(settings.threads)
        self._mode.setCurrentIndex(list(RunMode).index(settings.mode))
        self._seconds.setValue(max(settings.seconds, 5.0))
        self.refresh()

    def _name_threads(self, count: int) -> None:
        self._threads.setSuffix(" " + (self.tr("thread") if count == 1 else self.tr("threads")))

    def _on_mode(self) -> None:
        if self._mode.currentData() == RunMode.SUSTAINED and self._seconds.value() < 60:
            self._seconds.setValue(300)

    def _refresh_targets(self) -> None:
        chosen = self._target.currentData()
        stage = self._session.stage(self._stage.currentData() or "")
        targets = targets_for(format_of(stage), self._device) if stage else []
        self._target.clear()
        for target in targets:
            self._target.addItem(target.title, target.id)
        ids = [target.id for target in targets]
        stage_id = stage.id if stage else ""
        if stage_id != self._target_chosen_for:
            self._target_chosen_for = ""
        made = made_for(self._session, stage_id)
        is_kept = chosen in ids and (bool(self._target_chosen_for) or made not in ids)
        wanted = chosen if is_kept else made or self._session.target_id
        if wanted in ids:
            self._target.setCurrentIndex(ids.index(wanted))
        self._refresh_button()

    def _refresh_button(self) -> None:
        device = self._device
        if self._is_running:
            self._button.setText(self.tr("Stop"))
            self._button.setToolTip(self.tr("Stop the run; what was measured is kept"))
            self._button.setEnabled(True)
            for widget in (self._stage, self._target, self._threads, self._mode, self._seconds):
                widget.setEnabled(False)
            return
        for widget in (self._stage, self._target, self._threads, self._mode, self._seconds):
            widget.setEnabled(self._stage.count() > 0)
            widget.setVisible(self._stage.count() > 0)  # an empty list says nothing
        self._button.setText(self.tr("Deploy && run"))
        if device is None:
            why = self.tr("Choose a device first")
        elif device.state is not DeviceState.READY:
            why = translate_sentence(device.state_hint)
        elif (
            not self._stage.count() and self._session.project is not None and not can_ever_run(self._session)
        ):
            why = self.tr("No runtime loads this file: there is nothing to deploy")
        elif not self._stage.count():
            why = self.tr("Open a model or run the recipe first: there is nothing to deploy yet")
        elif not self._target.count():
            why = self.tr("This device has no runtime for this artifact")
        else:
            why = ""
        self.why_not = why
        self._button.setEnabled(not why)
        self._button.setToolTip(why or self.tr("Push the artifact to the device and measure it live"))

    def _on_button(self) -> None:
        if self._is_running:
            self.stop_requested.emit()
        elif self._stage.currentData():
            self.run_requested.emit(self._stage.currentData(), self.settings())


def targets_for(file_format: str, device: DeviceInfo | None) -> list[Target]:
    """The targets that load the file and that the device has a runner for."""
    if device is None:
        return []
    return [TARGETS[t] for t in runnable_targets(device.kind) if file_format in TARGETS[t].formats]


def stage_title(stage: Stage) -> str:
    """What the list of artifacts says of a stage: its step and format, or the file opened beside."""
    if stage.kind == OTHER and stage.path is not None:
        return stage.path.name
    file_format = format_of(stage)
    return f"{stage.id} · .{file_format}" if file_format else stage.id


def _ms(value: float) -> str:
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"
