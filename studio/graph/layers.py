"""Layers: the proper layered graph of a problem, where every line steps from layer to layer."""

from __future__ import annotations

from dataclasses import dataclass

from studio.graph.nets import Problem


@dataclass(slots=True)
class Layers:
    """The proper layered graph: entities are boxes, then dummies and ports of nets."""

    layer_of: list[int]
    layers: list[list[int]]
    left: list[float]
    right: list[float]
    net_of: list[int]  # −1 for boxes
    down: list[list[tuple[int, float, float]]]  # (entity below, dx there, dx here)
    up: list[list[tuple[int, float, float]]]
    chains: list[list[int]]  # per net: its source, dummies, and exit port, from the top
    pinned: list[int]  # per layer: the entity at x = 0, −1 = none


def build_layers(problem: Problem, layer: list[int], path: list[int]) -> Layers:
    """The proper layered graph of a ranked problem; layer 0 and the last one hold the ports."""
    n = len(layer)
    last = max(layer, default=0) + 1
    layer_of = list(layer)
    layers: list[list[int]] = [[] for _ in range(last + 1)]
    for box in path:
        layers[layer[box]].append(box)
    on_path = set(path)
    for box in range(n):
        if box not in on_path:
            layers[layer[box]].append(box)
    left, right, net_of = list(problem.left), list(problem.right), [-1] * n
    down: list[list[tuple[int, float, float]]] = [[] for _ in range(n)]
    up: list[list[tuple[int, float, float]]] = [[] for _ in range(n)]
    chains: list[list[int]] = []

    def add(at: int, net: int) -> int:
        entity = len(layer_of)
        layer_of.append(at)
        layers[at].append(entity)
        left.append(0.0)
        right.append(0.0)
        net_of.append(net)
        down.append([])
        up.append([])
        return entity

    for index, net in enumerate(problem.nets):
        if not net.targets:
            chains.append([])
            continue
        start = net.source if net.source >= 0 else add(0, index)
        first = layer_of[start]
        ends = [layer[t] if t >= 0 else last for t in net.targets]
        chain = [start]
        dx = net.source_dx
        for at in range(first + 1, max(ends)):
            dummy = add(at, index)
            down[chain[-1]].append((dummy, 0.0, dx))
            up[dummy].append((chain[-1], dx, 0.0))
            chain.append(dummy)
            dx = 0.0
        for target, end, target_dx in zip(net.targets, ends, net.target_dx or [0.0] * len(ends)):
            above = chain[end - 1 - first]
            here = net.source_dx if above == start else 0.0
            if target < 0:
                target = add(last, index)
                target_dx = 0.0
                chain.append(target)
            down[above].append((target, target_dx, here))
            up[target].append((above, here, target_dx))
        chains.append(chain)

    pinned = [-1] * (last + 1)
    for box in path:
        pinned[layer[box]] = box
    if path:
        _pin_port(pinned, 0, up[path[0]])
        _pin_port(pinned, last, down[path[-1]])
    return Layers(layer_of, layers, left, right, net_of, down, up, chains, pinned)


def _pin_port(pinned: list[int], layer: int, neighbours: list[tuple[int, float, float]]) -> None:
    if neighbours and neighbours[0][1] == 0 and neighbours[0][2] == 0:
        pinned[layer] = neighbours[0][0]


def segments_of(layers: list[list[int]]) -> list[tuple[int, int]]:
    """(first, last) layers of every stretch that must be solved together, its single-entity rims included."""
    result = []
    start = -1
    for index, entities in enumerate(layers):
        if len(entities) > 1:
            if start < 0:
                start = index
        elif start >= 0:
            result.append((max(start - 1, 0), index))
            start = -1
    if start >= 0:
        result.append((max(start - 1, 0), len(layers) - 1))
    return result
