"""Pictures of a scene: images, PNG and PDF, painted by the same painter as the screen."""

from __future__ import annotations

import math
from dataclasses import replace

from PySide6.QtCore import QMarginsF, QSizeF, Qt
from PySide6.QtGui import QImage, QPageSize, QPainter, QPdfWriter

from studio.errors import InputError
from studio.ui.canvas.painter import ScenePainter
from studio.ui.canvas.viewport import Viewport

MOST_PIXELS = 64_000_000
LONGEST_SIDE = 30_000
MARGIN = 16.0
PDF_LONGEST = 14_000.0  # points; the PDF limit is 14,400 (ISO 32000-1, annex C)


def whole_viewport(painter: ScenePainter, scale: float) -> Viewport:
    """A viewport that holds the whole scene at a scale, made smaller where the picture would be huge."""
    left, top, right, bottom = painter.scene.bounds
    wide, high = right - left + 2 * MARGIN, bottom - top + 2 * MARGIN
    scale = min(scale, math.sqrt(MOST_PIXELS / (wide * high)), LONGEST_SIDE / max(wide, high))
    width, height = max(math.ceil(wide * scale), 1), max(math.ceil(high * scale), 1)
    return Viewport(scale, (MARGIN - left) * scale, (MARGIN - top) * scale, width, height)


def grab_image(painter: ScenePainter, viewport: Viewport, *, whole: bool, scale: float) -> QImage:
    """The whole scene at a zoom of `scale`, or what is in sight at `scale` pixels per screen pixel."""
    if whole:
        view, ratio = whole_viewport(painter, scale), 1.0
    else:
        view, ratio = replace(viewport, pixel_ratio=scale), scale
    image = QImage(
        max(round(view.width * ratio), 1), max(round(view.height * ratio), 1), QImage.Format.Format_RGB32
    )
    image.setDevicePixelRatio(ratio)
    image.fill(Qt.GlobalColor.white)
    brush = QPainter(image)
    with painter.unhurried():
        painter.paint(brush, view)
    brush.end()
    return image


def save_png(image: QImage, path: str) -> None:
    """Writes an image as PNG."""
    if not image.save(path, "PNG"):  # type: ignore[call-overload]
        raise InputError(
            f"The picture could not be written to “{path}”.",
            hint="Choose a folder that exists and is writable.",
        )


def save_pdf(painter: ScenePainter, viewport: Viewport, path: str, *, whole: bool, title: str) -> None:
    """Writes one page as large as the scene (at zoom 1 when it fits into a PDF) or as the view."""
    left, top, right, bottom = painter.scene.bounds
    if whole:
        wide, high = right - left + 2 * MARGIN, bottom - top + 2 * MARGIN
        scale = min(1.0, PDF_LONGEST / max(wide, high))
        view = Viewport(scale, (MARGIN - left) * scale, (MARGIN - top) * scale, wide * scale, high * scale)
    else:
        view = viewport
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
    brush.end()
