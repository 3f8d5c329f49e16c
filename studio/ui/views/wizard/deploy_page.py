"""DeployPage: which result runs on which device, and what came out."""

from __future__ import annotations

from msgspec.structs import replace
from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QComboBox, QFormLayout, QHBoxLayout, QVBoxLayout, QWizardPage

from studio.devices import DeviceState, RunMode, RunSettings
from studio.jobs.deploy import DeployResult
from studio.recipes.recipe import SOURCE
from studio.targets import TARGETS
from studio.ui import device_jobs, recipe_jobs
from studio.ui.domain_texts import translate_sentence
from studio.ui.icons import icon
from studio.ui.runnable import format_of, runnable_stages
from studio.ui.session import Session
from studio.ui.texts import fill
from studio.ui.views.devices.made_for import made_for
from studio.ui.views.devices.run_bar import stage_title, targets_for
from studio.ui.views.step_texts import seconds_text
from studio.ui.views.wizard.fields import choice_box, number_box
from studio.ui.views.wizard.made_text import accuracy_text, progress_text, snr_text
from studio.ui.widgets.banner import Banner
from studio.ui.widgets.parts import button, hairline, label, set_role

_LIVE_MS = 200


class DeployPage(QWizardPage):
    """Starts the same runs as the device panel, which shows their curves."""

    kind = "deploy"
    done_changed = Signal(bool)
    """Whether what is chosen has been run: Finish is then what to press."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._shown: DeployResult | None = None
        self._is_chosen = False
        self.is_done = False
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(_LIVE_MS)
        self._pause.timeout.connect(self._refresh_state)
        self.setAccessibleName(self.tr("Deploy"))
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 16, 20, 8)
        column.setSpacing(12)
        column.addWidget(label(self.tr("Deploy"), "title"))
        sentence = self.tr(
            "Runs a result on a device, measures it, and compares its outputs with the original's."
        )
        column.addWidget(label(sentence, "quiet", wrap=True))
        form = QFormLayout()
        form.setVerticalSpacing(8)
        self.device, self.stage, self.target, self.mode = (choice_box() for _ in range(4))
        form.addRow(self.tr("&Device"), self.device)
        self._device_note = label("", "small", wrap=True)
        form.addRow("", self._device_note)
        form.addRow(self.tr("&Result"), self.stage)
        form.addRow(self.tr("&Target"), self.target)
        self.threads = number_box(1, 64)
        form.addRow(self.tr("T&hreads"), self.threads)
        for mode, text in (
            (RunMode.BURST, self.tr("burst: as fast as it goes, for some seconds")),
            (RunMode.SUSTAINED, self.tr("sustained: for minutes, to see it grow hot and slow")),
            (RunMode.CADENCE, self.tr("cadence: at a fixed rate with idle gaps, as an app does")),
        ):
            self.mode.addItem(text, mode)
        form.addRow(self.tr("&Mode"), self.mode)
        column.addLayout(form)
        row = QHBoxLayout()
        row.setSpacing(12)
        self.run_button = button(self.tr("Deploy && r&un"), self._on_run, role="primary", icon_name="play")
        self.run_button.setObjectName("RunStep")
        self.run_button.setAutoDefault(False)
        row.addWidget(self.run_button)
        self._status = label("", "quiet", wrap=True)
        row.addWidget(self._status, 1)
        self.all_button = button(self.tr("Run all &steps"), self._on_run_all)
        self.all_button.setAutoDefault(False)
        row.addWidget(self.all_button)
        column.addLayout(row)
        column.addWidget(hairline())
        self._figures = QFormLayout()
        self._figures.setVerticalSpacing(4)
        column.addLayout(self._figures)
        self.banner = Banner()
        column.addWidget(self.banner)
        column.addStretch(1)
        self.stage.activated.connect(self._on_chosen)
        self.stage.currentIndexChanged.connect(lambda *_: self._refresh_targets())
        self.target.currentIndexChanged.connect(lambda *_: self._show_next())
        self.device.currentIndexChanged.connect(lambda *_: self._on_device())
        for signal in (session.devices_changed, session.stages_changed, session.run_started,
                       session.runs_changed, session.jobs_changed):  # fmt: skip
            signal.connect(self.refresh)
        session.measured.connect(self._on_measured)
        session.run_finished.connect(self._on_finished)
        self._take_settings()
        self.refresh()

    @property
    def device_id(self) -> str:
        """The chosen device."""
        return str(self.device.currentData() or "")

    def refresh(self, *_: object) -> None:
        """Shows what can run where now, and what runs."""
        project = self._session.project
        infos = self._session.devices
        preferred = project.devices[0] if project and project.devices else ""
        names = [
            translate_sentence(d.name) + (" " + self.tr("(simulated)") if d.is_simulated else "")
            for d in infos
        ]
        _fill(self.device, [d.id for d in infos], names, preferred)
        stages = [s for s in runnable_stages(self._session.stages) if s.artifact or s.id == SOURCE]
        ids, titles = [s.id for s in stages], [stage_title(s) for s in stages]
        last = ids[-1] if ids else ""  # the newest result is offered until a person chooses another
        if _fill(self.stage, ids, titles, last, keep=self._is_chosen) or not self.target.count():
            self._refresh_targets()
        self._refresh_state()

    def _take_settings(self) -> None:
        project = self._session.project
        settings = project.run_settings if project else RunSettings(target="ort/cpu")
        self.threads.setValue(settings.threads)
        self.mode.setCurrentIndex(list(RunMode).index(settings.mode))

    def _on_device(self) -> None:
        self._refresh_targets()
        self._refresh_state()

    def _refresh_targets(self) -> None:
        chosen = self.target.currentData()
        stage = self._session.stage(str(self.stage.currentData() or ""))
        info = next((d for d in self._session.devices if d.id == self.device_id), None)
        targets = targets_for(format_of(stage), info) if stage is not None else []
        self.target.clear()
        for target in targets:
            self.target.addItem(target.title, target.id)
        ids = [target.id for target in targets]
        made = made_for(self._session, stage.id) if stage is not None else ""
        wanted = chosen if chosen in ids else made or self._session.target_id
        if wanted in ids:
            self.target.setCurrentIndex(ids.index(wanted))

    def _refresh_state(self) -> None:
        info = next((d for d in self._session.devices if d.id == self.device_id), None)
        is_running = self.device_id in self._session.run_jobs
        why = ""
        if info is None:
            why = (
                self.tr("Looking for devices…") if not self._session.devices else self.tr("Choose a device.")
            )
        elif info.state is not DeviceState.READY:
            why = translate_sentence(info.state_hint)
        elif not self.stage.count():
            why = self.tr("There is no result yet: run the steps before this page.")
        elif not self.target.count():
            why = self.tr("This device has no runtime for this file.")
        facts = (info.soc_marketing or info.soc, info.os_version) if info else ()
        self._device_note.setText(" · ".join(fact for fact in facts if fact))
        self._device_note.setVisible(bool(self._device_note.text()))
        self.run_button.setText(self.tr("Stop") if is_running else self.tr("Deploy && r&un"))
        self.run_button.setEnabled(is_running or not why)
        live = self._session.live.get(self.device_id)
        recipe_job = next((j for j in self._session.jobs if j.kind == "run_recipe" and not j.is_over), None)
        self.all_button.setVisible(recipe_job is None and not is_running and not self.stage.count())
        if recipe_job is not None and not self.stage.count():
            why = progress_text(self._session, recipe_job) or self.tr("Starting…")
        figures = live.figures() if live is not None and is_running else None
        if figures is not None:
            text = self.tr("running: n {n}, p50 {p50} ms, p90 {p90} ms")
            why = fill(text, n=f"{figures.n:,}", p50=f"{figures.p50_ms:.3g}", p90=f"{figures.p90_ms:.3g}")
        elif is_running:
            why = self.tr("Preparing inputs and the float original…")
        self._status.setText(why)
        result = None if is_running else self._session.last_results.get(self.device_id)
        self._show_result(result)
        self._show_next()

    def _show_next(self) -> None:
        """One button is the next one to press: the steps, the run, or Finish when what is chosen has run."""
        device_id, result = self.device_id, self._session.last_results.get(self.device_id)
        is_running = device_id in self._session.run_jobs
        is_done = (
            not is_running
            and result is not None
            and self._session.last_stages.get(device_id) == self.stage.currentData()
            and result.target == self.target.currentData()
        )
        is_steps = not self.all_button.isHidden()
        set_role(self.all_button, "primary" if is_steps else "")
        is_next = not is_done and not is_steps
        set_role(self.run_button, "primary" if is_next else "")
        self.run_button.setIcon(icon("stop" if is_running else "play", "on_accent" if is_next else "text"))
        if is_done != self.is_done:
            self.is_done = is_done
            self.done_changed.emit(is_done)

    def _show_result(self, result: DeployResult | None) -> None:
        if result is self._shown:
            return
        self._shown = result
        while self._figures.rowCount():
            self._figures.removeRow(0)
        if result is None or result.latency_ms is None:
            return
        latency, error = result.latency_ms, result.error
        ran, asked = (TARGETS[t].title if t in TARGETS else t for t in (result.target_ran, result.target))
        stage = self._session.stage(self._session.last_stages.get(self.device_id, ""))
        rows = [
            (self.tr("Last run"), " · ".join(t for t in (stage_title(stage) if stage else "", asked) if t)),
            (
                self.tr("Latency"),
                f"p50 {latency.p50:.3g} · p90 {latency.p90:.3g} · p99 {latency.p99:.3g} ms, n {latency.n:,}",
            ),
        ]
        if result.load_ms is not None:
            load = (
                f"{result.load_ms:.3g} ms" if result.load_ms < 1000 else seconds_text(result.load_ms / 1000)
            )
            rows.append((self.tr("Load"), load))
        if ran != asked:
            ran = fill(self.tr("{ran} (asked for {asked})"), ran=ran, asked=asked)
        evidence = translate_sentence(result.evidence)
        rows.append((self.tr("Ran on"), f"{ran} · {evidence}" if evidence else ran))
        if error is not None:
            rows.append((self.tr("Error"), f"SNR {snr_text(error)}"))
            if error.accuracy is not None:
                rows.append((self.tr("Accuracy"), accuracy_text(error)))
        for name, value in rows:
            self._figures.addRow(label(name, "quiet"), label(value, selectable=True, wrap=True))

    def _on_run(self) -> None:
        if self.device_id in self._session.run_jobs:
            device_jobs.stop(self._session, self.device_id)
            return
        project = self._session.project
        if project is None or not self.stage.currentData():
            return
        self.banner.close_banner()
        mode = RunMode(self.mode.currentData())  # Qt keeps the text of an enum
        base = project.run_settings
        seconds = {RunMode.SUSTAINED: 300.0}.get(mode, 5.0)
        settings = replace(
            base,
            target=str(self.target.currentData()),
            threads=self.threads.value(),
            mode=mode,
            seconds=max(base.seconds, seconds),
            interval_ms=base.interval_ms or (100.0 if mode is RunMode.CADENCE else 0.0),
        )
        device_jobs.deploy(self._session, self.device_id, str(self.stage.currentData()), settings)
        self.refresh()

    def _on_chosen(self, _index: int) -> None:
        self._is_chosen = True

    def _on_run_all(self) -> None:
        recipe_jobs.run_steps(self._session)

    def _on_measured(self, *_: object) -> None:
        if not self._pause.isActive():  # a hundred records a second are shown five times a second
            self._pause.start()

    def _on_finished(self, device_id: str, outcome: object) -> None:
        from studio.jobs.job import Failed

        if device_id == self.device_id and isinstance(outcome, Failed) and outcome.error != "cancelled":
            self.banner.show_failure(outcome)
        self.refresh()


def _fill(combo: QComboBox, ids: list[str], texts: list[str], preferred: str, *, keep: bool = True) -> bool:
    """Puts other items into a list, keeping what was chosen; returns whether they are others."""
    if [combo.itemData(i) for i in range(combo.count())] == ids:
        return False
    chosen = (combo.currentData() if keep else "") or preferred
    combo.blockSignals(True)
    combo.clear()
    for id_, text in zip(ids, texts):
        combo.addItem(text, id_)
    combo.setCurrentIndex(ids.index(chosen) if chosen in ids else (0 if ids else -1))
    combo.blockSignals(False)
    return True
