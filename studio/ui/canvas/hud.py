"""Panels over the scene: legend (bottom left), minimap (bottom right), bread crumb (top left).

Each panel knows its rectangle, paints itself, and answers presses; the widget asks them in order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from PySide6.QtCore import QCoreApplication, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QLinearGradient, QPainter, QPen

from studio.ui.canvas.colors import CanvasColors, heat_color
from studio.ui.canvas.density import DensityMap
from studio.ui.canvas.overlay import Overlay
from studio.ui.canvas.overlays import value_text
from studio.ui.canvas.scene import Scene
from studio.ui.canvas.shapes import draw_icon, fill_hatched
from studio.ui.canvas.texts import sized
from studio.ui.canvas.viewport import Viewport

MARGIN = 12.0
ROW = 20.0
MOST_ROWS = 7


def paint_panel(painter: QPainter, rect: QRectF, colors: CanvasColors) -> None:
    """The ground of a panel."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    ground = colors.role("panel")
    ground.setAlphaF(0.94)
    painter.setPen(QPen(colors.role("line"), 1))
    painter.setBrush(ground)
    painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)


class Legend:
    """What the colours, icons and patterns of the overlay mean, with counts."""

    def __init__(self) -> None:
        self.rect = QRectF()

    def paint(
        self,
        painter: QPainter,
        viewport: Viewport,
        overlay: Overlay | None,
        counts: list[int],
        colors: CanvasColors,
        font: QFont,
    ) -> None:
        """Paints the legend; `counts` are nodes per category."""
        self.rect = QRectF()
        if overlay is None or (overlay.values is None and not overlay.categories):
            return
        if overlay.values is not None:
            self._paint_scale(painter, viewport, overlay, colors, font)
            return
        rows = [(c, n) for c, n in zip(overlay.categories, counts) if n]
        hidden = max(len(rows) - MOST_ROWS, 0)
        rows = rows[:MOST_ROWS]
        head, body = sized(font, 11, bold=True), sized(font, 12)
        metrics = QFontMetricsF(body)
        words = [(c.title, f"{n:,}") for c, n in rows]
        label_width = max((metrics.horizontalAdvance(t) for t, _ in words), default=0.0)
        count_width = max((metrics.horizontalAdvance(n) for _, n in words), default=0.0)
        title = metrics.elidedText(overlay.name, Qt.TextElideMode.ElideRight, 260)
        more = QCoreApplication.translate("canvas", "and {count} more").format(count=hidden) if hidden else ""
        width = max(
            42 + label_width + 16 + count_width + 12, QFontMetricsF(head).horizontalAdvance(title) + 24
        )
        height = 12 + 18 + ROW * (len(rows) + bool(more)) + 4
        if width > viewport.width - 2 * MARGIN or height > viewport.height * 0.7:
            return
        self.rect = QRectF(MARGIN, viewport.height - MARGIN - height, width, height)
        paint_panel(painter, self.rect, colors)
        left, y = self.rect.left(), self.rect.top() + 8
        painter.setFont(head)
        painter.setPen(colors.role("quiet"))
        painter.drawText(QRectF(left + 12, y, width - 24, 18), Qt.AlignmentFlag.AlignVCenter, title)
        y += 21
        painter.setFont(body)
        for (category, _), (label, number) in zip(rows, words):
            color = colors.role(category.color)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            fill_hatched(
                painter, QRectF(left + 12, y + 3, 8, ROW - 6), category.hatch, color, colors.role("panel")
            )
            draw_icon(painter, category.icon, QPointF(left + 31, y + ROW / 2), 10, color)
            painter.setPen(colors.role("text"))
            painter.drawText(QRectF(left + 42, y, label_width + 4, ROW), Qt.AlignmentFlag.AlignVCenter, label)
            painter.setPen(colors.role("quiet"))
            painter.drawText(
                QRectF(self.rect.right() - 12 - count_width - 4, y, count_width + 4, ROW),
                Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight,
                number,
            )
            y += ROW
        if more:
            painter.drawText(QRectF(left + 42, y, width - 54, ROW), Qt.AlignmentFlag.AlignVCenter, more)

    def _paint_scale(
        self, painter: QPainter, viewport: Viewport, overlay: Overlay, colors: CanvasColors, font: QFont
    ) -> None:
        width, height = 236.0, 66.0
        if width > viewport.width - 2 * MARGIN or height > viewport.height * 0.5:
            return
        self.rect = QRectF(MARGIN, viewport.height - MARGIN - height, width, height)
        paint_panel(painter, self.rect, colors)
        bar = QRectF(self.rect.left() + 12, self.rect.top() + 29, width - 24, 9)
        gradient = QLinearGradient(bar.topLeft(), bar.topRight())
        for k in range(17):
            gradient.setColorAt(k / 16, heat_color(k / 16))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(gradient)
        painter.drawRect(bar)
        painter.setFont(sized(font, 11, bold=True))
        painter.setPen(colors.role("quiet"))
        painter.drawText(
            QRectF(bar.left(), self.rect.top() + 7, bar.width(), 18),
            Qt.AlignmentFlag.AlignVCenter,
            overlay.name,
        )
        painter.setFont(sized(font, 11))
        top = self.largest
        for place, align in ((0.0, Qt.AlignmentFlag.AlignLeft), (0.5, Qt.AlignmentFlag.AlignHCenter),
                             (1.0, Qt.AlignmentFlag.AlignRight)):  # fmt: skip
            words = value_text(top * place**2, overlay.unit)
            x = bar.left() + bar.width() * place
            box = QRectF(x - 60, bar.bottom() + 2, 120, 18)
            if align is Qt.AlignmentFlag.AlignLeft:
                box.moveLeft(x)
            elif align is Qt.AlignmentFlag.AlignRight:
                box.moveRight(x)
            painter.drawText(box, align | Qt.AlignmentFlag.AlignVCenter, words)

    largest: float = 0.0


class Minimap:
    """The whole layout, small, with the part in sight; a press goes there."""

    def __init__(self) -> None:
        self.rect = QRectF()
        self._inner = QRectF()
        self._factor = 1.0

    def place(self, viewport: Viewport, scene: Scene) -> None:
        """Decides where the minimap is; nowhere when all is in sight or the widget is small."""
        self.rect = QRectF()
        left, top, right, bottom = scene.bounds
        seen = viewport.visible()
        if seen[0] <= left and seen[1] <= top and seen[2] >= right and seen[3] >= bottom:
            return
        if viewport.width < 360 or viewport.height < 260 or not scene.count:
            return
        wide, high = right - left, bottom - top
        self._factor = min(150 / wide, min(220.0, viewport.height * 0.4) / high)
        width, height = max(wide * self._factor, 28.0), max(high * self._factor, 28.0)
        self.rect = QRectF(
            viewport.width - MARGIN - width - 12,
            viewport.height - MARGIN - height - 12,
            width + 12,
            height + 12,
        )
        self._inner = QRectF(0, 0, wide * self._factor, high * self._factor)
        self._inner.moveCenter(self.rect.center())

    def paint(
        self, painter: QPainter, viewport: Viewport, scene: Scene, density: DensityMap, colors: CanvasColors
    ) -> None:
        """Paints the picture and the frame of what is in sight."""
        if self.rect.isEmpty():
            return
        paint_panel(painter, self.rect, colors)
        target = QRectF(self._inner.topLeft(), self._inner.size())
        target.setWidth(density.width / density.scale * self._factor)
        target.setHeight(density.height / density.scale * self._factor)
        density.draw_into(painter, target, self.rect, viewport.pixel_ratio)
        left, top, right, bottom = viewport.visible()
        x0, y0 = scene.bounds[:2]
        frame = QRectF(
            QPointF(
                self._inner.left() + (left - x0) * self._factor, self._inner.top() + (top - y0) * self._factor
            ),
            QPointF(
                self._inner.left() + (right - x0) * self._factor,
                self._inner.top() + (bottom - y0) * self._factor,
            ),
        )
        painter.save()
        painter.setClipRect(self.rect.adjusted(1, 1, -1, -1))
        fill = colors.role("accent")
        fill.setAlphaF(0.10)
        if frame.width() < 6 or frame.height() < 6:
            center = frame.center()
            frame.setSize(frame.size().expandedTo(QRectF(0, 0, 6, 6).size()))
            frame.moveCenter(center)
        painter.setPen(QPen(colors.role("accent"), 1.5))
        painter.setBrush(fill)
        painter.drawRect(frame)
        painter.restore()

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
        """Paints the crumbs from the left; the middle is left out when they do not fit."""
        self._places = []
        self.rect = QRectF()
        if not self.crumbs:
            return
        body = sized(font, 12)
        metrics = QFontMetricsF(body)
        room = viewport.width - 2 * MARGIN - 20
        shown = list(self.crumbs)

        def total() -> float:
            return sum(metrics.horizontalAdvance(c.title) + 18 for c in shown) - 18

        while len(shown) > 2 and total() > room:
            if shown[1].title == "…" and len(shown) > 3:
                del shown[2]
            elif shown[1].title == "…":
                break
            else:
                shown[1] = Crumb("…")
        width = min(total(), room)
        self.rect = QRectF(MARGIN, MARGIN, width + 20, 26)
        paint_panel(painter, self.rect, colors)
        painter.setFont(body)
        x = self.rect.left() + 10
        for index, crumb in enumerate(shown):
            advance = min(metrics.horizontalAdvance(crumb.title), self.rect.right() - 10 - x)
            if advance <= 8:
                break
            box = QRectF(x, self.rect.top(), advance + 1, self.rect.height())
            is_last = index == len(shown) - 1
            painter.setPen(colors.role("text" if is_last else "quiet"))
            title = metrics.elidedText(crumb.title, Qt.TextElideMode.ElideRight, advance + 1)
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, title)
            self._places.append((box.adjusted(-4, 0, 4, 0), crumb))
            x += advance
            if not is_last:
                _chevron(painter, QPointF(x + 9, self.rect.center().y()), colors.role("quiet"))
                x += 18

    def crumb_at(self, at: QPointF) -> Crumb | None:
        """The crumb under a point, None when there is none."""
        return next((crumb for box, crumb in self._places if box.contains(at)), None)


def _chevron(painter: QPainter, at: QPointF, color: QColor) -> None:
    painter.setPen(QPen(color, 1.3))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.drawLine(at + QPointF(-2, -3.5), at + QPointF(1.5, 0))
    painter.drawLine(at + QPointF(1.5, 0), at + QPointF(-2, 3.5))
