"""Quantised blocks of GGUF files as float32, by ggml's own definitions.

A block is a few scales and the packed integers of 32 or 256 neighbouring weights. Layouts and arithmetic:
ggml/src/ggml-common.h and ggml-quants.c (dequantize_row_*), checked against the `gguf` package 0.19.
The types IQ1, IQ2 and IQ3 look their values up in large code books that are part of ggml's program text.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Floats = Any
"""Arrays of float32: numpy's stubs widen the type at every product."""

BLOCKS = {
    2: ("q4_0", 32, 18), 3: ("q4_1", 32, 20), 6: ("q5_0", 32, 22), 7: ("q5_1", 32, 24), 8: ("q8_0", 32, 34),
    9: ("q8_1", 32, 36), 10: ("q2_k", 256, 84), 11: ("q3_k", 256, 110), 12: ("q4_k", 256, 144),
    13: ("q5_k", 256, 176), 14: ("q6_k", 256, 210), 15: ("q8_k", 256, 292), 16: ("iq2_xxs", 256, 66),
    17: ("iq2_xs", 256, 74), 18: ("iq3_xxs", 256, 98), 19: ("iq1_s", 256, 50), 20: ("iq4_nl", 32, 18),
    21: ("iq3_s", 256, 110), 22: ("iq2_s", 256, 82), 23: ("iq4_xs", 256, 136), 29: ("iq1_m", 256, 56),
    34: ("tq1_0", 256, 54), 35: ("tq2_0", 256, 66), 39: ("mxfp4", 32, 17), 40: ("nvfp4", 64, 36),
    41: ("q1_0", 128, 18),
}  # fmt: skip
"""ggml type → (name, elements of a block, bytes of a block)."""

_SIZES = {name: (elements, size) for name, elements, size in BLOCKS.values()}
_CHUNK = 1 << 15  # blocks decoded at a time

_FOUR_BITS = np.array([-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113], np.float32)
"""kvalues_iq4nl: the sixteen values of IQ4_NL and IQ4_XS."""

_E2M1 = np.array([0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12], np.float32)
"""kvalues_mxfp4: 4-bit floats, doubled."""


def decode(raw: Bytes, name: str, into: Floats) -> None:
    """Fills `into` with the values of the blocks. Raises ValueError when they do not fit or are not known."""
    decoder = _DECODERS.get(name)
    if decoder is None:
        raise ValueError(f"values of {name.upper()} are places in code books that the studio does not have")
    elements, size = _SIZES[name]
    count = into.size // elements
    if count * elements != into.size:
        raise ValueError(f"the number of elements is no multiple of {elements}, the block of {name.upper()}")
    if raw.size < count * size:
        raise ValueError(f"{raw.size} bytes cannot hold {count} blocks of {size} bytes")
    blocks = raw[: count * size].reshape(count, size)
    rows = into.reshape(count, elements)
    with np.errstate(over="ignore", invalid="ignore"):  # a damaged scale may be NaN or infinite
        for start in range(0, count, _CHUNK):
            part = np.ascontiguousarray(blocks[start : start + _CHUNK])
            rows[start : start + _CHUNK] = decoder(part).reshape(len(part), elements)


def _half(blocks: Bytes, at: int) -> Floats:
    """The float16 at a place of every block, as a column."""
    return np.ascontiguousarray(blocks[:, at : at + 2]).view("<f2").astype(np.float32)


def _nibbles(packed: Bytes) -> Bytes:
    """Low halves of all bytes of a row, then the high halves."""
    return np.concatenate([packed & 0x0F, packed >> 4], axis=-1)


def _grouped(packed: Bytes, width: int, bits: int) -> Bytes:
    """Fields of `bits` bits: those of the lowest place of `width` bytes, then of the next place, …"""
    groups = packed.reshape(len(packed), -1, 1, width)
    shifts = np.arange(0, 8, bits, dtype=np.uint8).reshape(1, 1, -1, 1)
    fields: Bytes = ((groups >> shifts) & ((1 << bits) - 1)).reshape(len(packed), -1).astype(np.uint8)
    return fields


def _single_bits(packed: Bytes) -> Bytes:
    """The bits of a row as one byte each, lowest first."""
    return np.unpackbits(packed, axis=-1, bitorder="little")


def _q1_0(b: Bytes) -> Floats:
    """A set bit is the scale, a clear one its negative."""
    return _half(b, 0) * (2 * _single_bits(b[:, 2:]).astype(np.float32) - 1)


def _q4_0(b: Bytes) -> Floats:
    return _half(b, 0) * (_nibbles(b[:, 2:]).astype(np.float32) - 8)


def _q4_1(b: Bytes) -> Floats:
    return _half(b, 0) * _nibbles(b[:, 4:]) + _half(b, 2)


def _q5_0(b: Bytes) -> Floats:
    values = _nibbles(b[:, 6:]) | (_single_bits(b[:, 2:6]) << 4)
    return _half(b, 0) * (values.astype(np.float32) - 16)


def _q5_1(b: Bytes) -> Floats:
    return _half(b, 0) * (_nibbles(b[:, 8:]) | (_single_bits(b[:, 4:8]) << 4)) + _half(b, 2)


def _q8(at: int) -> Callable[[Bytes], Floats]:
    return lambda b: _half(b, 0) * b[:, at:].view(np.int8)


def _q8_k(b: Bytes) -> Floats:
    scale = np.ascontiguousarray(b[:, :4]).view("<f4")
    return scale * b[:, 4:260].view(np.int8)


def _q2_k(b: Bytes) -> Floats:
    scales, values = b[:, :16], _grouped(b[:, 16:80], 32, 2).reshape(-1, 16, 16)
    scale = (_half(b, 80) * (scales & 0x0F))[..., None]
    return scale * values - (_half(b, 82) * (scales >> 4))[..., None]


def _q3_k(b: Bytes) -> Floats:
    low = _grouped(b[:, 32:96], 32, 2).reshape(-1, 16, 16)
    high = _grouped(b[:, :32], 32, 1).reshape(-1, 16, 16)  # a set bit means: nothing is taken off
    packed = b[:, 96:108]
    four = _nibbles(packed[:, :8])
    two = _grouped(packed[:, 8:], 4, 2)
    scales = (four | (two << 4)).astype(np.float32) - 32
    return (_half(b, 108) * scales)[..., None] * (low.astype(np.float32) - 4 * (1 - high.astype(np.float32)))


def _scales_and_minima(packed: Bytes) -> tuple[Bytes, Bytes]:
    """Eight scales and eight minima of 6 bits in 12 bytes."""
    a, b, c = packed[:, :4], packed[:, 4:8], packed[:, 8:]
    scales = np.concatenate([a & 0x3F, (c & 0x0F) | ((a >> 2) & 0x30)], axis=-1)
    minima = np.concatenate([b & 0x3F, (c >> 4) | ((b >> 2) & 0x30)], axis=-1)
    return scales, minima


def _with_minima(b: Bytes, values: npt.NDArray[Any]) -> Floats:
    scales, minima = _scales_and_minima(b[:, 4:16])
    return (_half(b, 0) * scales)[..., None] * values - (_half(b, 2) * minima)[..., None]


def _q4_k(b: Bytes) -> Floats:
    return _with_minima(b, _grouped(b[:, 16:], 32, 4).reshape(-1, 8, 32))


def _q5_k(b: Bytes) -> Floats:
    high = _grouped(b[:, 16:48], 32, 1)
    values = _grouped(b[:, 48:], 32, 4) | (high << 4)
    return _with_minima(b, values.reshape(-1, 8, 32))


def _q6_k(b: Bytes) -> Floats:
    low, high = _grouped(b[:, :128], 64, 4), _grouped(b[:, 128:192], 32, 2)
    values = (low | (high << 4)).astype(np.float32).reshape(-1, 16, 16) - 32
    return (_half(b, 208) * b[:, 192:208].view(np.int8))[..., None] * values


def _iq4_nl(b: Bytes) -> Floats:
    return _half(b, 0) * _FOUR_BITS[_nibbles(b[:, 2:])]


def _iq4_xs(b: Bytes) -> Floats:
    high = np.ascontiguousarray(b[:, 2:4]).view("<u2") >> np.arange(0, 16, 2, dtype=np.uint16)
    low = np.stack([b[:, 4:8] & 0x0F, b[:, 4:8] >> 4], axis=-1).reshape(-1, 8)
    scales = (low | ((high & 3) << 4)).astype(np.float32) - 32
    values = _FOUR_BITS[_grouped(b[:, 8:], 16, 4)].reshape(-1, 8, 32)
    return (_half(b, 0) * scales)[..., None] * values


def _tq2_0(b: Bytes) -> Floats:
    return _half(b, 64) * (_grouped(b[:, :64], 32, 2).astype(np.float32) - 1)


def _tq1_0(b: Bytes) -> Floats:
    """Five ternary digits to a byte, as its upper digits in base 3; four in the last four bytes."""
    parts = [(b[:, :32], 5), (b[:, 32:48], 5), (b[:, 48:52], 4)]
    digits = []
    for packed, count in parts:
        powers = np.array([1, 3, 9, 27, 81][:count], np.uint8).reshape(1, -1, 1)
        shifted = (packed[:, None, :] * powers).astype(np.uint16)
        digits.append(((shifted * 3) >> 8).reshape(len(b), -1))
    return _half(b, 52) * (np.concatenate(digits, axis=-1).astype(np.float32) - 1)


def _mxfp4(b: Bytes) -> Floats:
    """The block's exponent is a power of two, halved since the table is doubled."""
    scale = np.ldexp(np.float32(1), b[:, :1].astype(np.int32) - 128)
    return scale.astype(np.float32) * _E2M1[_nibbles(b[:, 1:])]


def _nvfp4(b: Bytes) -> Floats:
    """Four groups of sixteen, each with a scale of four exponent and three mantissa bits."""
    codes = b[:, :4].astype(np.int32)
    exponent, mantissa = codes >> 3 & 0x0F, (codes & 7).astype(np.float32)
    scale = np.where(exponent == 0, np.ldexp(mantissa, -9), np.ldexp(1 + mantissa / 8, exponent - 7)) / 2
    scale = np.where((codes == 0) | (codes == 0x7F), 0, scale).astype(np.float32)
    values = _E2M1[_nibbles(b[:, 4:].reshape(-1, 8))].reshape(-1, 4, 16)
    return scale[..., None] * values


_DECODERS: dict[str, Callable[[Bytes], Floats]] = {
    "q1_0": _q1_0, "q4_0": _q4_0, "q4_1": _q4_1, "q5_0": _q5_0, "q5_1": _q5_1, "q8_0": _q8(2),
    "q8_1": _q8(4), "q2_k": _q2_k, "q3_k": _q3_k, "q4_k": _q4_k, "q5_k": _q5_k, "q6_k": _q6_k, "q8_k": _q8_k,
    "iq4_nl": _iq4_nl, "iq4_xs": _iq4_xs, "tq1_0": _tq1_0, "tq2_0": _tq2_0, "mxfp4": _mxfp4, "nvfp4": _nvfp4,
}  # fmt: skip
