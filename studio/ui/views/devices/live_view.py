"""The live curves of one run: latency, temperature, clocks, memory and power on one time axis.

The view follows the newest moment until the user drags or zooms; *Follow* takes it back. It draws
at most 10 times a second, only when something came and only while it can be seen.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from studio.measure.live import LiveRun, Mark, Series
from studio.ui.domain_texts import translate_sentence
from studio.ui.texts import fill
from studio.ui.views.devices.device_list import Hairline
from studio.ui.views.devices.live_plot import Curve, LivePlot

_FRAME_MS = 100
_FOLLOW_S = 60.0
_FEW = 4  # temperature sensors drawn by themselves; of more, the hottest are shown


class LiveView(QWidget):
    """Plots side by side with a linked cursor; `set_run(None)` shows the empty state."""

    following_changed = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._run: LiveRun | None = None
        self._is_following = True
        self._range = (0.0, 1.0)
        self._seen = (-1, -1)
        self._frame = 0
        self._latency = LivePlot(self.tr("Latency"), "ms")
        self._temperature = LivePlot(self.tr("Temperature"), "°C")
        self._clocks = LivePlot(self.tr("CPU clocks"), "GHz")
        self._memory = LivePlot(self.tr("Memory"), "MB")
        self._power = LivePlot(self.tr("Power"), "W")
        self._plots = (self._latency, self._temperature, self._clocks, self._memory, self._power)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        for plot, stretch in zip(self._plots, (5, 3, 3, 3, 3)):
            if plot is not self._latency:
                row.addWidget(Hairline())
            row.addWidget(plot, stretch)
            plot.cursor_moved.connect(self._on_cursor)
            plot.range_dragged.connect(self._on_dragged)
        self._power.hide()
        self._timer = QTimer(self)
        self._timer.setInterval(_FRAME_MS)
        self._timer.timeout.connect(self._tick)

    def set_run(self, run: LiveRun | None) -> None:
        """Shows a run from its beginning."""
        self._run = run
        self._seen = (-1, -1)
        self.follow()
        self.refresh()

    def follow(self) -> None:
        """Goes with the newest moment."""
        self._is_following = True
        self._seen = (-1, -1)
        self.following_changed.emit(True)

    def pause(self) -> None:
        """Holds the picture; records go on arriving."""
        self._is_following = False
        self.following_changed.emit(False)

    @property
    def run(self) -> LiveRun | None:
        """The run that is shown."""
        return self._run

    @property
    def is_following(self) -> bool:
        """Whether the view goes with the newest moment."""
        return self._is_following

    def refresh(self, *, only_latency: bool = False) -> None:
        """Draws now."""
        run = self._run
        if run is None:
            return
        if self._is_following:
            end = max(run.duration_s, 1.0)
            whole = run.end is not None
            self._range = (0.0 if whole else max(end - _FOLLOW_S, 0.0), end * 1.01)
        self._set_curves(run)
        for plot in self._plots:
            if not plot.isHidden() and (plot is self._latency or not only_latency):
                plot.draw(*self._range)

    def showEvent(self, event: QShowEvent) -> None:
        """Draws only while it can be seen."""
        self._timer.start()
        super().showEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:
        """Rests while it cannot be seen."""
        self._timer.stop()
        super().hideEvent(event)

    def _tick(self) -> None:
        run = self._run
        if run is None:
            return
        seen = (
            sum(s.count for s in run.series.values()),
            len(run.marks) + len(run.summaries) + (run.end is not None),
        )
        if seen != self._seen:
            if seen[1] != self._seen[1]:
                for plot in self._plots:
                    plot.set_marks(_worth_showing(run.marks), self._mark_text)
            self._seen = seen
            if self._is_following:
                # Latency moves at every frame, what changes slowly at every other one.
                self._frame += 1
                self.refresh(only_latency=self._frame % 2 == 1 and run.end is None)

    def _set_curves(self, run: LiveRun) -> None:
        latency = [Curve(s, "faint", "accent") for s in run.family("latency")]
        for series in run.family("running"):
            latency.append(Curve(series, "line", "accent" if series.name == "p50" else "conditional"))
        self._latency.set_curves(latency)
        if latency:
            self._latency.set_empty("")
        elif run.summaries and not run.faults:
            self._latency.set_empty(self._phases_text(run))
        elif run.end is not None or run.faults:
            self._latency.set_empty(
                run.faults[-1].message if run.faults else self.tr("No inference was made.")
            )
        else:
            self._latency.set_empty(self.tr("Waiting for the first inference…"))

        self._temperature.set_curves([Curve(s) for s in _hottest(run.family("temperature"))])
        self._say_unavailable(self._temperature, run, "temperature")
        clocks = [Curve(s) for s in run.family("frequency")[:6]]
        clocks += [Curve(s, "cap", "unknown") for s in _lowered(run.family("cap"))]
        self._clocks.set_curves(clocks)
        self._say_unavailable(self._clocks, run, "frequency")
        self._memory.set_curves([Curve(s, "line", "runs") for s in run.family("memory")])
        self._say_unavailable(self._memory, run, "memory")
        power = run.family("power")
        self._power.set_curves([Curve(s, "line", "conditional") for s in power])
        self._power.setVisible(bool(power))

    def _say_unavailable(self, plot: LivePlot, run: LiveRun, what: str) -> None:
        """An absent curve says why; what cannot be read is never drawn as 0."""
        if run.family(what):
            plot.set_empty("")
            return
        reasons = [
            translate_sentence(why) for key, why in run.unavailable.items() if key.split(":")[0] == what
        ]
        if reasons:
            plot.set_empty(fill(self.tr("Not readable here: {reason}"), reason=reasons[0]))
        else:
            plot.set_empty(
                self.tr("Nothing sampled yet") if run.end is None else self.tr("Nothing was sampled")
            )

    def _phases_text(self, run: LiveRun) -> str:
        """A runner that tells only phases is shown by its phases: no invented curve."""
        lines = [self.tr("This runner tells phases, not single inferences:")]
        for phase in run.summaries:
            text = self.tr("{name}: mean {mean} ms, {low} to {high} ms, n {n}")
            low, mean, high = (f"{ns / 1e6:.2f}" for ns in (phase.min_ns, phase.mean_ns, phase.max_ns))
            lines.append(fill(text, name=phase.name, mean=mean, low=low, high=high, n=phase.count))
        return "\n".join(lines)

    def _mark_text(self, mark: Mark) -> str:
        words = {
            "throttling": self.tr("throttling"),
            "throttling over": self.tr("throttling over"),
            "link lost": self.tr("link lost"),
            "link back": self.tr("link back"),
            "error": self.tr("error"),
        }
        return words.get(mark.name, mark.name)

    def _on_cursor(self, seconds: float) -> None:
        for plot in self._plots:
            plot.set_cursor(seconds)

    def _on_dragged(self, start_s: float, end_s: float) -> None:
        self._is_following = False
        self._range = (start_s, end_s)
        self.following_changed.emit(False)
        self.refresh()


def _worth_showing(marks: Sequence[Mark]) -> list[Mark]:
    """The marks that explain a bend in a curve; ordinary phases stay in the log."""
    ordinary = {"push", "load", "inputs", "warm-up", "measure", "outputs", "pull"}
    return [mark for mark in marks if mark.name not in ordinary][-20:]


def _hottest(series: list[Series]) -> list[Series]:
    """At most a few sensors: the ones that are hottest now."""
    by_heat = sorted(series, key=lambda s: -(s.last() or 0.0))
    chosen = {id(s) for s in by_heat[:_FEW]}
    return [s for s in series if id(s) in chosen]


def _lowered(caps: list[Series]) -> list[Series]:
    """The caps that ever moved: a cap that never changes is no news."""
    return [s for s in caps if s.count and float(s.values.min()) < float(s.values.max())]
