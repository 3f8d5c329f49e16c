"""Ranks: the layer of every box, and the longest path that is drawn straight."""

from __future__ import annotations

from studio.graph.nets import Net, Problem


def rank_boxes(problem: Problem) -> list[int]:
    """The layer of every box, from 1: longest path, then boxes with slack sink to their consumers."""
    n = len(problem.left)
    layer = [1] * n
    outgoing: list[list[int]] = [[] for _ in range(n)]
    incoming = [0] * n
    for index, net in enumerate(problem.nets):
        if net.source >= 0:
            outgoing[net.source].append(index)
        for target in net.targets:
            if target >= 0:
                incoming[target] += 1
    for box in range(n):
        below = layer[box] + 1
        for index in outgoing[box]:
            for target in problem.nets[index].targets:
                if target >= 0 and layer[target] < below:
                    layer[target] = below
    for box in range(n - 1, -1, -1):
        if len(outgoing[box]) <= incoming[box]:
            continue
        lowest = 0
        for index in outgoing[box]:
            for target in problem.nets[index].targets:
                if target >= 0 and (not lowest or layer[target] < lowest):
                    lowest = layer[target]
        if lowest > layer[box] + 1:
            layer[box] = lowest - 1
    return layer


def main_path(problem: Problem, layer: list[int]) -> list[int]:
    """The heaviest of the longest paths, one box for every layer from the top."""
    n = len(layer)
    last = max(layer, default=0)
    best = [float("-inf")] * n
    before = [-1] * n
    order = sorted(range(n), key=layer.__getitem__)
    by_source: list[list[Net]] = [[] for _ in range(n)]
    for net in problem.nets:
        if net.source >= 0:
            by_source[net.source].append(net)
        else:
            for target in net.targets:
                if target >= 0 and layer[target] == 1:
                    best[target] = max(best[target], problem.weight[target] + 0.5)
    for box in order:
        if layer[box] == 1 and best[box] < 0:
            best[box] = problem.weight[box]
        score = best[box]
        if score < 0:
            continue
        for net in by_source[box]:
            for target in net.targets:
                if target < 0 or layer[target] != layer[box] + 1:
                    continue
                if score + problem.weight[target] > best[target]:
                    best[target] = score + problem.weight[target]
                    before[target] = box
    ends = [box for box in range(n) if layer[box] == last]
    if not ends:
        return []
    box = max(ends, key=lambda b: best[b])
    path = [box]
    while before[box] >= 0:
        box = before[box]
        path.append(box)
    return path[::-1]
