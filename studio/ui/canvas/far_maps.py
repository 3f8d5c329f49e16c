"""FarMaps: the pictures of a whole scene from far away: a sharp one, and a small one for minimap and haste.

Each is made when it is asked for at once, or, where a frame could do without, later and slice by slice. Until
the small one of another layout is made, the minimap shows the one of the layout before.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from studio.ui.canvas.density import MAP_PIXELS, DensityMap
from studio.ui.canvas.scene import Scene


class FarMaps:
    """The two maps of a scene, in the present colours."""

    def __init__(self, scene: Scene, earlier: DensityMap | None = None) -> None:
        self._scene = scene
        self._earlier = earlier
        self._sharp: DensityMap | None = None
        self._small: DensityMap | None = None
        self._sharp_is_fresh = self._small_is_fresh = False
        self._colors: tuple[npt.NDArray[np.uint8], tuple[int, int, int]] | None = None
        self._refining: Iterator[None] | None = None
        self.lacks_sharp = self.lacks_small = False
        """What the last frame did without."""

    def recolor(self, item_rgb: npt.NDArray[np.uint8], edge_rgb: tuple[int, int, int]) -> None:
        """Takes other colours for the boxes ([items, 3]) and for edges; the pictures are made later."""
        self._colors = item_rgb, edge_rgb
        self._sharp_is_fresh = self._small_is_fresh = False
        self._refining = None
        self.lacks_sharp |= self._sharp is not None

    @property
    def last_small(self) -> DensityMap | None:
        """The small map that was made last, perhaps of the layout before."""
        return self._small if self._small is not None and self._small.version else self._earlier

    def sharp(self) -> DensityMap:
        """The far picture."""
        self._finish(self._make_sharp())
        return self._sharp_map()

    def small(self) -> DensityMap:
        """The far picture with few pixels."""
        self._finish(self._make_small())
        return self._small_map()

    def far(self) -> DensityMap:
        """The sharp picture when there is one, else the small one."""
        self.lacks_sharp = not self._sharp_is_fresh
        return self.small() if self.lacks_sharp else self._sharp_map()

    def minimap(self) -> DensityMap:
        """The small picture, or the one of the layout before when making it can wait."""
        if self._small_is_fresh or self._earlier is None:
            return self.small()
        self.lacks_small = True
        return self._earlier

    def refine(self, most_ms: float = math.inf) -> bool:
        """Makes what the last frame did without, for about so long; whether all of it is made."""
        end = time.perf_counter() + most_ms / 1000
        if self._refining is None:
            self._refining = self._make_all()
        for _ in self._refining:
            if time.perf_counter() >= end:
                return False
        self._refining = None
        return True

    def _make_all(self) -> Iterator[None]:
        if self.lacks_small:
            yield from self._make_small()
        if self.lacks_sharp:
            yield from self._make_sharp()

    def _make_small(self) -> Iterator[None]:
        if not self._small_is_fresh and self._colors is not None:
            yield from self._small_map().recoloring(*self._colors)
            self._small_is_fresh, self._earlier = True, None
        self.lacks_small = False

    def _make_sharp(self) -> Iterator[None]:
        if not self._sharp_is_fresh and self._colors is not None:
            yield from self._sharp_map().recoloring(*self._colors)
            self._sharp_is_fresh = True
        self.lacks_sharp = False

    def _small_map(self) -> DensityMap:
        if self._small is None:
            self._small = DensityMap(self._scene, MAP_PIXELS)
        return self._small

    def _sharp_map(self) -> DensityMap:
        if self._sharp is None:
            self._sharp = DensityMap(self._scene)
        return self._sharp

    def _finish(self, steps: Iterator[None]) -> None:
        """Makes a map at once; what is made slice by slice begins anew."""
        for _ in steps:
            self._refining = None
