"""DensityMap: the whole layout as one small picture, for far zooms and the minimap.

How much of a pixel boxes cover and which box owns it is computed once per layout; a change of
colours is one table look-up. Coverage is exact: every box is a product of two ramps, summed as
differences (a summed-area table read backwards), so the cost does not grow with box size.
It is made in steps, band of rows after band, so that the window need not wait for the large one.
The minimap takes a map of its own with fewer pixels: it is wanted at once after every change of the layout.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QImage, QPainter

from studio.ui.canvas.scene import Scene
from studio.ui.canvas.viewport import Viewport

Floats = npt.NDArray[np.floating]

PIXELS = 1_600_000
MAP_PIXELS = 140_000  # of the minimap: as many as its panel has at 200 %
LONG_EDGE = 160.0  # layout pixels; shorter edges hide between the boxes
SAMPLES = 1_500_000
BAND_PIXELS, PORTION = 70_000, 50_000  # of a step's rows, and of its points of lines: about 3 ms
LINE_SHARE = 0.55  # how much a line covers at most, so that boxes stay louder
_HIT_SHARES = (1 - 0.72 ** np.arange(64)).astype(np.float32)  # how much so many lines darken a pixel


@dataclass(frozen=True, slots=True)
class _Band:
    """Some rows of the picture: the pixels that boxes cover, how much, and whose; the same of lines."""

    box_places: npt.NDArray[np.int64]
    box_shares: npt.NDArray[np.float32]
    box_owners: npt.NDArray[np.int64]
    line_places: npt.NDArray[np.int64]
    line_shares: npt.NDArray[np.float32]


class DensityMap:
    """Coverage and owner per pixel of a picture of the layout, and images made from them, band by band."""

    def __init__(self, scene: Scene, pixels: int = PIXELS) -> None:
        left, top, right, bottom = scene.bounds
        wide, high = max(right - left, 1.0), max(bottom - top, 1.0)
        self.scale = min(0.25, math.sqrt(pixels / (wide * high)), 16_000 / max(wide, high))
        self.left, self.top = left, top
        self.width = max(math.ceil(wide * self.scale) + 1, 1)
        self.height = max(math.ceil(high * self.scale) + 1, 1)
        self._bands: list[_Band] = []
        self._measuring = self._measure(scene)
        self._levels: list[QImage] = []
        self.version = 0
        """Counts the changes of colours."""

    def recolor(self, item_rgb: npt.NDArray[np.uint8], edge_rgb: tuple[int, int, int]) -> None:
        """Makes the images anew with a colour per box ([items, 3]) and one for edges."""
        for _ in self.recoloring(item_rgb, edge_rgb):
            pass

    def recoloring(self, item_rgb: npt.NDArray[np.uint8], edge_rgb: tuple[int, int, int]) -> Iterator[None]:
        """The steps of `recolor`, of a few milliseconds each; the old images stay until the last one.

        What was measured stays when the steps are given up half way.
        """
        for _ in self._measuring:  # not `yield from`: giving up would close it
            yield
        pixels = np.zeros(self.height * self.width, np.uint32)
        color = np.array([255, *edge_rgb], np.float32)
        table = item_rgb.astype(np.float32)
        for band in self._bands:
            # ARGB32, premultiplied; lines and boxes that share a pixel are added
            pixels[band.line_places] = _packed(band.line_shares * channel for channel in color)
            share, owners = band.box_shares, band.box_owners
            pixels[band.box_places] += _packed(
                (share * 255, *(share * table[:, channel][owners] for channel in range(3)))
            )
            yield
        image = QImage(
            pixels.data, self.width, self.height, 4 * self.width, QImage.Format.Format_ARGB32_Premultiplied
        ).copy()
        levels = [image]
        while max(levels[-1].width(), levels[-1].height()) > 128:
            yield
            last = levels[-1]
            half = max(last.width() // 2, 1), max(last.height() // 2, 1)
            smooth = Qt.TransformationMode.SmoothTransformation
            levels.append(last.scaled(*half, Qt.AspectRatioMode.IgnoreAspectRatio, smooth))
        self._levels = levels
        self.version += 1

    def _measure(self, scene: Scene) -> Iterator[None]:
        """Finds what boxes and lines cover, in steps: the lines first, then band after band."""
        hits = np.zeros(self.height * self.width, np.int32)
        for points in self._line_points(scene):
            np.add.at(hits, points, np.int32(1))  # sixty times as fast as with an int
            yield
        x = (scene.left - self.left) * self.scale, (scene.right - self.left) * self.scale
        y = (scene.top - self.top) * self.scale, (scene.bottom - self.top) * self.scale
        rows = max(BAND_PIXELS // self.width, 1)
        for first in range(0, self.height, rows):
            last = min(first + rows, self.height)
            inside = np.flatnonzero((y[0] < last) & (y[1] >= first))
            sides = x[0][inside], y[0][inside] - first, x[1][inside], y[1][inside] - first
            cover = _coverage(*sides, self.width, last - first)
            owner = _owners(*sides, self.width, last - first)
            start = first * self.width
            lines = _HIT_SHARES[np.minimum(hits[start : last * self.width], len(_HIT_SHARES) - 1)]
            lines = lines * (1 - cover) * LINE_SHARE
            boxes = np.flatnonzero((cover > 0.002) & (owner >= 0))
            darkened = np.flatnonzero(lines > 0.002)
            self._bands.append(
                _Band(boxes + start, cover[boxes], inside[owner[boxes]], darkened + start, lines[darkened])
            )
            yield

    def _line_points(self, scene: Scene) -> Iterator[npt.NDArray[np.int64]]:
        """The pixels that long edges pass, in portions."""
        layout = scene.layout
        extent = np.maximum(scene.edge_bottom - scene.edge_top, scene.edge_right - scene.edge_left)
        chosen = np.flatnonzero((extent > LONG_EDGE) & ~layout.edge_is_portal)
        edge, place = _spread(np.diff(layout.edge_offsets)[chosen] - 1)
        first = layout.edge_offsets[chosen][edge] + place
        start = (layout.edge_points[first] - (self.left, self.top)) * self.scale
        stop = (layout.edge_points[first + 1] - (self.left, self.top)) * self.scale
        steps = np.maximum(np.ceil(np.abs(stop - start).max(axis=1, initial=0)), 1).astype(np.int64)
        if steps.sum() > SAMPLES:
            steps = np.maximum(steps * SAMPLES // steps.sum(), 1)
        ends = np.cumsum(steps)
        portions = range(PORTION, int(ends[-1]) if len(ends) else 0, PORTION)
        cuts = [0, *np.searchsorted(ends, portions).tolist(), len(steps)]
        for low, high in pairwise(cuts):
            piece, place = _spread(steps[low:high])
            piece += low
            points = start[piece] + (stop - start)[piece] * (place / steps[piece])[:, None]
            x = np.clip(points[:, 0].astype(np.int64), 0, self.width - 1)
            y = np.clip(points[:, 1].astype(np.int64), 0, self.height - 1)
            yield y * self.width + x

    def draw(self, painter: QPainter, viewport: Viewport) -> None:
        """Draws the layout as seen through a viewport."""
        x, y = viewport.to_screen(self.left, self.top)
        size = viewport.scale / self.scale
        self.draw_into(painter, QRectF(x, y, self.width * size, self.height * size),
                       QRectF(0, 0, viewport.width, viewport.height), viewport.pixel_ratio)  # fmt: skip

    def draw_into(self, painter: QPainter, target: QRectF, clip: QRectF, pixel_ratio: float) -> None:
        """Draws the whole picture into `target`, only where it meets `clip`."""
        if not self._levels or target.width() <= 0:
            return
        shown = target.intersected(clip)
        if shown.isEmpty():
            return
        shrink = self.width / (target.width() * pixel_ratio)
        level = min(max(math.floor(math.log2(max(shrink, 1))), 0), len(self._levels) - 1)
        image = self._levels[level]
        zoom_x, zoom_y = image.width() / target.width(), image.height() / target.height()
        source = QRectF(
            (shown.left() - target.left()) * zoom_x,
            (shown.top() - target.top()) * zoom_y,
            shown.width() * zoom_x,
            shown.height() * zoom_y,
        )
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawImage(shown, image, source)


def _coverage(
    left: Floats, top: Floats, right: Floats, bottom: Floats, width: int, height: int
) -> npt.NDArray[np.float32]:
    """[height · width] share of every pixel that boxes cover, 0..1; boxes may reach beyond the rows."""
    stride = width + 2
    size = (height + 2) * stride
    places: list[npt.NDArray[np.int64]] = [np.zeros(0, np.int64)]
    weights: list[npt.NDArray[np.float64]] = [np.zeros(0)]
    for sign_y, y in zip((1.0, -1.0), (np.clip(top, 0, height), np.clip(bottom, 0, height))):
        row = np.floor(y).astype(np.int64)
        for sign_x, x in zip((1.0, -1.0), (left, right)):
            column = np.floor(x).astype(np.int64)
            for dy, part_y in ((0, 1 - (y - row)), (1, y - row)):
                for dx, part_x in ((0, 1 - (x - column)), (1, x - column)):
                    places.append((row + dy) * stride + column + dx)
                    weights.append(sign_x * sign_y * part_x * part_y)
    at = np.clip(np.concatenate(places), 0, size - 1)
    delta = np.bincount(at, weights=np.concatenate(weights), minlength=size)
    grid = delta.reshape(height + 2, stride).cumsum(axis=0).cumsum(axis=1)
    return grid[:height, :width].clip(0, 1).astype(np.float32).ravel()


def _owners(
    left: Floats, top: Floats, right: Floats, bottom: Floats, width: int, height: int
) -> npt.NDArray[np.int64]:
    """[height · width] the box whose colour a pixel takes, −1 for none."""
    owner = np.full(height * width, -1, np.int64)
    x0, y0 = np.floor(left).astype(np.int64), np.floor(top).astype(np.int64)
    x1, y1 = np.ceil(right).astype(np.int64), np.ceil(bottom).astype(np.int64)
    y1 = np.minimum(np.maximum(y1, y0 + 1), height)
    y0 = np.maximum(y0, 0)
    columns = np.maximum(np.minimum(np.maximum(x1, x0 + 1), width) - x0, 0)
    item, place = _spread(np.maximum(y1 - y0, 0) * columns)
    wide = columns[item]
    owner[(y0[item] + place // wide) * width + x0[item] + place % wide] = item
    return owner


def _packed(channels: Iterable[npt.NDArray[np.float32]]) -> npt.NDArray[np.uint32]:
    """Pixels of four channels from 0 to 255, alpha first."""
    alpha, red, green, blue = (channel.astype(np.uint32) for channel in channels)
    pixels: npt.NDArray[np.uint32] = (alpha << 24 | red << 16 | green << 8 | blue).astype(np.uint32)
    return pixels


def _spread(counts: npt.NDArray[np.integer]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """(owner, index): every owner k counted 0 … counts[k] − 1, one after the other."""
    owner = np.repeat(np.arange(len(counts)), counts)
    return owner, np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
