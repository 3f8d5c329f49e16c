"""Viewport: which part of the layout the widget shows, and the history of where one has been.

screen = layout · scale + offset, in device-independent pixels. The offset is kept on whole
device pixels, so that cards stay crisp while panning.
"""

from __future__ import annotations

from dataclasses import dataclass

MIN_SCALE = 0.0005
MAX_SCALE = 4.0


@dataclass(frozen=True, slots=True)
class Viewport:
    """A scale and an offset for a widget of `width` × `height` pixels."""

    scale: float = 1.0
    offset_x: float = 0.0
    offset_y: float = 0.0
    width: float = 1.0
    height: float = 1.0
    pixel_ratio: float = 1.0

    def to_layout(self, x: float, y: float) -> tuple[float, float]:
        """The layout point under a screen point."""
        return (x - self.offset_x) / self.scale, (y - self.offset_y) / self.scale

    def to_screen(self, x: float, y: float) -> tuple[float, float]:
        """The screen point of a layout point."""
        return x * self.scale + self.offset_x, y * self.scale + self.offset_y

    def visible(self, margin: float = 0.0) -> tuple[float, float, float, float]:
        """(left, top, right, bottom) of what is on screen, in layout pixels, `margin` screen pixels wider."""
        left, top = self.to_layout(-margin, -margin)
        right, bottom = self.to_layout(self.width + margin, self.height + margin)
        return left, top, right, bottom

    def resized(self, width: float, height: float, pixel_ratio: float) -> Viewport:
        """The same centre in a widget of another size."""
        x, y = self.to_layout(self.width / 2, self.height / 2)
        return Viewport(self.scale, 0, 0, max(width, 1), max(height, 1), pixel_ratio).centred(x, y)

    def panned(self, dx: float, dy: float) -> Viewport:
        """Moved by screen pixels."""
        return self._at(self.scale, self.offset_x + dx, self.offset_y + dy)

    def zoomed(self, factor: float, x: float, y: float, *, least: float = MIN_SCALE) -> Viewport:
        """Zoomed so that the layout point under screen point (x, y) stays there."""
        scale = min(max(self.scale * factor, min(least, self.scale)), MAX_SCALE)
        at_x, at_y = self.to_layout(x, y)
        return self._at(scale, x - at_x * scale, y - at_y * scale)

    def centred(self, x: float, y: float, scale: float | None = None) -> Viewport:
        """Layout point (x, y) in the middle of the screen, at `scale` if given."""
        scale = self.scale if scale is None else min(max(scale, MIN_SCALE), MAX_SCALE)
        return self._at(scale, self.width / 2 - x * scale, self.height / 2 - y * scale)

    def fitted(
        self, left: float, top: float, right: float, bottom: float, *, margin: float = 24.0, most: float = 1.0
    ) -> Viewport:
        """The given layout rectangle as large as it fits, not larger than scale `most`."""
        wide, high = max(right - left, 1.0), max(bottom - top, 1.0)
        room_x, room_y = max(self.width - 2 * margin, 1.0), max(self.height - 2 * margin, 1.0)
        scale = min(room_x / wide, room_y / high, most)
        return self.centred((left + right) / 2, (top + bottom) / 2, scale)

    def between(self, other: Viewport, share: float) -> Viewport:
        """A step of the way to `other`: the centre moves evenly, the scale geometrically."""
        scale = self.scale * (other.scale / self.scale) ** share
        here = self.to_layout(self.width / 2, self.height / 2)
        there = other.to_layout(other.width / 2, other.height / 2)
        return self.centred(
            here[0] + (there[0] - here[0]) * share, here[1] + (there[1] - here[1]) * share, scale
        )

    def _at(self, scale: float, x: float, y: float) -> Viewport:
        ratio = self.pixel_ratio
        return Viewport(
            scale, round(x * ratio) / ratio, round(y * ratio) / ratio, self.width, self.height, ratio
        )


@dataclass(frozen=True, slots=True)
class Place:
    """Where one has been: a node in sight (−1: none), where it was on screen, the scale, the selection.

    Places are bound to nodes, not to layout points, so they survive expanding and collapsing.
    """

    node: int
    screen_x: float
    screen_y: float
    scale: float
    selected: int = -1


class PlaceHistory:
    """Back and forward over places, as in a web browser."""

    def __init__(self, limit: int = 100) -> None:
        self._back: list[Place] = []
        self._forward: list[Place] = []
        self._limit = limit

    def leave(self, place: Place) -> None:
        """Notes the place one jumps away from; what lay ahead is forgotten."""
        if self._back and self._back[-1] == place:
            return
        self._back = [*self._back, place][-self._limit :]
        self._forward.clear()

    def back(self, here: Place) -> Place | None:
        """The place before, None at the beginning."""
        return self._step(self._back, self._forward, here)

    def forward(self, here: Place) -> Place | None:
        """The place after, None at the end."""
        return self._step(self._forward, self._back, here)

    @staticmethod
    def _step(source: list[Place], other: list[Place], here: Place) -> Place | None:
        if not source:
            return None
        other.append(here)
        return source.pop()

    def clear(self) -> None:
        """Forgets everything (another graph)."""
        self._back.clear()
        self._forward.clear()

    @property
    def can_go_back(self) -> bool:
        return bool(self._back)

    @property
    def can_go_forward(self) -> bool:
        return bool(self._forward)
