"""Folding: a problem whose crowded layers are one box each, and the way back."""

from __future__ import annotations

from studio.graph.crowds import Grid, make_grid
from studio.graph.nets import Arrangement, Net, Problem


class Folding:
    """A problem whose crowded layers are one box each, and the way back."""

    def __init__(self, problem: Problem, layer: list[int], crowds: list[int]) -> None:
        self.whole = problem
        grid_of = {at: k for k, at in enumerate(crowds)}
        members: list[list[int]] = [[] for _ in crowds]
        single = []
        for box, at in enumerate(layer):
            if at in grid_of:
                members[grid_of[at]].append(box)
            else:
                single.append((at, box))
        self.grids = [make_grid(m, problem.left, problem.right, problem.height) for m in members]
        rows = sorted([*single, *((at, -1 - k) for k, at in enumerate(crowds))])
        self.box_at = {box: index for index, (_, box) in enumerate(rows)}  # −1 − k is the grid k
        self.place = [0] * len(layer)  # of every box in the folded problem
        self.is_member = [False] * len(layer)
        for _, box in single:
            self.place[box] = self.box_at[box]
        for k, grid in enumerate(self.grids):
            for box in grid.members:
                self.place[box] = self.box_at[-1 - k]
                self.is_member[box] = True
        self.slot_of: list[
            int
        ] = []  # per target of each net: which one it is among the folded ones, −1 = none
        self.folded = Problem([], [], [], [], self._nets())
        for _, box in rows:
            self._add(self.grids[-1 - box] if box < 0 else None, box)

    def _add(self, grid: Grid | None, box: int) -> None:
        small, whole = self.folded, self.whole
        small.left.append(grid.half_width if grid else whole.left[box])
        small.right.append(grid.half_width if grid else whole.right[box])
        small.height.append(grid.height if grid else whole.height[box])
        small.weight.append(sum(whole.weight[m] for m in grid.members) if grid else whole.weight[box])

    def _nets(self) -> list[Net]:
        """The nets between single boxes, and one line for all that runs between a grid and another box."""
        nets: list[Net] = []
        bundles: set[tuple[int, int]] = set()
        slots = 0
        for net in self.whole.nets:
            source = self.place[net.source] if net.source >= 0 else net.source
            own = Net(source, [], net.source_dx)
            for index, target in enumerate(net.targets):
                there = self.place[target] if target >= 0 else target
                if self._touches(net.source, target):
                    bundles.add((source, there))
                    self.slot_of.append(-1)
                else:
                    self.slot_of.append(slots)
                    slots += 1
                    own.targets.append(there)
                    own.target_dx.append(net.target_dx[index] if net.target_dx else 0.0)
            if own.targets:
                nets.append(own)
        nets += [Net(source, [target], 0.0, [0.0]) for source, target in sorted(bundles)]
        return nets

    def _touches(self, source: int, target: int) -> bool:
        return (source >= 0 and self.is_member[source]) or (target >= 0 and self.is_member[target])

    def unfold(self, small: Arrangement) -> Arrangement:
        """The arrangement of the whole problem, given that of the folded one."""
        x = [small.x[place] for place in self.place]
        y = [small.y[place] for place in self.place]
        for grid in self.grids:
            for box, dx, dy in zip(grid.members, grid.x, grid.y):
                x[box] += dx
                y[box] += dy
        paths = [small.paths[slot] if slot >= 0 else [] for slot in self.slot_of]
        return Arrangement(x, y, paths, small.left, small.right, small.height, small.effort)
