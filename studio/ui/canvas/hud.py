"""Panels over the scene: minimap (bottom right) and bread crumb (top left); the legend is in `legend`.

Each panel knows its rectangle, paints itself, and answers presses; the widget asks them in order.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen, QPixmap

from studio.ui.canvas.colors import CanvasColors
from studio.ui.canvas.density import DensityMap
from studio.ui.canvas.scene import Scene
from studio.ui.canvas.texts import sized
from studio.ui.canvas.viewport import Viewport

MARGIN = 12.0
MAP_WIDTH, MAP_HEIGHT = 150.0, 220.0
MAP_SHARE = 0.14  # of the width: what lies under the minimap cannot be read
NARROW = 560.0
"""Below this width cards (up to 300 wide) would lie under panels: no minimap, the legend in one row."""
LARGEST_SHARE = 0.2  # of the canvas, for one panel
CRUMB_GAP = 18.0


def paint_ground(painter: QPainter, rect: QRectF, colors: CanvasColors) -> None:
    """The ground of a panel."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(colors.role("line"), 1))
    painter.setBrush(colors.role("panel"))
    painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)


def is_too_large(viewport: Viewport, width: float, height: float) -> bool:
    """Whether a panel would take more of the canvas than one may."""
    return width * height > LARGEST_SHARE * viewport.width * viewport.height


class PanelPicture:
    """A panel's picture, painted again only when what it shows has changed."""

    def __init__(self) -> None:
        self._key: object = None
        self._picture = QPixmap()

    def draw(
        self, painter: QPainter, rect: QRectF, ratio: float, key: object, paint: Callable[[QPainter], None]
    ) -> None:
        """Draws the picture at `rect`; `paint` makes it, from (0, 0), when `key` is not what it was."""
        whole = (key, rect.width(), rect.height(), ratio)
        if self._key != whole:
            self._key = whole
            size = math.ceil(rect.width() * ratio), math.ceil(rect.height() * ratio)
            self._picture = QPixmap(*size)
            self._picture.setDevicePixelRatio(ratio)
            self._picture.fill(Qt.GlobalColor.transparent)
            brush = QPainter(self._picture)
            paint(brush)
            brush.end()
        painter.drawPixmap(rect.topLeft(), self._picture)


class Minimap:
    """The whole layout, small, with the part in sight; a press goes there."""

    def __init__(self) -> None:
        self.rect = QRectF()
        self._inner = QRectF()
        self._factor = 1.0
        self._picture = PanelPicture()

    def place(self, viewport: Viewport, scene: Scene) -> None:
        """Decides where the minimap is; nowhere when all is in sight or the widget is small."""
        self.rect = QRectF()
        left, top, right, bottom = scene.bounds
        seen = viewport.visible()
        if seen[0] <= left and seen[1] <= top and seen[2] >= right and seen[3] >= bottom:
            return
        if viewport.width < NARROW or viewport.height < 260 or not scene.count:
            return
        wide, high = right - left, bottom - top
        room = min(MAP_WIDTH, viewport.width * MAP_SHARE), min(MAP_HEIGHT, viewport.height * 0.4)
        self._factor = min(room[0] / wide, room[1] / high)
        width = round(max(wide * self._factor, 28.0)) + 12
        height = round(max(high * self._factor, 28.0)) + 12
        if is_too_large(viewport, width, height):
            return
        self.rect = QRectF(viewport.width - MARGIN - width, viewport.height - MARGIN - height, width, height)
        self._inner = QRectF(0, 0, wide * self._factor, high * self._factor)
        self._inner.moveCenter(self.rect.center())

    def paint(
        self, painter: QPainter, viewport: Viewport, scene: Scene, density: DensityMap, colors: CanvasColors
    ) -> None:
        """Paints the picture and the frame of what is in sight."""
        if self.rect.isEmpty():
            return

        def picture(brush: QPainter) -> None:
            room = QRectF(QPointF(0, 0), self.rect.size())
            paint_ground(brush, room, colors)
            at = self._inner.topLeft() - self.rect.topLeft()
            size = QSizeF(density.width, density.height) * (self._factor / density.scale)
            density.draw_into(brush, QRectF(at, size), room, viewport.pixel_ratio)

        key = (id(density), density.version)
        self._picture.draw(painter, self.rect, viewport.pixel_ratio, key, picture)
        left, top, right, bottom = viewport.visible()
        frame = QRectF(self._at(left, top, scene), self._at(right, bottom, scene))
        if frame.width() < 6 or frame.height() < 6:
            center = frame.center()
            frame.setSize(frame.size().expandedTo(QSizeF(6, 6)))
            frame.moveCenter(center)
        painter.save()
        painter.setClipRect(self.rect.adjusted(1, 1, -1, -1))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        fill = QColor(colors.role("accent"))
        fill.setAlphaF(0.10)
        painter.setPen(QPen(colors.role("accent"), 1.5))
        painter.setBrush(fill)
        painter.drawRect(frame)
        painter.restore()

    def _at(self, x: float, y: float, scene: Scene) -> QPointF:
        left, top = scene.bounds[:2]
        return self._inner.topLeft() + QPointF((x - left) * self._factor, (y - top) * self._factor)

    def layout_point(self, at: QPointF, scene: Scene) -> tuple[float, float]:
        """The layout point under a point of the minimap."""
        return (
            scene.bounds[0] + (at.x() - self._inner.left()) / self._factor,
            scene.bounds[1] + (at.y() - self._inner.top()) / self._factor,
        )


@dataclass(frozen=True, slots=True)
class Crumb:
    """One element of the bread crumb and what a press on it does."""

    title: str
    go: Callable[[], None] | None = None


@dataclass(slots=True)
class Breadcrumb:
    """Where one is: graph, subgraph, scopes of the selection."""

    crumbs: tuple[Crumb, ...] = ()
    rect: QRectF = field(default_factory=QRectF)
    _places: list[tuple[QRectF, Crumb]] = field(default_factory=list)

    def paint(self, painter: QPainter, viewport: Viewport, colors: CanvasColors, font: QFont) -> None:
        """Paints the crumbs from the left; some of the middle are left out when they do not fit."""
        self._places = []
        self.rect = QRectF()
        if not self.crumbs:
            return
        body = sized(font, 12)
        metrics = QFontMetricsF(body)
        room = viewport.width - 2 * MARGIN - 20
        shown, total = _fitting(self.crumbs, metrics, room)
        self.rect = QRectF(MARGIN, MARGIN, math.ceil(min(total, room)) + 20, 26)
        paint_ground(painter, self.rect, colors)
        painter.setFont(body)
        x = self.rect.left() + 10
        for index, crumb in enumerate(shown):
            advance = min(metrics.horizontalAdvance(crumb.title), self.rect.right() - 10 - x)
            if advance <= 8 and len(crumb.title) > 1:
                break
            box = QRectF(x, self.rect.top(), advance + 1, self.rect.height())
            is_last = index == len(shown) - 1
            painter.setPen(colors.role("text" if is_last else "quiet"))
            title = metrics.elidedText(crumb.title, Qt.TextElideMode.ElideRight, advance + 1)
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, title)
            self._places.append((box.adjusted(-4, 0, 4, 0), crumb))
            x += advance
            if not is_last:
                _chevron(painter, QPointF(x + CRUMB_GAP / 2, self.rect.center().y()), colors.role("quiet"))
                x += CRUMB_GAP

    def crumb_at(self, at: QPointF) -> Crumb | None:
        """The crumb under a point, None when there is none."""
        return next((crumb for box, crumb in self._places if box.contains(at)), None)


def _fitting(crumbs: tuple[Crumb, ...], metrics: QFontMetricsF, room: float) -> tuple[list[Crumb], float]:
    """The crumbs that fit, the second ones first replaced by an ellipsis, and their width."""
    widths = [metrics.horizontalAdvance(c.title) + CRUMB_GAP for c in crumbs]
    ellipsis = Crumb("…")
    for dropped in range(max(len(crumbs) - 1, 1)):
        shown = list(crumbs) if not dropped else [crumbs[0], ellipsis, *crumbs[1 + dropped :]]
        total = sum(widths) - CRUMB_GAP - sum(widths[1 : 1 + dropped])
        if dropped:
            total += metrics.horizontalAdvance(ellipsis.title) + CRUMB_GAP
        if total <= room:
            break
    return shown, total


def _chevron(painter: QPainter, at: QPointF, color: QColor) -> None:
    painter.setPen(QPen(color, 1.3))
    painter.drawLine(at + QPointF(-2, -3.5), at + QPointF(1.5, 0))
    painter.drawLine(at + QPointF(1.5, 0), at + QPointF(-2, 3.5))
