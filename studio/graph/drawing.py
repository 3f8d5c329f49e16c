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


def moved(points: Floats, by: Floats, counts: npt.NDArray[np.integer]) -> Floats:
    """Points [n, 2] in groups of so many, each group moved by its row of `by` [groups, 2].

    A point is taken as one complex number: numpy is slow along an axis of two.
    """
    vectors = np.ascontiguousarray(by).view(np.complex128)[:, 0]
    result = np.repeat(vectors, counts)
    result += np.ascontiguousarray(points).view(np.complex128)[:, 0]
    return result.view(np.float64).reshape(-1, 2)
