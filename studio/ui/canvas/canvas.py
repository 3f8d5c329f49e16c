"""GraphCanvas: the widget that shows a graph: its frames, painted and sharpened, and pictures of it.

What it shows and what is selected is in `surface`, what places and wishes mean in `pointing`, which
Qt event goes where in `events`, motion in `camera`, detail in `painter`.
"""

from __future__ import annotations

from PySide6.QtCore import QTimer
from PySide6.QtGui import QImage, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from studio.ui.canvas import export
from studio.ui.canvas.events import CanvasEvents
from studio.ui.canvas.labels import clean
from studio.ui.canvas.legend import Legend
from studio.ui.canvas.viewport import Viewport

SHARPEN_MS = 60  # after a coarse frame
SLICE_MS = 4.0  # of sharpening, before whatever else waits is served


class GraphCanvas(CanvasEvents):
    """Shows a graph by its layout; one overlay colours it. All state is set by the methods of `Surface`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._sharpening = QTimer(self)
        self._sharpening.setSingleShot(True)
        self._sharpening.timeout.connect(self._sharpen)
        self.start()

    # Frames

    def paintEvent(self, event: QPaintEvent) -> None:
        view = self.viewport
        if view.pixel_ratio != self.devicePixelRatioF():  # moved to another screen
            self.camera.resize(self.width(), self.height(), self.devicePixelRatioF())
        painter = QPainter(self)
        self.paint_into(painter)
        painter.end()

    def paint_into(self, painter: QPainter) -> None:
        """Paints one frame with its panels."""
        drawn = self._painter
        drawn.paint(painter, self.viewport)
        self._panels.paint(painter, self.viewport, drawn, self.font())
        if drawn.is_coarse:
            self._sharpening.start(SHARPEN_MS)

    def _sharpen(self) -> None:
        """Makes sharp what was painted coarsely, slice by slice; a change of view or colours begins anew."""
        if not self._painter.is_coarse:
            return
        if self._painter.refine(SLICE_MS):
            self.update()
        else:
            self._sharpening.start(0)

    # Pictures

    def grab_image(self, *, whole: bool = True, scale: float = 1.0) -> QImage:
        """A picture of the whole graph or of what is in sight; see `export.grab_image`."""
        return export.grab_image(
            self._painter, self.viewport, whole=whole, scale=scale, legend=self._picture_legend()
        )

    def _picture_legend(self) -> export.PictureLegend:
        """The legend for a picture, which has no panels but this one."""
        drawn, legend, overlay = self._painter, Legend(), self._overlay
        counts = overlay.counts if overlay is not None else []
        items, colors, font = drawn.coloring.items, drawn.colors, self.font()
        width, height = legend.size(overlay, counts, items, colors, font)

        def paint(brush: QPainter, view: Viewport) -> None:
            legend.paint(brush, view, overlay, counts, items, colors, font, as_vectors=True)

        return export.PictureLegend(width, height, paint)

    def save_png(self, path: str, *, whole: bool = True, scale: float = 2.0) -> None:
        """Writes a PNG; raises InputError when it cannot be written."""
        export.save_png(self.grab_image(whole=whole, scale=scale), path)

    def save_pdf(self, path: str, *, whole: bool = True) -> None:
        """Writes a PDF of one page; raises InputError when it cannot be written."""
        title = clean(self.scene.graph.name)
        legend = self._picture_legend()
        export.save_pdf(self._painter, self.viewport, path, whole=whole, title=title, legend=legend)
