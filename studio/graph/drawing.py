"""Drawing: a layout under way: boxes, frames and lines in place, before columns and portals are settled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@dataclass(slots=True)
class Drawing:
    """Boxes and frames as [n, 4] (left, top, width, height), and lines as points [n, 2] with offsets."""

    boxes: Floats
    frames: Floats
    frame_of: npt.NDArray[np.integer]  # the block of every frame
    frame_depth: npt.NDArray[np.integer]
    points: Floats
    offsets: npt.NDArray[np.int32]
    is_portal: npt.NDArray[np.bool_]
    box_column: npt.NDArray[np.int64]  # the column of every box
