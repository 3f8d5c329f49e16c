"""Writes single operators with random attributes, ranks, dtypes and opsets: the audit's fuzzed part.

Usage: fuzz_operators.py OUT SEED COUNT. Writes COUNT `.onnx` files of opsets 11 to 21 that ONNX's checker
and shape inference accept, some quantised as well (unsigned, signed per channel, or 16-bit activations), and
COUNT / 8 `.pt2` files of a dozen torch operators. The same seed writes the same.
"""

from __future__ import annotations

import random
import sys
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from build_corpus import attempt, quantized
from onnx import TensorProto, helper, numpy_helper

warnings.filterwarnings("ignore")

FLOATS = [TensorProto.FLOAT] * 6 + [TensorProto.FLOAT16, TensorProto.DOUBLE]
NUMBERS = [*FLOATS, TensorProto.INT32, TensorProto.INT64, TensorProto.UINT8, TensorProto.INT8]
UNARY = [
    "Relu", "Sigmoid", "Tanh", "Abs", "Neg", "Exp", "Log", "Sqrt", "Floor", "Ceil", "Sin", "Cos", "Erf",
    "Elu", "LeakyRelu", "HardSigmoid", "HardSwish", "Softplus", "Softsign", "Selu", "Round", "Sign",
    "Reciprocal", "Identity", "Softmax", "LogSoftmax", "Hardmax", "Flatten", "Gelu", "Mish", "Celu",
    "ThresholdedRelu", "Atan", "GlobalAveragePool", "GlobalMaxPool",
]  # fmt: skip
BINARY = [
    "Add", "Sub", "Mul", "Div", "Pow", "Max", "Min", "PRelu", "MatMul", "Equal", "Greater", "Less", "Mod",
    "GreaterOrEqual", "And",
]  # fmt: skip
REDUCE = ["ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL2", "ArgMax", "ArgMin"]
OTHERS = [
    "Conv", "ConvTranspose", "MaxPool", "AveragePool", "Concat", "Transpose", "Reshape", "Slice", "Pad",
    "Resize", "Clip", "Cast", "Gather", "Split", "Squeeze", "Unsqueeze", "Gemm", "BatchNormalization",
    "DepthToSpace", "SpaceToDepth", "LayerNormalization", "InstanceNormalization", "Tile", "Expand", "Where",
    "LRN", "TopK", "CumSum", "GatherElements", "LpPool",
]  # fmt: skip


SCHEMES = (("QUInt8", False), ("QInt8", True), ("QUInt16", True), ("QInt8", False), ("QUInt16", False))
"""Quantised activations, and whether weights are per channel."""


class Draft:
    """One operator being drawn: its inputs, constants and attributes."""

    def __init__(self, rng: random.Random, op: str, opset: int) -> None:
        self.rng, self.op, self.opset = rng, op, opset
        self.values: list[Any] = []
        self.constants: list[Any] = []
        self.names: list[str] = []
        self.attributes: dict[str, Any] = {}
        self.outputs = 1

    def take(self, shape: list[Any], dtype: int = TensorProto.FLOAT) -> None:
        """An input of the graph."""
        name = f"x{len(self.names)}"
        self.values.append(helper.make_tensor_value_info(name, dtype, shape))
        self.names.append(name)

    def hold(self, array: Any) -> None:
        """A constant."""
        name = f"c{len(self.names)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        self.names.append(name)

    def skip(self) -> None:
        self.names.append("")

    def weight(self, shape: list[int], dtype: int = TensorProto.FLOAT) -> None:
        kind = helper.tensor_dtype_to_np_dtype(dtype)
        if self.rng.random() < 0.12:
            self.take(shape, dtype)
        else:
            self.hold(np.random.default_rng(1).standard_normal(shape).astype(kind))

    def shape(self, low: int = 1, high: int = 5) -> list[int]:
        return [self.rng.choice((1, 2, 3, 4, 6, 8)) for _ in range(self.rng.randint(low, high))]

    def model(self) -> Any:
        node = helper.make_node(
            self.op, self.names, [f"y{i}" for i in range(self.outputs)], name="n0", **self.attributes
        )
        results = [helper.make_empty_tensor_value_info(f"y{i}") for i in range(self.outputs)]
        graph = helper.make_graph([node], "g", self.values, results, self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=9)
        made = onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
        onnx.checker.check_model(made, full_check=True)
        if not all(o.type.tensor_type.elem_type for o in made.graph.output):
            raise ValueError("no type inferred")
        return made


def _spatial(d: Draft) -> tuple[int, list[int], list[Any]]:
    dims = d.rng.choice((1, 2, 2, 2, 2, 3))
    channels = d.rng.choice((1, 2, 4, 8))
    size: list[Any] = [d.rng.choice((1, 1, 1, 2)), channels, *(d.rng.randint(7, 12) for _ in range(dims))]
    if d.rng.random() < 0.1:
        size[d.rng.choice((0, 2))] = "N"
    return dims, [d.rng.choice((1, 2, 3)) for _ in range(dims)], size


def _window(d: Draft, dims: int) -> None:
    pick = d.rng.choice
    d.attributes["strides"] = [pick((1, 2))] * dims if d.rng.random() < 0.8 else [1] * (dims - 1) + [2]
    if d.rng.random() < 0.25:
        d.attributes["auto_pad"] = pick(("SAME_UPPER", "SAME_LOWER", "VALID"))
    elif d.rng.random() < 0.7:
        d.attributes["pads"] = [pick((0, 1)) for _ in range(2 * dims)]


def draw_conv(d: Draft) -> None:
    dims, kernel, size = _spatial(d)
    channels, rng = size[1], d.rng
    group = rng.choice([g for g in (1, 1, 2, channels) if channels % g == 0])
    out = group * rng.choice((1, 2, 3))
    _window(d, dims)
    if rng.random() < 0.3:
        d.attributes["dilations"] = [rng.choice((1, 2))] * dims
    d.attributes |= {"group": group, "kernel_shape": kernel}
    dtype = rng.choice(FLOATS)
    d.take(size, dtype)
    transposed = d.op == "ConvTranspose"
    if transposed:
        d.attributes.pop("auto_pad", None)
        if rng.random() < 0.2 and max(d.attributes["strides"]) > 1:
            d.attributes["output_padding"] = [s - 1 for s in d.attributes["strides"]]
    d.weight(([channels, out // group] if transposed else [out, channels // group]) + kernel, dtype)
    if rng.random() < 0.6:
        d.weight([out], dtype)


def draw_pool(d: Draft) -> None:
    dims, kernel, size = _spatial(d)
    d.take(size, d.rng.choice(FLOATS))
    _window(d, dims)
    d.attributes["kernel_shape"] = [max(2, k) for k in kernel]
    if d.op == "LpPool":
        d.attributes["p"] = d.rng.choice((1, 2))
        return
    if d.rng.random() < 0.3:
        d.attributes["ceil_mode"] = 1
    if d.op == "AveragePool" and d.rng.random() < 0.4:
        d.attributes["count_include_pad"] = 1
    if d.rng.random() < 0.2 and (d.op == "MaxPool" or d.opset >= 19):
        d.attributes["dilations"] = [2] * dims
    if d.op == "MaxPool" and d.rng.random() < 0.15:
        d.outputs = 2


def draw_simple(d: Draft) -> None:
    rng = d.rng
    shape: list[Any] = list(d.shape(3 if d.op.startswith("Global") else 1))
    if rng.random() < 0.08:
        shape[0] = "N"
    d.take(shape, rng.choice(NUMBERS if d.op in ("Relu", "Abs", "Neg", "Sign", "Identity") else FLOATS))
    if d.op in ("Softmax", "LogSoftmax", "Hardmax", "Flatten"):
        d.attributes["axis"] = rng.randint(-len(shape), len(shape) - 1)
    if d.op in ("Elu", "LeakyRelu", "HardSigmoid", "ThresholdedRelu"):
        d.attributes["alpha"] = rng.choice((0.1, 0.2, 1.0))
    if d.op == "Gelu":
        d.attributes["approximate"] = rng.choice(("none", "tanh"))


def draw_binary(d: Draft) -> None:
    rng, shape = d.rng, d.shape()
    dtype = TensorProto.BOOL if d.op == "And" else rng.choice(FLOATS if d.op in ("PRelu", "Pow") else NUMBERS)
    if d.op == "Mod" and dtype in FLOATS:
        d.attributes["fmod"] = 1
    if d.op == "MatMul":
        shape = d.shape(2, 4)
        other = [*(shape[:-2] if rng.random() < 0.5 else []), shape[-1], rng.choice((1, 3, 8))]
    else:
        other = [s if rng.random() < 0.7 else 1 for s in shape][rng.choice((0, 0, min(1, len(shape) - 1))) :]
    d.take(shape, dtype)
    if rng.random() < 0.5:
        d.take(other, dtype)
    else:
        d.hold(
            np.abs(np.random.default_rng(2).integers(1, 3, other)).astype(
                helper.tensor_dtype_to_np_dtype(dtype)
            )
        )


def draw_reduce(d: Draft) -> None:
    rng, shape = d.rng, d.shape()
    d.take(shape, rng.choice([*FLOATS, TensorProto.INT32]))
    d.attributes["keepdims"] = rng.choice((0, 1))
    if d.op.startswith("Arg"):
        d.attributes["axis"] = rng.randint(-len(shape), len(shape) - 1)
        if rng.random() < 0.3:
            d.attributes["select_last_index"] = 1 if d.opset >= 12 else 0
        return
    axes = sorted(rng.sample(range(len(shape)), rng.randint(1, len(shape))))
    if d.opset >= (13 if d.op == "ReduceSum" else 18):
        if rng.random() < 0.9:
            d.hold(np.asarray(axes, np.int64))
    elif rng.random() < 0.9:
        d.attributes["axes"] = axes


def draw_resize(d: Draft) -> None:
    rng = d.rng
    shape = [1, rng.choice((1, 3, 8)), 6, 8] if rng.random() < 0.8 else [1, 3, 8]
    d.take(shape, rng.choice(FLOATS))
    mode = rng.choice(("nearest", "nearest", "linear", "linear", "cubic"))
    d.attributes["mode"] = mode
    d.attributes["coordinate_transformation_mode"] = rng.choice(
        ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel")
    )
    if mode == "nearest":
        d.attributes["nearest_mode"] = rng.choice(
            ("round_prefer_floor", "floor", "ceil", "round_prefer_ceil")
        )
    if d.opset >= 18 and rng.random() < 0.15:
        d.attributes["antialias"] = 1 if mode != "nearest" else 0
    d.hold(np.zeros(0, np.float32)) if d.opset < 13 else d.skip()
    factors = rng.choice(((2.0, 2.0), (1.5, 2.0), (0.5, 0.5), (4.0, 4.0)))
    if rng.random() < 0.5:
        d.hold(np.asarray([1, 1, *factors][: len(shape)], np.float32))
    else:
        d.hold(np.zeros(0, np.float32)) if d.opset < 13 else d.skip()
        d.hold(np.asarray([*shape[:2], *(int(s * f) for s, f in zip(shape[2:], factors))], np.int64))


def draw_rest(d: Draft) -> None:
    rng, op, shape = d.rng, d.op, d.shape()
    dtype = rng.choice(NUMBERS)
    rank = len(shape)
    axis = rng.randint(-rank, rank - 1)
    if op == "Concat":
        for _ in range(rng.randint(2, 6)):
            d.take(shape, dtype)
        d.attributes["axis"] = axis
    elif op == "Transpose":
        d.take(shape, dtype)
        d.attributes["perm"] = rng.sample(range(rank), rank)
    elif op == "Reshape":
        d.take(shape, dtype)
        d.hold(np.asarray(rng.choice(([-1], [1, -1], [0, -1], [-1, shape[-1]])), np.int64))
    elif op == "Slice":
        d.take(shape, dtype)
        step = rng.choice((1, 1, 2, -1))
        for value in ([-1 if step < 0 else 0], [-9 if step < 0 else 9], [axis], [step]):
            d.hold(np.asarray(value, np.int64))
    elif op == "Pad":
        dtype = rng.choice(FLOATS)
        d.take(shape, dtype)
        d.attributes["mode"] = rng.choice(("constant", "constant", "reflect", "edge"))
        d.hold(np.asarray([rng.choice((0, 0, 1)) for _ in range(2 * rank)], np.int64))
        if rng.random() < 0.5:
            d.hold(np.asarray(rng.choice((0, 1)), helper.tensor_dtype_to_np_dtype(dtype)))
    elif op == "Clip":
        dtype = rng.choice(FLOATS)
        kind = helper.tensor_dtype_to_np_dtype(dtype)
        d.take(shape, dtype)
        d.hold(np.asarray(rng.choice((0, -1, -2)), kind)) if rng.random() < 0.8 else d.skip()
        if rng.random() < 0.8:
            d.hold(np.asarray(rng.choice((6, 1, 3)), kind))
    elif op == "Cast":
        d.take(shape, dtype)
        d.attributes["to"] = rng.choice(NUMBERS)
    elif op in ("Gather", "GatherElements"):
        d.take(shape, dtype)
        d.attributes["axis"] = axis
        index = np.zeros(shape if op == "GatherElements" else rng.choice(([], [2], [2, 1])), np.int64)
        d.take(list(index.shape), TensorProto.INT64) if rng.random() < 0.4 else d.hold(index)
    elif op == "Split":
        d.take([*shape[:-1], 6], dtype)
        d.attributes["axis"] = rng.choice((-1, rank - 1))
        d.outputs = rng.choice((2, 3))
        if d.opset >= 18:
            d.attributes["num_outputs"] = d.outputs
        elif d.opset >= 13 and rng.random() < 0.5:
            d.hold(np.asarray([1, *[5] * (d.outputs == 2), *[2, 3] * (d.outputs == 3)], np.int64))
    elif op in ("Squeeze", "Unsqueeze"):
        d.take([1, *shape[:3]], dtype)
        if d.opset >= 13:
            d.hold(np.asarray([0], np.int64))
        else:
            d.attributes["axes"] = [0]
    elif op == "Gemm":
        dtype = rng.choice(FLOATS)
        a, b = rng.choice((0, 0, 1)), rng.choice((0, 1))
        d.attributes |= {
            "transA": a,
            "transB": b,
            "alpha": rng.choice((1.0, 1.0, 0.5)),
            "beta": rng.choice((1.0, 2.0)),
        }
        d.take([4, 2] if a else [2, 4], dtype)
        d.weight([3, 4] if b else [4, 3], dtype)
        if rng.random() < 0.7:
            d.weight(rng.choice(([3], [2, 3], [1, 3], [1])), dtype)
    elif op in ("BatchNormalization", "InstanceNormalization", "LayerNormalization"):
        dtype = rng.choice([TensorProto.FLOAT] * 4 + [TensorProto.FLOAT16])
        size = [rng.choice((1, 2)), 4, *d.shape(1, 3)]
        d.take(size, dtype)
        count = {"BatchNormalization": 4, "InstanceNormalization": 2, "LayerNormalization": 2}[op]
        for _ in range(count):
            d.weight([size[-1] if op == "LayerNormalization" else 4], dtype)
    elif op in ("DepthToSpace", "SpaceToDepth"):
        d.take([1, 8, 4, 4], rng.choice(FLOATS))
        d.attributes["blocksize"] = 2
        if op == "DepthToSpace":
            d.attributes["mode"] = rng.choice(("DCR", "CRD"))
    elif op == "Tile":
        d.take(shape, dtype)
        d.hold(np.asarray([rng.choice((1, 2)) for _ in shape], np.int64))
    elif op == "Expand":
        d.take([1, *shape[1:]], dtype)
        d.hold(np.asarray([rng.choice((2, 3)), *shape[1:]], np.int64))
    elif op == "Where":
        d.take(shape, TensorProto.BOOL)
        d.take(shape, dtype)
        d.take(shape[-1:], dtype)
    elif op == "LRN":
        d.take([1, 8, 4, 4], rng.choice(FLOATS))
        d.attributes["size"] = rng.choice((3, 5))
    elif op == "TopK":
        d.take([*shape[:-1], 8], rng.choice(NUMBERS))
        d.hold(np.asarray([3], np.int64))
        d.attributes["largest"] = rng.choice((0, 1))
        d.outputs = 2
    elif op == "CumSum":
        d.take(shape, rng.choice(FLOATS))
        d.hold(np.asarray(axis, np.int64))
        d.attributes["reverse"] = rng.choice((0, 1))


DRAW: dict[str, Callable[[Draft], None]] = {
    **dict.fromkeys(UNARY, draw_simple), **dict.fromkeys(BINARY, draw_binary),
    **dict.fromkeys(REDUCE, draw_reduce), **dict.fromkeys(OTHERS, draw_rest),
    "Conv": draw_conv, "ConvTranspose": draw_conv, "MaxPool": draw_pool, "AveragePool": draw_pool,
    "LpPool": draw_pool, "Resize": draw_resize,
}  # fmt: skip


def write_onnx(out: Path, seed: int, count: int) -> None:
    """COUNT operators that the checker accepts."""
    rng = random.Random(seed)
    ops = [
        *UNARY,
        *BINARY,
        *REDUCE,
        *OTHERS,
        *["Conv", "ConvTranspose", "Resize", "AveragePool", "MaxPool"] * 5,
    ]
    made = 0
    while made < count:
        op, opset = rng.choice(ops), rng.randint(11, 21)
        draft = Draft(rng, op, opset)
        try:
            DRAW[op](draft)
            model = draft.model()
        except Exception:  # an attribute that this opset does not have, shapes that do not fit
            continue
        path = out / f"s{seed}_{made:04d}_{op}_{opset}.onnx"
        onnx.save(model, str(path))
        made += 1
        if made % 3 == 0 and opset >= 13 and _is_static_float(model):
            activations, per_channel = random.Random(made).choice(SCHEMES)
            make = partial(
                quantized, path, inputs=_inputs(model), activations=activations, per_channel=per_channel
            )
            attempt(path.with_suffix(f".{activations}.qdq.onnx"), make)


def _is_static_float(model: Any) -> bool:
    kinds = [v.type.tensor_type for v in model.graph.input]
    return all(k.elem_type == TensorProto.FLOAT and all(d.dim_value for d in k.shape.dim) for k in kinds)


def _inputs(model: Any) -> tuple[Any, ...]:
    rng = np.random.default_rng(3)
    shapes = [[d.dim_value for d in v.type.tensor_type.shape.dim] for v in model.graph.input]
    return tuple(rng.standard_normal(s).astype(np.float32) for s in shapes)


def main() -> None:
    out, seed, count = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    out.mkdir(parents=True, exist_ok=True)
    write_onnx(out, seed, count)
    from fuzz_torch import write_programs

    write_programs(out, seed, max(1, count // 8))


if __name__ == "__main__":
    main()
