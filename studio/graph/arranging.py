"""Arranging: a small layered drawing of boxes and nets, made in plain lists.

`arrange` takes one level of the scope tree: boxes in topological order, and nets (one source,
many targets; the outside is −1). It ranks the boxes by longest path (`ranking.py`), lays one shared
chain of dummies for every net (`layers.py`), orders the layers (`ordering.py`), places them round one
longest path that is pinned at x = 0 (`placing.py`), both segment by segment (`segment.py`), and stacks
them (`stacking.py`).

Why segments: a layer with a single entity cuts the problem in two, and neural networks consist of
such cuts. Each segment between two cuts is solved on its own, and one that was seen before (a
repeated block, the same view a moment ago) is copied. That makes plain Python fast enough at 50,000
nodes, and makes repeated blocks look alike.
Why not numba (0.007 s against 1.15 s for 10,000 nodes of a transformer without segments): its
import and the loading of compiled code cost more than all of this does now.
"""

from __future__ import annotations

from studio.graph.crowds import crowded_layers
from studio.graph.folding import Folding
from studio.graph.layers import Layers, build_layers, segments_of
from studio.graph.nets import Arrangement, Problem
from studio.graph.ordering import effort_for
from studio.graph.ranking import main_path, rank_boxes
from studio.graph.segment import Segment, forget_segments, solve_segment
from studio.graph.stacking import stack

__all__ = ["arrange", "forget_segments"]


def arrange(problem: Problem, spent: int = 0) -> Arrangement:
    """The boxes placed and the nets routed. `spent` is the effort that the layout took before."""
    layer = rank_boxes(problem)
    crowds = crowded_layers(layer)
    if crowds:
        folding = Folding(problem, layer, crowds)
        return folding.unfold(arrange(folding.folded, spent))
    proper = build_layers(problem, layer, main_path(problem, layer))
    x = [0.0] * len(proper.layer_of)
    effort = 0
    for first, last in segments_of(proper.layers):
        effort += _solve_segment(problem, proper, first, last, x, spent + effort)
    result = stack(problem, layer, proper, x)
    result.effort = effort
    return result


def _solve_segment(
    problem: Problem, proper: Layers, first: int, last: int, x: list[float], spent: int
) -> int:
    """The effort of ordering and placing one stretch of layers; writes x and the layers' new order."""
    layers = proper.layers[first : last + 1]
    names = [entity for entities in layers for entity in entities]
    local = {entity: index for index, entity in enumerate(names)}
    sweeps, starts = effort_for(len(names), spent)
    segment = Segment(
        lengths=[len(entities) for entities in layers],
        down=[
            [(local[f], there, here) for f, there, here in proper.down[e]] if at < len(layers) - 1 else []
            for at, entities in enumerate(layers)
            for e in entities
        ],
        left=[proper.left[e] for e in names],
        right=[proper.right[e] for e in names],
        is_dummy=[proper.net_of[e] >= 0 for e in names],
        pinned=[local[p] if p >= 0 else -1 for p in proper.pinned[first : last + 1]],
        sweeps=sweeps,
        starts=starts,
    )
    ranks, boxes = problem.before, len(problem.weight)
    before = [ranks[e] if e < boxes else -1 for e in names] if ranks else []
    is_kept = [e < boxes and problem.weight[e] > 0 for e in names] if ranks else []
    for at, (entities, xs) in enumerate(zip(*solve_segment(segment, before, is_kept))):
        proper.layers[first + at] = [names[e] for e in entities]
        for e, value in zip(entities, xs):
            x[names[e]] = value
    return len(names) * sweeps * starts
