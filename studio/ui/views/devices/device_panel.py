"""DevicePanel: devices on the left; the run bar, the curves and what they mean on the right.

pyqtgraph costs half a second of start-up, so the curves are made when the first run is shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QStackedWidget, QVBoxLayout, QWidget

from studio.devices import DeviceState, RunSettings
from studio.ui.domain_texts import translate_sentence
from studio.ui.session import Session
from studio.ui.views.devices.device_list import DeviceList, Hairline
from studio.ui.views.devices.run_bar import RunBar
from studio.ui.widgets.parts import button, label

if TYPE_CHECKING:
    from studio.ui.views.devices.live_view import LiveView

_FIGURES_MS = 500
_CURVES_HEIGHT = 236


class DevicePanel(QWidget):
    """Wishes of the panel: run on a device, stop, connect or add one."""

    run_requested = Signal(str, str, object)  # device id, stage id, RunSettings
    stop_requested = Signal(str)  # device id
    connect_requested = Signal()
    add_virtual_phone_requested = Signal()

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("Panel")
        self._session = session
        self.devices = DeviceList(session)
        self.devices.setFixedWidth(264)
        self.bar = RunBar(session)
        self._live: LiveView | None = None
        self._teach = label("", "quiet", wrap=True)
        self._no_phone = label(
            self.tr("To use a phone, switch on USB debugging in its developer options and plug it in."),
            "quiet",
            wrap=True,
        )
        self._virtual = button(
            self.tr("Add a virtual phone"), self.add_virtual_phone_requested.emit, role="link"
        )
        self._before = QWidget()
        before = QVBoxLayout(self._before)
        before.setContentsMargins(12, 8, 12, 6)
        before.setSpacing(4)
        before.addWidget(self._teach)
        before.addWidget(self._no_phone)
        before.addWidget(self._virtual)
        before.addStretch(1)
        self._simulated = QLabel(self.tr("Simulated numbers: this is a virtual phone, not hardware."))
        self._simulated.setProperty("role", "warn")
        self._simulated.setContentsMargins(12, 4, 12, 0)
        self._simulated.hide()
        self._stack = QStackedWidget()
        self._stack.addWidget(self._before)

        right = QVBoxLayout()
        right.setSpacing(0)
        right.addWidget(self.bar)
        right.addWidget(self._simulated)
        right.addWidget(self._stack, 1)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.devices)
        row.addWidget(Hairline())
        row.addLayout(right, 1)

        self._figures_timer = QTimer(self)
        self._figures_timer.setInterval(_FIGURES_MS)
        self._figures_timer.timeout.connect(self._show_figures)

        self.devices.device_selected.connect(lambda _id: self.refresh())
        self.devices.connect_requested.connect(self.connect_requested)
        self.bar.run_requested.connect(self._on_run)
        self.bar.stop_requested.connect(lambda: self.stop_requested.emit(self.devices.current_id()))
        self.bar.follow_requested.connect(self._on_follow)
        session.devices_changed.connect(self.refresh)
        session.run_started.connect(self._on_run_started)
        session.run_finished.connect(self._on_run_finished)
        session.project_opened.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Shows the chosen device: its run if it has one, else what to do next."""
        info = self.devices.current()
        device_id = info.id if info else ""
        is_running = device_id in self._session.run_jobs
        self.bar.set_device(info, is_running=is_running)
        run = self._session.live.get(device_id)
        self._simulated.setVisible(run is not None and bool(run.hello and run.hello.is_simulated))
        if run is None:
            self._teach.setText(self._what_next())
            for widget in (self._no_phone, self._virtual):
                widget.setVisible(not self.devices.has_phone())
            self._stack.setCurrentWidget(self._before)
        else:
            live = self._curves()
            if live.run is not run:
                live.set_run(run)
            else:
                live.refresh()
            self._stack.setCurrentWidget(live)
        self._show_figures()
        self._figures_timer.start() if is_running else self._figures_timer.stop()

    def wanted_height(self) -> int:
        """What is enough before the first run (devices and a few lines) and what the curves want after it."""
        if self._session.live:
            return _CURVES_HEIGHT
        return self.devices.height_of(min(max(self.devices.count(), 2), 3))

    @property
    def live_view(self) -> LiveView | None:
        """The curves, None before the first run."""
        return self._live

    # Inside

    def _curves(self) -> LiveView:
        if self._live is None:
            from studio.ui.views.devices.live_view import LiveView

            self._live = LiveView()
            self._live.following_changed.connect(self.bar.show_following)
            self._stack.addWidget(self._live)
        return self._live

    def _what_next(self) -> str:
        info = self.devices.current()
        if info is None:
            return self.tr("Looking for devices…")
        if info.state is not DeviceState.READY:
            return f"{info.name}: {translate_sentence(info.state_hint)}"
        if self._session.project is None:
            return self.tr("Open a model to run it here and watch latency, temperature, clocks and memory.")
        if self.bar.why_not:
            return self.bar.why_not
        return self.tr(
            "Press Deploy & run: the artifact is measured on this device, and latency, temperature, "
            "clocks and memory are drawn here as they come."
        )

    def _on_run(self, stage_id: str, settings: RunSettings) -> None:
        self.run_requested.emit(self.devices.current_id(), stage_id, settings)

    def _on_run_started(self, device_id: str, _job_id: str) -> None:
        self.devices.select(device_id)
        self.refresh()

    def _on_run_finished(self, _device_id: str, _outcome: object) -> None:
        # A method, not a lambda: it is disconnected when the language makes another window.
        self.refresh()

    def _on_follow(self) -> None:
        if self._live is not None:
            self._live.follow()
            self._live.refresh()

    def _show_figures(self) -> None:
        run = self._session.live.get(self.devices.current_id())
        result = self._session.last_results.get(self.devices.current_id())
        self.bar.show_figures(run, result.latency_ms if result else None)
        if run is not None:
            self._simulated.setVisible(bool(run.hello and run.hello.is_simulated))
        for device_id, live in self._session.live.items():
            heat = [s.last() for s in live.family("temperature")]
            known = [celsius for celsius in heat if celsius is not None]
            self.devices.show_temperature(device_id, max(known) if known else None)
