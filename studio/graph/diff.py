"""GraphDiff: what is the same, changed, added and removed between two graphs, as columns and as a list."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from studio.graph.diff_constants import Constants, value_text
from studio.graph.graph import AttributeValue, Graph, TensorRef
from studio.graph.labels import shape_text
from studio.graph.matching import match_nodes
from studio.graph.wiring import Wiring
from studio.records import Choice, Record

Ints = npt.NDArray[np.int32]
Codes = npt.NDArray[np.uint8]
Row = tuple["ChangeKind", str, str, str]

_TELL_EVERY = 256  # nodes; with weights of a few MB each that is a fraction of a second


class Status(IntEnum):
    """What became of a node; the codes of `GraphDiff.status_a` and `status_b`."""

    SAME = 0
    CHANGED = 1
    REMOVED = 2
    ADDED = 3


class ChangeKind(Choice):
    """What of a node differs."""

    ADDED = "added"
    REMOVED = "removed"
    OPERATOR = "operator"
    ATTRIBUTE = "attribute"
    SHAPE = "shape"
    DTYPE = "dtype"
    QUANTIZATION = "quantization"
    INPUTS = "inputs"
    WEIGHTS = "weights"


class Change(Record):
    """One difference: the node in each graph (−1 = not there), and before and after in words."""

    kind: ChangeKind
    node_a: int
    node_b: int
    what: str = ""
    before: str = ""
    after: str = ""


@dataclass(slots=True, eq=False)
class GraphDiff:
    """Matches and statuses per node of both graphs, and the list of changes in file order."""

    match_a: Ints  # node of b for every node of a, −1 = none
    match_b: Ints
    status_a: Codes  # SAME, CHANGED or REMOVED
    status_b: Codes  # SAME, CHANGED or ADDED
    changes: tuple[Change, ...]
    weights_compared: bool = False
    notes: tuple[str, ...] = ()

    def counts(self) -> dict[str, int]:
        """How many nodes are the same, changed, removed and added."""
        both = np.bincount(np.concatenate([self.status_a, self.status_b]), minlength=4).tolist()
        same = int((self.status_a == Status.SAME).sum())
        changed = int((self.status_a == Status.CHANGED).sum())
        return {"same": same, "changed": changed, "removed": both[2], "added": both[3]}


def _silent(stage: str, done: int, total: int) -> None:
    """Tells nobody."""


def diff_graphs(
    a: Graph, b: Graph, *, compare_weights: bool = False, tell: Callable[[str, int, int], None] = _silent
) -> GraphDiff:
    """What changed from a to b.

    Constants are compared by shape, type and, when small, value; all of them by their bytes with
    `compare_weights`, which reads them. One that cannot be read becomes a note, not a “same”.
    `tell(stage, done, total)` hears how far it is, and may raise to stop it.
    """
    tell("matching", 0, a.node_count)
    match_a, match_b = match_nodes(a, b)
    status_a = np.where(match_a >= 0, Status.SAME, Status.REMOVED).astype(np.uint8)
    status_b = np.where(match_b >= 0, Status.SAME, Status.ADDED).astype(np.uint8)
    changes: list[Change] = []
    constants = Constants(a, b, compare_weights)
    wiring = Wiring(a, b, match_a, match_b)
    for node in range(a.node_count):
        if node % _TELL_EVERY == 0:
            tell("comparing", node, a.node_count)
        other = int(match_a[node])
        if other < 0:
            changes.append(Change(kind=ChangeKind.REMOVED, node_a=node, node_b=-1, what=a.node_op[node]))
            continue
        found = _changes(a, node, b, other, constants, wiring)
        if found:
            status_a[node] = status_b[other] = Status.CHANGED
            changes += found
    for other in np.flatnonzero(match_b < 0).tolist():
        changes.append(Change(kind=ChangeKind.ADDED, node_a=-1, node_b=other, what=b.node_op[other]))
    return GraphDiff(
        match_a, match_b, status_a, status_b, tuple(changes), compare_weights, tuple(constants.notes)
    )


def _changes(a: Graph, node: int, b: Graph, other: int, constants: Constants, wiring: Wiring) -> list[Change]:
    """The differences of two matched nodes."""
    rows: list[Row] = []
    if a.node_op[node] != b.node_op[other] or a.node_domain[node] != b.node_domain[other]:
        rows.append((ChangeKind.OPERATOR, "operator", _op(a, node), _op(b, other)))
    else:
        first, second = a.node_attributes[node], b.node_attributes[other]
        for name in sorted({*first, *second}):
            old, new = first.get(name), second.get(name)
            if isinstance(old, TensorRef) and isinstance(new, TensorRef):
                rows += _weight_rows(constants, old.tensor, new.tensor)
            elif old != new and _is_plain(old) and _is_plain(new):
                rows.append((ChangeKind.ATTRIBUTE, name, value_text(old), value_text(new)))
    rows += _output_changes(a, node, b, other)
    ours = [t for t in a.inputs_of(node).tolist() if t >= 0]
    theirs = [t for t in b.inputs_of(other).tolist() if t >= 0]
    if len(ours) != len(theirs):
        rows.append((ChangeKind.INPUTS, "inputs", str(len(ours)), str(len(theirs))))
    for place, before, after in wiring.changes(node, other):
        rows.append((ChangeKind.INPUTS, f"input {place}", before, after))
    for s, t in zip(ours, theirs):
        if constants.are_both(s, t):
            rows += _weight_rows(constants, s, t)
    return [
        Change(kind=kind, node_a=node, node_b=other, what=what, before=before, after=after)
        for kind, what, before, after in rows
    ]


def _weight_rows(constants: Constants, s: int, t: int) -> list[Row]:
    return [(ChangeKind.WEIGHTS, *difference) for difference in constants.changes(s, t)]


def _op(graph: Graph, node: int) -> str:
    domain = graph.node_domain[node]
    return f"{domain}.{graph.node_op[node]}" if domain else graph.node_op[node]


def _is_plain(value: AttributeValue) -> bool:
    """False for tensors and subgraphs, whose numbers mean nothing in another graph."""
    if isinstance(value, list):
        return all(isinstance(v, int | float | str) for v in value)
    return value is None or isinstance(value, int | float | str)


def _output_changes(a: Graph, node: int, b: Graph, other: int) -> list[Row]:
    rows: list[Row] = []
    for s, t in zip(a.outputs_of(node).tolist(), b.outputs_of(other).tolist()):
        if s < 0 or t < 0:
            continue
        name = f"output {a.tensor_name[s][-80:]}"
        before, after = a.tensor_shape[s], b.tensor_shape[t]
        if before is not None and after is not None and before != after:
            rows.append((ChangeKind.SHAPE, name, shape_text(before), shape_text(after)))
        if a.tensor_dtype[s] and b.tensor_dtype[t] and a.tensor_dtype[s] != b.tensor_dtype[t]:
            rows.append((ChangeKind.DTYPE, name, a.tensor_dtype[s], b.tensor_dtype[t]))
        old, new = a.tensor_quantization.get(s), b.tensor_quantization.get(t)
        if old != new:
            rows.append((ChangeKind.QUANTIZATION, name, _quantization_text(old), _quantization_text(new)))
    return rows


def _quantization_text(value: object) -> str:
    scale = getattr(value, "scale", ())
    zero = getattr(value, "zero_point", ())
    if not scale:
        return "float"
    if len(scale) > 1:
        return f"{len(scale)} scales"
    return f"scale {scale[0]:.4g}, zero point {zero[0] if zero else 0}"
