"""Multiply-accumulates of one node, by the operator's definition: what the formats' formulas share.

Counted: convolutions, matrix products, recurrent layers, attention. Element-wise operators, pooling,
normalisation and data movement count 0, the convention of `torch.utils.flop_counter` (whose flops are
2 × these figures). Bias is not counted, nor is what a causal mask would let a kernel leave out. `Unknown` is
raised by an operator without a formula whose work is not negligible, or where a shape is missing.
The tables are in `mac_onnx`, `mac_tflite` and `mac_torch`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from studio.graph.node_shapes import NodeShapes, Unknown

Dims = Sequence[int]
Formula = Callable[[NodeShapes], int]


def unknown(n: NodeShapes) -> int:
    """For operators whose work is not negligible and not counted here."""
    raise Unknown


def conv(weight: int) -> Formula:
    """Output elements × (input channels of a group × kernel): weight is [out, in/group, *kernel]."""
    return lambda n: prod(n.output()) * prod(n.input(weight)[1:])


def conv_transpose(weight: int = 1) -> Formula:
    """Input elements × (output channels of a group × kernel): weight is [in, out/group, *kernel]."""
    return lambda n: prod(n.input(0)) * prod(n.input(weight)[1:])


def matmul(a: int = 0, b: int = 1) -> Formula:
    """numpy's matmul: the rows of the result × their length × what is summed."""
    return lambda n: matmul_macs(n.input(a), n.input(b))


def matmul_macs(left: Dims, right: Dims) -> int:
    """The same of two shapes; leading dims broadcast."""
    if not left or not right:
        return 0
    columns = right[-1] if len(right) > 1 else 1
    rows = left[-2] if len(left) > 1 else 1
    return prod(broadcast(left[:-2], right[:-2])) * rows * left[-1] * columns


def broadcast(left: Dims, right: Dims) -> list[int]:
    """The shape of two shapes broadcast against each other, as numpy does. Raises Unknown."""
    result = []
    for place in range(1, max(len(left), len(right)) + 1):
        a = left[-place] if place <= len(left) else 1
        b = right[-place] if place <= len(right) else 1
        if a != b and 1 not in (a, b):
            raise Unknown
        result.append(b if a == 1 else a)
    return result[::-1]


def recurrent(weights: Sequence[int], *, step_dims: int = 2) -> Formula:
    """Steps × batch (the first dims of the input) × every weight matrix: each is used once a step."""
    return lambda n: prod(n.input(0)[:step_dims]) * sum(prod(n.input(w)) for w in weights if n.has_input(w))


def attention_macs(query: Dims, key: Dims, value: Dims) -> int:
    """Q·Kᵀ and weights·V of [*batch, queries, size], [*, keys, size], [*, keys, value size].

    Fewer heads of keys than of queries (grouped attention) are shared: each query meets its keys once.
    """
    if min(len(query), len(key), len(value)) < 2:
        raise Unknown
    batch = [max(q, k) for q, k in zip(query[:-2], key[:-2])] if len(query) == len(key) else query[:-2]
    return prod(batch) * query[-2] * key[-2] * (query[-1] + value[-1])


def scaled_dot_product(n: NodeShapes) -> int:
    """Attention of three inputs whose last two dims are sequence and size."""
    return attention_macs(n.input(0), n.input(1), n.input(2))


def einsum(n: NodeShapes) -> int:
    """The products of an einsum, two operands at a time from the left, as ONNX Runtime contracts them.

    An index of one operand alone is summed before; a pair without a common index that is summed is an
    element-wise product, which counts 0.
    """
    equation = n.attributes.get("equation")
    if not isinstance(equation, str):
        raise Unknown
    left, arrow, result = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    shapes = n.inputs()
    if len(terms) != len(shapes):
        raise Unknown
    sizes: dict[str, int] = {}
    operands = [_letters(term, shape, sizes) for term, shape in zip(terms, shapes)]
    if arrow:
        wanted = set(result.replace(".", "")) | ({i for o in operands for i in o if len(i) > 1})
    else:
        every = [i for operand in operands for i in operand]
        wanted = {i for i in every if every.count(i) == 1 or len(i) > 1}
    total = 0
    current = operands[0]
    for place, operand in enumerate(operands[1:], 1):
        later = wanted.union(*operands[place + 1 :])
        a = {i for i in current if i in operand or i in later}
        b = {i for i in operand if i in current or i in later}
        if (a & b) - later:
            total += prod(sizes[i] for i in a | b)
        current = (a | b) & later
    return total


def _letters(term: str, shape: Dims, sizes: dict[str, int]) -> set[str]:
    """The indices of one operand, an ellipsis' by their place from the right; fills `sizes`."""
    before, dots, after = term.partition("...")
    extra = len(shape) - len(before) - len(after)
    if extra < 0 or (extra and not dots):
        raise Unknown
    names = [*before, *(f"…{place}" for place in range(extra, 0, -1)), *after]
    for name, size in zip(names, shape):
        if sizes.get(name, 1) not in (1, size) and size != 1:
            raise Unknown
        sizes[name] = max(size, sizes.get(name, 1))
    return set(names)
