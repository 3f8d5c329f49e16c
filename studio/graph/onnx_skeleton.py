"""A skeleton of an ONNX file: the same protobuf with large weights replaced by where they are.

The file is mapped, not read. Tensors of more than 1,024 elements keep name, type and dims; their
bytes become an external-data entry whose location is `SELF`, with offset and length in the file
itself. So a file of any size (protobuf's own limit is 2 GB) opens in the time its structure needs,
and inline and external weights look the same to what follows.

Wire format: https://protobuf.dev/programming-guides/encoding/; field numbers: onnx/onnx.proto (1.23).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from studio.errors import InputError
from studio.graph.builder import MAX_VALUES, refuse_size

SELF = "\0self"
"""External-data location that means: in the model file itself. No path can contain NUL."""

MAX_DEPTH = 40
MAX_FIELDS = 24_000_000
_COPY_BELOW = 256
"""Messages shorter than this are copied unseen: they cannot hide 1,024 elements of any type worth cutting."""
_INLINE_LIMIT = 16 * 1024
"""No payload longer than this stays inline, whatever its dims say."""

_MODEL, _GRAPH, _NODE, _ATTRIBUTE, _TENSOR, _SPARSE, _FUNCTION = range(7)
_CHILDREN: dict[int, dict[int, int]] = {
    _MODEL: {7: _GRAPH, 25: _FUNCTION},
    _GRAPH: {1: _NODE, 5: _TENSOR, 15: _SPARSE},
    _NODE: {5: _ATTRIBUTE},
    _ATTRIBUTE: {5: _TENSOR, 6: _GRAPH, 10: _TENSOR, 11: _GRAPH, 22: _SPARSE, 23: _SPARSE},
    _SPARSE: {1: _TENSOR, 2: _TENSOR},
    _FUNCTION: {7: _NODE, 11: _ATTRIBUTE},
}
_DROPPED: dict[int, frozenset[int]] = {_MODEL: frozenset({20})}  # training_info
_PAYLOADS = {9: "raw", 4: "raw", 10: "raw", 5: "varint", 7: "varint", 11: "varint"}
"""TensorProto fields with packed values → how the bytes are encoded (float_data and double_data are raw)."""


class _Broken(Exception):
    """The bytes are not a protobuf message."""


@dataclass
class Skeleton:
    """The protobuf without large payloads, and whether training information was left out."""

    data: bytes
    has_training: bool = False


@dataclass
class _State:
    fields: int = 0
    has_training: bool = False


def fields_of(data: memoryview, start: int, end: int) -> Iterator[tuple[int, int, int, int, int]]:
    """(field number, wire type, field start, value start, value end) of each field of a message.

    For a varint the value bytes are the varint itself. Raises `_Broken` when lengths do not fit.
    """
    at = start
    while at < end:
        begin = at
        byte = data[at]
        at += 1
        if byte < 0x80:
            tag = byte
        else:
            tag, at = _varint(data, at - 1, end)
        wire = tag & 7
        value = at
        if wire == 2:
            if at >= end:
                raise _Broken
            length = data[at]
            at += 1
            if length >= 0x80:
                length, at = _varint(data, at - 1, end)
            value = at
            at += length
        elif wire == 0:
            while True:
                if at >= end or at - value >= 10:
                    raise _Broken
                at += 1
                if data[at - 1] < 0x80:
                    break
        elif wire == 5:
            at += 4
        elif wire == 1:
            at += 8
        else:
            raise _Broken
        if at > end or tag < 8:
            raise _Broken
        yield tag >> 3, wire, begin, value, at


def _varint(data: memoryview, at: int, end: int) -> tuple[int, int]:
    result = shift = 0
    while True:
        if at >= end or shift > 63:
            raise _Broken
        byte = data[at]
        at += 1
        result |= (byte & 0x7F) << shift
        if byte < 0x80:
            return result, at
        shift += 7


def looks_like_model(data: memoryview) -> bool:
    """Whether the bytes are a whole ModelProto: every top-level field fits, and one is a graph."""
    known = {1: 0, 2: 2, 3: 2, 4: 2, 5: 0, 6: 2, 7: 2, 8: 2, 14: 2, 20: 2, 25: 2, 26: 2}
    has_graph = False
    try:
        for number, wire, _, _, _ in fields_of(data, 0, len(data)):
            if known.get(number, wire) != wire:
                return False
            has_graph = has_graph or number == 7
    except _Broken:
        return False
    return has_graph


def has_functions(data: memoryview) -> bool:
    """Whether a mapped ONNX file defines local functions; False for what is no such file."""
    try:
        return any(number == 25 for number, _, _, _, _ in fields_of(data, 0, len(data)))
    except _Broken:
        return False


def read_skeleton(data: memoryview) -> Skeleton:
    """The skeleton of a mapped ONNX file. Raises InputError for a truncated or absurd one."""
    state = _State()
    parts: list[bytes | memoryview] = []
    try:
        _copy(data, 0, len(data), _MODEL, parts, state, 0)
    except _Broken:
        raise InputError(
            "The ONNX file is truncated or damaged.", hint="Copy or export the file again."
        ) from None
    return Skeleton(b"".join(parts), state.has_training)


def _copy(
    data: memoryview,
    start: int,
    end: int,
    kind: int,
    out: list[bytes | memoryview],
    state: _State,
    depth: int,
) -> None:
    """Appends the message without its large payloads; contiguous kept fields are one slice."""
    if depth > MAX_DEPTH:
        raise InputError("The ONNX file nests graphs too deeply.", hint="Flatten its If and Loop bodies.")
    children = _CHILDREN[kind]
    dropped = _DROPPED.get(kind, frozenset())
    kept_from = start
    count = 0
    for number, wire, begin, value, stop in fields_of(data, start, end):
        count += 1
        if wire != 2:
            continue
        if number in dropped:
            out.append(data[kept_from:begin])
            kept_from = stop
            state.has_training = True
            continue
        child = children.get(number)
        if child is None or stop - value < _COPY_BELOW:
            continue
        inner: list[bytes | memoryview] = []
        if child == _TENSOR:
            if not _copy_tensor(data, value, stop, inner):
                continue
        else:
            _copy(data, value, stop, child, inner, state, depth + 1)
        out.append(data[kept_from:begin])
        kept_from = stop
        out.append(_header(number, sum(map(len, inner))))
        out += inner
    out.append(data[kept_from:end])
    state.fields += count
    if state.fields > MAX_FIELDS:
        raise refuse_size("fields")


def _copy_tensor(data: memoryview, start: int, end: int, out: list[bytes | memoryview]) -> bool:
    """Appends a TensorProto without its payload; False when it is small enough to stay whole."""
    elements = 1
    payload: tuple[int, int, str] | None = None
    kept: list[tuple[int, int]] = []
    for number, wire, begin, value, stop in fields_of(data, start, end):
        if number == 1:
            at = value
            while at < stop:
                dim, at = _varint(data, at, stop)
                elements = min(elements * dim, 1 << 70)
        if wire == 2 and number in _PAYLOADS and stop > value and payload is None:
            payload = (value, stop, _PAYLOADS[number])
            continue
        if number == 14:  # data_location: stated anew below
            continue
        kept.append((begin, stop))
    if payload is None or (elements <= MAX_VALUES and payload[1] - payload[0] <= _INLINE_LIMIT):
        return False
    out += [data[a:b] for a, b in kept]
    first, last, encoding = payload
    for key, text in (
        ("location", SELF), ("offset", str(first)), ("length", str(last - first)), ("encoding", encoding),
    ):  # fmt: skip
        entry = _text(1, key) + _text(2, text)
        out.append(_header(13, len(entry)) + entry)
    out.append(b"\x70\x01")  # data_location = EXTERNAL
    return True


def _encode_varint(value: int) -> bytes:
    result = bytearray()
    while value >= 0x80:
        result.append(value & 0x7F | 0x80)
        value >>= 7
    result.append(value)
    return bytes(result)


def _header(number: int, length: int) -> bytes:
    return _encode_varint(number << 3 | 2) + _encode_varint(length)


def _text(number: int, text: str) -> bytes:
    raw = text.encode()
    return _header(number, len(raw)) + raw
