"""Verdicts of large graphs on all targets by rule: seconds, and what of them is gathering.

Usage: bench_verdicts.py [BLOCKS …] (30 nodes a block; default 33 333 1666, about 1,000 10,000 50,000 nodes).
The promise: 10,000 nodes on all targets in under 0.5 s.
"""

from __future__ import annotations

import statistics
import sys
import time

from studio.graph.builder import GraphBuilder
from studio.graph.cost import node_costs
from studio.graph.graph import Graph, TensorKind
from studio.support import judge
from studio.support.gather import gather
from studio.targets import TARGETS

WIDTH, HEADS, LENGTH = 64, 4, 64


def transformer(blocks: int) -> Graph:
    """An encoder of that many blocks, as an ONNX exporter writes it."""
    b = GraphBuilder("onnx")
    body = b.subgraph("main")
    b.graph.opsets[""] = 20
    x = entry = b.tensor("x", "float32", (1, LENGTH, WIDTH), TensorKind.INPUT)

    def constant(*shape: int, value: list[int] | None = None) -> int:
        tensor = b.tensor(f"w{b.tensor_count}", "int64" if value else "float32", shape)
        b.constant(tensor, value=value)
        return tensor

    def node(op: str, inputs: list[int], *shape: int, **attributes: object) -> int:
        out = b.tensor(f"t{b.tensor_count}", "float32", shape)
        b.node(op, inputs, [out], name=f"n{b.node_count}", attributes=attributes)  # type: ignore[arg-type]
        return out

    heads, merged = constant(4, value=[1, LENGTH, HEADS, 16]), constant(3, value=[1, LENGTH, WIDTH])
    split, flat = (1, HEADS, LENGTH, 16), (1, LENGTH, WIDTH)

    def dense(y: int, inside: int, outside: int) -> int:
        product = node("MatMul", [y, constant(inside, outside)], 1, LENGTH, outside)
        return node("Add", [product, constant(outside)], 1, LENGTH, outside)

    for _ in range(blocks):
        q, k, v = (
            node("Transpose", [node("Reshape", [dense(x, WIDTH, WIDTH), heads], 1, LENGTH, HEADS, 16)],
                 *split, perm=[0, 2, 1, 3])
            for _ in range(3)
        )  # fmt: skip
        turned = node("Transpose", [k], 1, HEADS, 16, LENGTH, perm=[0, 1, 3, 2])
        scores = node("MatMul", [q, turned], 1, HEADS, LENGTH, LENGTH)
        scaled = node("Mul", [scores, constant(1)], 1, HEADS, LENGTH, LENGTH)
        weights = node("Softmax", [scaled], 1, HEADS, LENGTH, LENGTH, axis=-1)
        mixed = node(
            "Transpose", [node("MatMul", [weights, v], *split)], 1, LENGTH, HEADS, 16, perm=[0, 2, 1, 3]
        )
        y = node("Add", [x, dense(node("Reshape", [mixed, merged], *flat), WIDTH, WIDTH)], *flat)
        y = node("LayerNormalization", [y, constant(WIDTH), constant(WIDTH)], *flat, axis=-1)
        wide = node("Gelu", [dense(y, WIDTH, 2 * WIDTH)], 1, LENGTH, 2 * WIDTH)
        x = node("Add", [y, dense(wide, 2 * WIDTH, WIDTH)], *flat)
        x = node("LayerNormalization", [x, constant(WIDTH), constant(WIDTH)], *flat, axis=-1)
    b.close_subgraph(body, [entry], [x])
    return b.finish()


def main() -> None:
    judge(transformer(1), TARGETS)  # reads the tables once
    print(f"{'nodes':>8} {'distinct':>9} {'gather s':>9} {'all targets s':>14} {'per target ms':>14}")
    for blocks in [int(a) for a in sys.argv[1:]] or [33, 333, 1666]:
        times = []
        for _ in range(3):
            graph = transformer(blocks)
            costs = node_costs(graph)
            started = time.perf_counter()
            judge(graph, TARGETS, costs=costs)
            times.append(time.perf_counter() - started)
        started = time.perf_counter()
        distinct = len(gather(graph).nodes)
        gathering = time.perf_counter() - started
        total = statistics.median(times)
        print(
            f"{graph.node_count:>8} {distinct:>9} {gathering:>9.3f} {total:>14.3f} "
            f"{1000 * total / len(TARGETS):>14.2f}"
        )


if __name__ == "__main__":
    main()
