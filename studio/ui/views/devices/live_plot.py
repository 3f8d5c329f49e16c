"""One live plot: a title, a unit, some curves over a shared time axis, a cursor and marks.

Why our own decimation and no pyqtgraph options for it: measured on 10 curves of 1e5 points at
20 Hz, pyqtgraph's default took 99 % of a core; two points a pixel with width-1 pens, no
antialiasing and no finite check took a fifth. `measure.live.Series` does the reducing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QColor, QFont
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from studio.measure.live import Mark, Series
from studio.ui import theme
from studio.ui.views.devices.curve_names import CurveNames, small_font

_PALETTE = ("accent", "falls_back", "runs", "conditional", "unknown", "fails")


@dataclass(frozen=True, slots=True)
class Curve:
    """How a series is drawn: `role` is "line", "faint" (behind the others), or "cap" (dashed)."""

    series: Series
    role: str = "line"
    color: str = ""  # a palette field; "" = by position


class TimeAxis(pg.AxisItem):  # type: ignore[misc]
    """Seconds as m:ss."""

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        """The labels of the ticks."""
        if spacing < 1:
            return [f"{v:.1f} s" for v in values]
        return [f"{int(v) // 60}:{int(v) % 60:02d}" for v in values]


class LivePlot(QWidget):
    """A plot that follows or stays: the panel sets the range, this draws what is inside it."""

    cursor_moved = Signal(float)  # seconds; NaN when the mouse left
    range_dragged = Signal(float, float)  # the user moved the time axis by hand

    def __init__(self, title: str, unit: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._unit = unit
        self._curves: list[tuple[Curve, pg.PlotDataItem]] = []
        self._marks: list[pg.InfiniteLine] = []
        self._cursor_s = float("nan")
        self._is_setting_range = False

        self._title = QLabel(title)
        font = QFont(self._title.font())
        font.setBold(True)
        self._title.setFont(font)
        self._readout = QLabel(unit)
        self._readout.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._readout.setProperty("role", "quiet")
        self._empty = QLabel()
        self._empty.setProperty("role", "quiet")
        self._empty.setWordWrap(True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._empty.setMargin(12)
        self._empty.hide()

        self._plot = pg.PlotWidget(axisItems={"bottom": TimeAxis("bottom")})
        self._plot.setMenuEnabled(False)
        self._plot.hideButtons()
        self._plot.setFrameShape(self._plot.Shape.NoFrame)
        self._plot.setMinimumHeight(60)
        self._plot.setAccessibleName(f"{title}, {unit}")
        item = self._plot.getPlotItem()
        item.setMouseEnabled(x=True, y=False)
        item.disableAutoRange()
        item.setContentsMargins(0, 6, 0, 0)  # half of the highest tick stands above the plot
        item.getAxis("left").setWidth(44)
        item.getAxis("bottom").setHeight(22)
        self._item = item
        self._names = CurveNames(item)
        item.getViewBox().sigXRangeChanged.connect(self._on_range)
        self._cursor = pg.InfiniteLine(angle=90, movable=False)
        self._cursor.setZValue(10)
        self._cursor.hide()
        item.addItem(self._cursor, ignoreBounds=True)
        self._plot.scene().sigMouseMoved.connect(self._on_mouse)

        head = QHBoxLayout()
        head.setContentsMargins(12, 8, 12, 0)
        head.addWidget(self._title)
        head.addStretch(1)
        head.addWidget(self._readout)
        body = QVBoxLayout(self)
        body.setContentsMargins(0, 0, 0, 0)
        body.setSpacing(0)
        body.addLayout(head)
        body.addWidget(self._plot, 1)
        body.addWidget(self._empty, 1)
        self.wear_theme()

    # What to draw

    def set_curves(self, curves: Sequence[Curve]) -> None:
        """Replaces the curves; equal ones keep their items."""
        if [c for c, _ in self._curves] == list(curves):
            return
        for _, item in self._curves:
            self._item.removeItem(item)
        self._curves = []
        for position, curve in enumerate(curves):
            item = pg.PlotDataItem(antialias=False, skipFiniteCheck=True, clipToView=False)
            self._item.addItem(item)
            self._curves.append((curve, item))
            self._wear(curve, item, position)

    def set_empty(self, text: str) -> None:
        """Shows a sentence instead of an empty picture; "" shows the plot again."""
        self._empty.setText(text)
        self._empty.setVisible(bool(text))
        self._plot.setVisible(not text)

    def set_marks(self, marks: Sequence[Mark], label: Callable[[Mark], str]) -> None:
        """Dashed lines at moments; labels stand at the top."""
        for line in self._marks:
            self._item.removeItem(line)
        self._marks = []
        colors = theme.current().colors
        for mark in marks:
            loud = mark.name in {"error", "throttling", "link lost"}
            color = QColor(colors.falls_back if loud else colors.quiet)
            line = pg.InfiniteLine(
                pos=mark.t_s,
                angle=90,
                movable=False,
                pen=pg.mkPen(color, width=1, style=Qt.PenStyle.DashLine),
                label=label(mark),
                labelOpts={"position": 0.92, "color": color, "anchors": [(0, 0.5), (0, 0.5)]},
            )
            self._item.addItem(line, ignoreBounds=True)
            self._marks.append(line)

    def draw(self, start_s: float, end_s: float) -> None:
        """Draws the window of time: at most a few points a pixel, the y range fitted to them."""
        pixels = max(self._plot.width() - 50, 50)
        low, high = np.inf, -np.inf
        for curve, item in self._curves:
            times, values = curve.series.window(start_s, end_s, pixels // 4)
            item.setData(times, values)
            if len(values):
                low, high = min(low, float(np.min(values))), max(high, float(np.max(values)))
        self._is_setting_range = True
        self._item.setXRange(start_s, end_s, padding=0)
        if np.isfinite(low) and np.isfinite(high):
            room = max((high - low) * 0.15, abs(high) * 0.02, 1e-6)
            # From zero where that costs little: a curve that fills its frame hides how small a change is.
            floor = 0.0 if 0 <= low < 0.5 * high else low - room
            self._item.setYRange(floor, high + room, padding=0)
        self._is_setting_range = False
        ends = [(c.series.at(end_s), c.series.name) for c, _ in self._curves if c.role == "line"]
        self._names.show(end_s, [(value, name) for value, name in ends if value is not None])
        self._read_out()

    # Cursor

    def set_cursor(self, seconds: float) -> None:
        """The linked cursor; NaN hides it."""
        self._cursor_s = seconds
        visible = not np.isnan(seconds)
        self._cursor.setVisible(visible)
        if visible:
            self._cursor.setPos(seconds)
        self._read_out()

    def _read_out(self) -> None:
        parts: list[tuple[float, str]] = []
        is_latency = any(curve.role == "faint" for curve, _ in self._curves)
        at_cursor = not np.isnan(self._cursor_s)
        for curve, _ in self._curves:
            if curve.role == "cap":
                continue
            value = curve.series.at(self._cursor_s) if at_cursor else curve.series.last()
            if value is not None:
                name = (
                    ""
                    if len(self._curves) == 1 or curve.series.name == "latency"
                    else f"{curve.series.name} "
                )
                parts.append((value, f"{name}{value:.{_digits(value)}f}"))
        self._readout.setToolTip(" · ".join(part for _, part in parts))
        room = self.width() - self._title.sizeHint().width() - 40
        metrics = self._readout.fontMetrics()
        while True:
            text = f"{' · '.join(part for _, part in parts)} {self._unit}" if parts else self._unit
            if metrics.horizontalAdvance(text) <= room or not parts:
                break
            # What stays is what to know: the percentiles, the hottest sensor, the fastest core.
            parts.remove(parts[0] if is_latency else min(parts))
        self._readout.setText(text)

    # Looks

    def wear_theme(self) -> None:
        """Takes the colours of the current theme."""
        colors = theme.current().colors
        self._plot.setBackground(colors.panel)
        tick_font = small_font(self.font())
        for name in ("left", "bottom"):
            axis = self._item.getAxis(name)
            axis.setPen(pg.mkPen(colors.line))
            axis.setTextPen(pg.mkPen(colors.quiet))
            axis.enableAutoSIPrefix(False)
            axis.setStyle(tickLength=-4, tickFont=tick_font, tickTextOffset=4)
        self._cursor.setPen(pg.mkPen(colors.quiet, width=1))
        for position, (curve, item) in enumerate(self._curves):
            self._wear(curve, item, position)

    def changeEvent(self, event: QEvent) -> None:
        """Follows a theme change."""
        if event.type() == QEvent.Type.PaletteChange:
            self.wear_theme()
        super().changeEvent(event)

    def _wear(self, curve: Curve, item: pg.PlotDataItem, position: int) -> None:
        color = QColor(getattr(theme.current().colors, curve.color or _PALETTE[position % len(_PALETTE)]))
        if curve.role == "faint":
            color = theme.with_alpha(color.name(), 0.45)
        style = Qt.PenStyle.DashLine if curve.role == "cap" else Qt.PenStyle.SolidLine
        item.setPen(pg.mkPen(color, width=1, style=style))

    # The user's hands

    def _on_range(self, _box: object, limits: tuple[float, float]) -> None:
        if not self._is_setting_range:
            self.range_dragged.emit(*limits)

    def _on_mouse(self, position: object) -> None:
        box = self._item.getViewBox()
        inside = box.sceneBoundingRect().contains(position)
        self.cursor_moved.emit(float(box.mapSceneToView(position).x()) if inside else float("nan"))

    def leaveEvent(self, event: QEvent) -> None:
        """The cursor goes with the mouse."""
        self.cursor_moved.emit(float("nan"))
        super().leaveEvent(event)


def _digits(value: float) -> int:
    """Decimals that keep three significant figures."""
    return 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2 if abs(value) >= 0.1 else 3
