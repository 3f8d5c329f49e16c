"""Search: which nodes a query means.

A query is words, all of which must hold:

    conv              free text: in the operator, the name, or a tensor's name
    op:Conv           the operator; `*` and `?` are wild (`op:Conv*`), without them the whole word
    name:layers.0     in the node's name or its scope's path
    tensor:logits     in the name of a tensor it reads or makes
    dtype:int8        the type of a tensor it reads or makes
    shape:[1,3,*]     a tensor's shape; `*` any dim, `…` or `...` any number of dims, names for symbolic dims
    attr:group=1      an attribute's value; `attr:group` = has it; `>`, `<`, `!=` work on numbers
    in:encoder        within a scope
    -op:Conv          not

and a path pattern finds the nodes of every path of that form: `MatMul → * → Softmax` (also `->`); `*` is
any one node, `**` up to eight.

Why joined bytes: numpy looks through all lower-case names of 50,000 nodes in a few milliseconds, a loop
over nodes does not.
"""

from __future__ import annotations

import fnmatch
import re
import shlex
from collections.abc import Callable, Iterable
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from studio.errors import InputError
from studio.graph.graph import AttributeValue, Graph, Shape
from studio.graph.paths import match_path
from studio.graph.scopes import scope_tree

Bools = npt.NDArray[np.bool_]

_ARROW = re.compile(r"\s*(?:→|->)\s*")
_LONGEST = 400  # characters of a name that are searched
_COMPARISON = re.compile(r"^([^=<>!]+)(=|!=|>=|<=|>|<)(.*)$", re.DOTALL)


def search(graph: Graph, query: str) -> list[int]:
    """The nodes that a query means, in file order; none for an empty query.

    Raises InputError for a query that cannot be read (an unknown `key:`, an open quote, a bad shape).
    """
    query = query.strip()
    if not query:
        return []
    if _ARROW.search(query):
        steps = _ARROW.split(query)
        if not all(steps):
            raise InputError(
                f"“{query}” has an arrow without an operator beside it.",
                hint="Write for example: MatMul → * → Softmax.",
            )
        index = _index_of(graph)
        matchers: list[Bools | int] = []
        for step in steps:
            if set(step) == {"*"}:
                matchers.append(1 if step == "*" else 8)
            else:
                matchers.append(_all_words(graph, index, step, bare_is_operator=True))
        return np.flatnonzero(match_path(graph, matchers)).tolist()
    return np.flatnonzero(_all_words(graph, _index_of(graph), query)).tolist()


def prepare_search(graph: Graph) -> None:
    """Nothing; the first search of the graph will be as quick as those after it."""
    _index_of(graph)


class _Index:
    """Lower-case columns of one graph, joined for `str.find`."""

    def __init__(self, graph: Graph) -> None:
        self.op = [op.lower() for op in graph.node_op]
        self.names = _Joined(name[-_LONGEST:].lower() for name in graph.node_name)
        self.tensors = _Joined(name[-_LONGEST:].lower() for name in graph.tensor_name)
        self.ops: dict[str, list[int]] = {}
        for node, op in enumerate(self.op):
            self.ops.setdefault(op, []).append(node)
        count = graph.node_count
        reader = np.repeat(np.arange(count), np.diff(graph.input_offsets))
        maker = np.repeat(np.arange(count), np.diff(graph.output_offsets))
        self.node_of_use = np.concatenate([reader, maker])
        self.tensor_of_use = np.concatenate([graph.input_tensors, graph.output_tensors])
        used = self.tensor_of_use >= 0
        self.node_of_use, self.tensor_of_use = self.node_of_use[used], self.tensor_of_use[used]
        self.attributes: dict[str, list[int]] = {}
        for node, attributes in enumerate(graph.node_attributes):
            for name in attributes:
                self.attributes.setdefault(name.lower(), []).append(node)


class _Joined:
    """Many short texts as one array of bytes, to look through all of them at once."""

    def __init__(self, texts: Iterable[str]) -> None:
        rows = [text.replace("\0", " ").encode("utf-8", "replace") for text in texts]
        self.bytes = np.frombuffer(b"\0".join(rows) + b"\0", np.uint8)
        lengths = np.fromiter((len(row) + 1 for row in rows), np.int64, len(rows))
        self.ends = np.cumsum(lengths)
        self.size = len(rows)

    def holding(self, part: str) -> Bools:
        """True for the texts that hold `part`."""
        result = np.zeros(self.size, np.bool_)
        wanted = part.encode("utf-8", "replace")
        if not wanted or b"\0" in wanted or len(wanted) >= len(self.bytes):
            return result
        at = np.flatnonzero(self.bytes[: len(self.bytes) - len(wanted)] == wanted[0])
        for k in range(1, len(wanted)):
            at = at[self.bytes[at + k] == wanted[k]]
        result[np.searchsorted(self.ends, at, side="right")] = True
        return result


_indices: WeakKeyDictionary[Graph, _Index] = WeakKeyDictionary()


def _index_of(graph: Graph) -> _Index:
    index = _indices.get(graph)
    if index is None:
        index = _indices[graph] = _Index(graph)
    return index


def _all_words(graph: Graph, index: _Index, query: str, *, bare_is_operator: bool = False) -> Bools:
    """True for the nodes for which every word of a query holds."""
    try:
        words = shlex.split(query, posix=True)
    except ValueError:
        raise InputError(f"“{query}” has a quote that does not end.", hint="Close the quote.") from None
    result = np.ones(graph.node_count, np.bool_)
    for word in words:
        negated = word.startswith("-") and len(word) > 1
        mask = _word(graph, index, word[1:] if negated else word, bare_is_operator)
        result &= ~mask if negated else mask
    return result


def _word(graph: Graph, index: _Index, word: str, bare_is_operator: bool) -> Bools:
    key, colon, value = word.partition(":")
    finder = _KEYS.get(key.lower()) if colon else None
    if finder is not None:
        if not value:
            return np.ones(graph.node_count, np.bool_)  # still being typed
        return finder(graph, index, value)
    if bare_is_operator:
        return _by_op(graph, index, word)
    return _by_text(graph, index, word)


def _nodes(graph: Graph, found: Iterable[int]) -> Bools:
    mask = np.zeros(graph.node_count, np.bool_)
    mask[np.fromiter(found, np.int64)] = True
    return mask


def _by_text(graph: Graph, index: _Index, value: str) -> Bools:
    part = value.lower()
    found = index.names.holding(part) | _touching(graph, index, index.tensors.holding(part))
    for op, nodes in index.ops.items():
        if part in op:
            found[nodes] = True
    return found


def _by_op(graph: Graph, index: _Index, value: str) -> Bools:
    wanted = value.lower()
    return _nodes(
        graph, (n for op, nodes in index.ops.items() if fnmatch.fnmatchcase(op, wanted) for n in nodes)
    )


def _by_name(graph: Graph, index: _Index, value: str) -> Bools:
    return index.names.holding(value.lower()) | _by_scope(graph, index, value)


def _by_scope(graph: Graph, index: _Index, value: str) -> Bools:
    tree = scope_tree(graph)
    wanted = value.lower()
    inside = np.zeros(tree.size, np.bool_)
    for scope in range(1, tree.size):
        parent = int(tree.parent[scope])
        inside[scope] = inside[parent] or wanted in tree.name[scope].lower() or (
            "/" in wanted and wanted in tree.path(scope).lower()
        )  # fmt: skip
    return inside[tree.node_scope]


def _by_tensor(graph: Graph, index: _Index, value: str) -> Bools:
    return _touching(graph, index, index.tensors.holding(value.lower()))


def _by_dtype(graph: Graph, index: _Index, value: str) -> Bools:
    wanted = _DTYPES.get(value.lower(), value.lower())
    names = {d for d in set(graph.tensor_dtype) if fnmatch.fnmatchcase(d, wanted)}
    return _touching(graph, index, np.array([d in names for d in graph.tensor_dtype], np.bool_))


def _by_shape(graph: Graph, index: _Index, value: str) -> Bools:
    pattern = _shape_pattern(value)
    known: dict[Shape, bool] = {}
    mask = np.zeros(graph.tensor_count, np.bool_)
    for tensor, shape in enumerate(graph.tensor_shape):
        if shape is None:
            continue
        fits = known.get(shape)
        if fits is None:
            fits = known[shape] = _fits(shape, pattern)
        mask[tensor] = fits
    return _touching(graph, index, mask)


def _shape_pattern(value: str) -> list[str]:
    text = value.strip().strip("[]()").replace("...", "…")
    dims = [d.strip().lower() for d in re.split(r"[,×x]", text)] if text else []
    if any(not d for d in dims) or dims.count("…") > 1:
        raise InputError(
            f"“shape:{value}” is not a shape.", hint="Write for example shape:[1,3,*] or shape:[1,…]."
        )
    return dims


def _fits(shape: Shape, pattern: list[str]) -> bool:
    if "…" in pattern:
        at = pattern.index("…")
        tail = len(pattern) - at - 1
        if len(shape) < len(pattern) - 1:
            return False
        return _fits(shape[:at], pattern[:at]) and _fits(shape[len(shape) - tail :], pattern[at + 1 :])
    return len(shape) == len(pattern) and all(
        want in ("*", "?" if dim is None else str(dim).lower()) for dim, want in zip(shape, pattern)
    )


def _by_attribute(graph: Graph, index: _Index, value: str) -> Bools:
    match = _COMPARISON.match(value)
    name, sign, wanted = (match[1], match[2], match[3]) if match else (value, "", "")
    holders = index.attributes.get(name.strip().lower(), [])
    if not sign:
        return _nodes(graph, holders)
    found = []
    for node in holders:
        attributes = graph.node_attributes[node]
        actual = next(v for k, v in attributes.items() if k.lower() == name.strip().lower())
        if _compares(actual, sign, wanted.strip()):
            found.append(node)
    return _nodes(graph, found)


def _compares(actual: AttributeValue, sign: str, wanted: str) -> bool:
    text = _attribute_text(actual)
    if sign in ("=", "!="):
        same = fnmatch.fnmatchcase(text, re.sub(r"[\s\[\]()]", "", wanted.lower()))
        if not same and isinstance(actual, int | float):
            same = _is_number(actual, _number(wanted))
        return same == (sign == "=")
    number = _number(wanted)
    if number is None or not isinstance(actual, int | float):
        return False
    return {
        ">": actual > number, "<": actual < number, ">=": actual >= number, "<=": actual <= number,
    }[sign]  # fmt: skip


def _is_number(actual: float, wanted: float | None) -> bool:
    """Whether a number is the one that was typed; files keep 1e-5 as the float32 nearest to it."""
    if wanted is None:
        return False
    return float(actual) == wanted or bool(
        isinstance(actual, float) and np.float32(actual) == np.float32(wanted)
    )


def _attribute_text(value: AttributeValue) -> str:
    if isinstance(value, list):
        return ",".join(map(_attribute_text, value))
    return str(value).lower()


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _touching(graph: Graph, index: _Index, tensors: Bools) -> Bools:
    """True for the nodes that read or make one of these tensors."""
    result = np.zeros(graph.node_count, np.bool_)
    if tensors.any():
        result[index.node_of_use[tensors[index.tensor_of_use]]] = True
    return result


_DTYPES = {
    "f32": "float32", "fp32": "float32", "float": "float32", "f16": "float16", "fp16": "float16",
    "half": "float16", "bf16": "bfloat16", "f64": "float64", "double": "float64", "i8": "int8", "u8": "uint8",
    "i16": "int16", "u16": "uint16", "i32": "int32", "i64": "int64", "i4": "int4", "u4": "uint4",
}  # fmt: skip

_KEYS: dict[str, Callable[[Graph, _Index, str], Bools]] = {
    "op": _by_op,
    "name": _by_name,
    "tensor": _by_tensor,
    "dtype": _by_dtype,
    "shape": _by_shape,
    "attr": _by_attribute,
    "in": _by_scope,
}
