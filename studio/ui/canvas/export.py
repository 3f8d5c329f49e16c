"""Pictures of a scene: images, PNG and PDF, painted by the same painter as the screen."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from PySide6.QtCore import QMarginsF, QSizeF, Qt
from PySide6.QtGui import QImage, QPageSize, QPainter, QPdfWriter

from studio.errors import InputError
from studio.ui.canvas.hud import MARGIN as PANEL_MARGIN
from studio.ui.canvas.painter import ScenePainter
from studio.ui.canvas.viewport import Viewport

MOST_PIXELS = 64_000_000
LONGEST_SIDE = 30_000
MARGIN = 16.0
PDF_LONGEST = 14_000.0  # points; the PDF limit is 14,400 (ISO 32000-1, annex C)


@dataclass(frozen=True, slots=True)
class PictureLegend:
    """The legend in a picture: how large it is, and how it is painted at the picture's bottom left."""

    width: float
    height: float
    paint: Callable[[QPainter, Viewport], None]


def whole_viewport(
    painter: ScenePainter, scale: float, legend: PictureLegend | None = None, *, ratio: float = 1.0
) -> Viewport:
    """A viewport that holds the whole scene at a scale and the legend under it, made smaller where the
    picture would be huge; `ratio` pixels to each of its own."""
    left, top, wide, high = _extent(painter)
    scale = min(scale, math.sqrt(MOST_PIXELS / (wide * high)) / ratio, LONGEST_SIDE / max(wide, high) / ratio)
    width, height = max(math.ceil(wide * scale), 1), max(math.ceil(high * scale), 1)
    if legend is not None and legend.height:
        width = max(width, math.ceil(legend.width + 2 * PANEL_MARGIN))
        height += math.ceil(legend.height + PANEL_MARGIN)
    return Viewport(scale, (MARGIN - left) * scale, (MARGIN - top) * scale, width, height, ratio)


def _extent(painter: ScenePainter) -> tuple[float, float, float, float]:
    """(left, top, width, height) of everything that is drawn at zoom 1, with a margin in the sizes."""
    left, top, right, bottom = painter.scene.bounds
    right = max(right, painter.labels_end)
    return left, top, right - left + 2 * MARGIN, bottom - top + 2 * MARGIN


def grab_image(
    painter: ScenePainter,
    viewport: Viewport,
    *,
    whole: bool,
    scale: float,
    legend: PictureLegend | None = None,
) -> QImage:
    """The whole scene at zoom 1, or what is in sight, at `scale` pixels to one; with the legend."""
    view = (
        whole_viewport(painter, 1.0, legend, ratio=scale) if whole else replace(viewport, pixel_ratio=scale)
    )
    image = QImage(
        max(round(view.width * scale), 1), max(round(view.height * scale), 1), QImage.Format.Format_RGB32
    )
    image.setDevicePixelRatio(scale)
    image.fill(Qt.GlobalColor.white)
    brush = QPainter(image)
    with painter.unhurried():
        painter.paint(brush, view)
    if legend is not None:
        legend.paint(brush, view)
    brush.end()
    return image


def save_png(image: QImage, path: str) -> None:
    """Writes an image as PNG."""
    if not image.save(path, "PNG"):  # type: ignore[call-overload]
        raise InputError(
            f"The picture could not be written to “{path}”.",
            hint="Choose a folder that exists and is writable.",
        )


def save_pdf(
    painter: ScenePainter,
    viewport: Viewport,
    path: str,
    *,
    whole: bool,
    title: str,
    legend: PictureLegend | None = None,
) -> None:
    """Writes one page as large as the scene (at zoom 1 when it fits into a PDF) or as the view."""
    view = viewport
    if whole:
        _left, _top, wide, high = _extent(painter)
        room = PDF_LONGEST - (legend.height + PANEL_MARGIN if legend is not None else 0)
        view = whole_viewport(painter, min(1.0, room / max(wide, high)), legend)
    writer = QPdfWriter(path)
    writer.setTitle(title)
    writer.setCreator("Deployment Studio")
    writer.setResolution(72)
    size = QSizeF(max(view.width, 8), max(view.height, 8))
    writer.setPageSize(QPageSize(size, QPageSize.Unit.Point, "", QPageSize.SizeMatchPolicy.ExactMatch))
    writer.setPageMargins(QMarginsF(0, 0, 0, 0))
    brush = QPainter()
    if not brush.begin(writer):
        raise InputError(
            f"The picture could not be written to “{path}”.",
            hint="Choose a folder that exists and is writable.",
        )
    with painter.unhurried(as_vectors=True):
        painter.paint(brush, replace(view, pixel_ratio=1.0))
    if legend is not None:
        legend.paint(brush, replace(view, pixel_ratio=1.0))
    brush.end()
