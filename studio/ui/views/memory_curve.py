"""MemoryCurve: bytes of activations alive while each node runs, in the order of the file."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from studio.graph import Graph
from studio.ui import theme
from studio.ui.canvas import value_text
from studio.ui.texts import fill

_LEFT, _RIGHT, _TOP, _BOTTOM = 12.0, 12.0, 20.0, 6.0


class MemoryCurve(QWidget):
    """A step curve with its peak; a click or an arrow key goes to the node of that moment."""

    node_chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._graph: Graph | None = None
        self._nodes: npt.NDArray[np.int64] = np.zeros(0, np.int64)
        self._bytes: npt.NDArray[np.float64] = np.zeros(0)
        self._at = -1
        self.setFixedHeight(92)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(self.tr("Activation memory over time"))

    def sizeHint(self) -> QSize:
        """A wide, low strip."""
        return QSize(600, 92)

    def set_bytes(self, graph: Graph, live_bytes: npt.NDArray[np.int64]) -> None:
        """Shows bytes per node; negative ones are not known and left out."""
        self._graph = graph
        self._nodes = np.flatnonzero(live_bytes >= 0)
        self._bytes = live_bytes[self._nodes].astype(np.float64)
        self._at = -1
        self.setAccessibleDescription(self._peak_words())
        self.update()

    def select_node(self, node: int | None) -> None:
        """Marks the moment at which a node runs."""
        place = int(np.searchsorted(self._nodes, node)) if node is not None else -1
        is_there = 0 <= place < len(self._nodes) and self._nodes[place] == node
        self._at = place if is_there else -1
        self.update()

    def _peak_words(self) -> str:
        if not len(self._bytes) or self._graph is None:
            return self.tr("The memory of this graph is not known.")
        peak = int(self._bytes.argmax())
        return fill(
            self.tr("Activation memory in file order · peak {bytes} at {node}"),
            bytes=value_text(float(self._bytes[peak]), "B"),
            node=self._graph.label(int(self._nodes[peak]))[:60],
        )

    def _x(self, place: float) -> float:
        return _LEFT + place * (self.width() - _LEFT - _RIGHT) / max(len(self._bytes), 1)

    def _place(self, x: float) -> int:
        wide = self.width() - _LEFT - _RIGHT
        place = int((x - _LEFT) * len(self._bytes) / max(wide, 1))
        return min(max(place, 0), len(self._bytes) - 1)

    def _columns(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        """(first place of each column, its largest value): no more columns than pixels."""
        count, most = len(self._bytes), max(int(self.width()), 1)
        starts = np.unique(np.linspace(0, count, min(count, most), endpoint=False).astype(np.int64))
        return starts, np.maximum.reduceat(self._bytes, starts)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draws the area, the peak, and the selected moment."""
        colors = theme.current().colors
        painter = QPainter(self)
        painter.setPen(QColor(colors.quiet))
        words = QRectF(_LEFT, 2, self.width() - _LEFT - _RIGHT, _TOP - 2)
        painter.drawText(
            words, int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter), self._peak_words()
        )
        if not len(self._bytes):
            return
        floor = self.height() - _BOTTOM
        factor = (floor - _TOP) / max(float(self._bytes.max()), 1.0)
        starts, values = self._columns()
        ends = np.append(starts[1:], len(self._bytes))
        outline = QPolygonF()
        outline.append(QPointF(self._x(0), floor))
        for start, end, value in zip(starts.tolist(), ends.tolist(), values.tolist()):
            outline.append(QPointF(self._x(start), floor - value * factor))
            outline.append(QPointF(self._x(end), floor - value * factor))
        outline.append(QPointF(self._x(len(self._bytes)), floor))
        accent = QColor(colors.accent)
        ground = QColor(accent)
        ground.setAlphaF(0.18)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(accent, 1.2))
        painter.setBrush(ground)
        painter.drawPolygon(outline)
        peak = int(self._bytes.argmax())
        painter.setBrush(accent)
        painter.drawEllipse(QPointF(self._x(peak + 0.5), floor - float(self._bytes[peak]) * factor), 3, 3)
        if self._at >= 0:
            painter.setPen(QPen(QColor(colors.text), 1))
            x = self._x(self._at + 0.5)
            painter.drawLine(QPointF(x, _TOP), QPointF(x, floor))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Goes to the node of that moment."""
        if len(self._bytes) and event.button() is Qt.MouseButton.LeftButton:
            self.node_chosen.emit(int(self._nodes[self._place(event.position().x())]))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Says what is alive at that moment."""
        if len(self._bytes) and self._graph is not None:
            place = self._place(event.position().x())
            name = self._graph.label(int(self._nodes[place]))[:80]
            said = f"{name}: {value_text(float(self._bytes[place]), 'B')}"
            QToolTip.showText(event.globalPosition().toPoint(), said, self)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Left and right walk in time."""
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()), 0)
        if step and len(self._bytes):
            self.node_chosen.emit(int(self._nodes[(max(self._at, 0) + step) % len(self._bytes)]))
        else:
            super().keyPressEvent(event)
