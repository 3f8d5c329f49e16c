"""OutlineBands: dashed lines round groups of boxes (`graph.bands`), painted."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QPainter, QPen

from studio.graph.bands import bands_of, lines_round
from studio.ui.canvas.colors import CanvasColors, label_ground, readable
from studio.ui.canvas.far_paint import draw_lines, draw_rects
from studio.ui.canvas.overlay import Outline
from studio.ui.canvas.scene import Scene
from studio.ui.canvas.texts import plain, sized
from studio.ui.canvas.viewport import Viewport

Floats = npt.NDArray[np.float64]

MOST_LINES = 6000
THICK = 1.5  # screen pixels
DASHED_FROM = 0.25  # zoom; below it lines are thin and whole


class OutlineBands:
    """The lines round every group, and where its title goes, in layout pixels."""

    def __init__(self, scene: Scene, outlines: tuple[Outline, ...]) -> None:
        self._outlines = outlines
        group_of = np.full(scene.count, -1, np.int32)
        for index, outline in enumerate(outlines):
            items = scene.layout.node_item[outline.nodes]
            group_of[items[items >= 0]] = index
        lines: list[tuple[float, float, float, float]] = []
        owners: list[int] = []
        self._titles: list[tuple[float, float, int]] = []
        for group, bands in bands_of(scene, group_of).items():
            for line in lines_round(bands):
                lines.append(line)
                owners.append(group)
            first = min(bands, key=lambda b: (b.top, b.left))
            self._titles.append((first.left, first.top, group))
        self._lines = np.array(lines, float).reshape(-1, 4)
        self._columns = np.ascontiguousarray(self._lines.T, np.float32)
        self._owner = np.array(owners, np.int32)
        self._places = np.array([(x, y) for x, y, _ in self._titles], float).reshape(-1, 2)
        self._colors = sorted({outline.color for outline in outlines})
        self._color_of = np.array([self._colors.index(outline.color) for outline in outlines], np.int32)

    @property
    def lines(self) -> Floats:
        """[n, 4] every line as x1, y1, x2, y2."""
        return self._lines

    def paint(self, painter: QPainter, viewport: Viewport, colors: CanvasColors, font: QFont) -> None:
        """Paints what is in sight."""
        left, top, right, bottom = viewport.visible(margin=8)
        lines, (x0, y0, x1, y1) = self._lines, self._columns
        chosen = np.flatnonzero((y0 <= bottom) & (y1 >= top) & (x0 <= right) & (x1 >= left))
        if len(chosen) > MOST_LINES:
            return
        shift = np.array([viewport.offset_x, viewport.offset_y] * 2)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        color_of = self._color_of[self._owner[chosen]]
        for index in np.unique(color_of).tolist():
            mine = chosen[color_of == index]
            color = colors.role(self._colors[index])
            screen = np.round(lines[mine] * viewport.scale + shift)
            if viewport.scale < DASHED_FROM:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(color)
                screen[:, 2:] = screen[:, 2:] - screen[:, :2] + 1
                draw_rects(painter, screen)
                continue
            pen = QPen(color, THICK)
            pen.setDashPattern([4 / THICK, 3 / THICK])
            painter.setPen(pen)
            draw_lines(painter, screen)
        if viewport.scale >= 0.5:
            self._paint_titles(painter, viewport, colors, font)

    def _paint_titles(self, painter: QPainter, viewport: Viewport, colors: CanvasColors, font: QFont) -> None:
        small = sized(font, 10.0 * viewport.scale, bold=True)
        painter.setFont(small)
        high, ground = small.pixelSize() * 1.25, label_ground(colors)
        left, top, right, bottom = viewport.visible(margin=40)
        x, y = self._places[:, 0], self._places[:, 1]
        seen = (x >= left - 300) & (x <= right) & (y >= top) & (y <= bottom)
        for place in np.flatnonzero(seen).tolist():
            group = self._titles[place][2]
            sx, sy = viewport.to_screen(*self._places[place])
            outline = self._outlines[group]
            width = painter.fontMetrics().horizontalAdvance(outline.title)
            at = QPointF(sx + 8 * viewport.scale, sy - high / 2)
            painter.fillRect(QRectF(at.x() - 3, at.y(), width + 6, high), ground)
            painter.setPen(readable(colors.role(outline.color), ground))
            painter.drawStaticText(at, plain(outline.title))
