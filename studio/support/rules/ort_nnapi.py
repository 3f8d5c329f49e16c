"""ONNX Runtime's NNAPI provider: the conditions of its op builders, operator by operator.

Source: github:onnxruntime/onnxruntime-qnn@cee6c0d91e (the provider's code is that of onnxruntime),
onnxruntime/core/providers/nnapi/nnapi_builtin/builders/. Android API levels are NNAPI's feature
levels up to 30 (27 = level 1 … 30 = level 4). Taken by NNAPI means that the phone's driver is asked
next: an operator that the driver lacks runs on NNAPI's own CPU code.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from studio.support.op_node import OpNode, OpTensor
from studio.support.rules.onnx_common import clip_bounds
from studio.support.ruling import Ruling, Setting, depends, refuses, takes, unknown
from studio.support.tables import load_table

_BASE = (
    "github:onnxruntime/onnxruntime-qnn@cee6c0d91e:onnxruntime/core/providers/nnapi/nnapi_builtin/builders/"
)
DEFAULT_LEVEL = 30
"""Assumed when no Android level is stated: API 30 (Android 11), the newest that the provider asks for."""
MAX_RANK = 4

LEVELS = {
    "BatchNormalization": 27, "Cast": 29, "Elu": 30, "Gather": 29, "LRN": 28, "Pad": 29, "QuantizeLinear": 29,
    "Slice": 28, "Softmax": 28, "Split": 29, "Squeeze": 28, "Transpose": 28, "Sub": 28, "Div": 28, "Pow": 29,
    "PRelu": 29, "AveragePool": 28, "GlobalAveragePool": 28, "GlobalMaxPool": 28, "MaxPool": 28,
    "QLinearAveragePool": 28, "Conv": 28, "QLinearConv": 28, "Abs": 29, "Exp": 29, "Log": 29, "Neg": 29,
    "Sin": 29, "Sqrt": 29, "Max": 29, "Min": 29, "ReduceMean": 28, "Resize": 29,
}  # fmt: skip
"""GetMinSupportedNNAPIFeatureLevel of each builder; 27 where it says nothing."""

OPSETS = {
    "BatchNormalization": 7, "Cast": 6, "Elu": 6, "LeakyRelu": 6, "Min": 6, "Max": 6, "Pad": 11, "Resize": 11,
    "Slice": 10, "Split": 13, "Gemm": 7, "Reshape": 5, "Add": 7, "Sub": 7, "Mul": 7, "Div": 7, "Pow": 7,
    "Abs": 6, "Exp": 6, "Floor": 6, "Log": 6, "Sigmoid": 6, "Neg": 6, "Sin": 6, "Sqrt": 6, "Tanh": 6,
}  # fmt: skip
"""GetMinSupportedOpSet of each builder."""
NEWEST_OPSET = 25  # base_op_builder.h, GetMaxSupportedOpSet

TAKES_QDQ = {
    "Add", "Mul", "Concat", "Conv", "Gemm", "MatMul", "AveragePool", "Reshape", "Resize", "Softmax",
    "Transpose",
}  # fmt: skip
"""IsNodeUnitTypeSupported; everything else is refused inside a QDQ group (base_op_builder.cc#L132)."""
UINT8_TOO = {"MaxPool", "Concat", "Transpose", "Resize"}


def _at(file: str, line: int) -> str:
    return f"{_BASE}{file}#L{line}"


def _impl(name: str, line: int) -> str:
    return _at(f"impl/{name}_op_builder.cc", line)


def judge_node(node: OpNode, setting: Setting) -> Ruling:
    """Whether NNAPI takes the node at the phone's level."""
    table = load_table("ort_nnapi")
    level = min(setting.android_level or DEFAULT_LEVEL, DEFAULT_LEVEL)
    if node.in_subgraph:
        return refuses(
            "Inside a body (If, Loop, function): NNAPI is not asked there.",
            _BASE.replace("builders/", "") + "nnapi_execution_provider.cc#L90",
        )
    row = table.find(node.op, node.domain)
    check = _CHECKS.get((node.domain, node.op))
    if node.op == "FusedConv":
        return refuses(
            "FusedConv is made by optimising above the basic level; NNAPI cannot take it: convert at basic.",
            "https://github.com/microsoft/onnxruntime/issues/9285",
        )
    if row is None or check is None:
        return refuses(f"NNAPI has no {node.op}.", table.cite_absence(), *_FIXES.get(node.op, ()))
    need = LEVELS.get(node.op, 27)
    if need > level:
        return refuses(f"{node.op} needs Android API {need}, the phone has {level}.", table.cite(row))
    if node.qdq is not None and node.op not in TAKES_QDQ:
        return refuses(f"NNAPI takes no quantised {node.op} (QDQ group).", _impl("base", 131))
    if found := _shapes(node):
        return found
    if not node.domain and node.version and not OPSETS.get(node.op, 1) <= node.version <= NEWEST_OPSET:
        fix = "opset-up" if node.version < NEWEST_OPSET else "opset-down"
        return refuses(
            f"{node.op} of opset {node.version} is not taken ({OPSETS.get(node.op, 1)} to {NEWEST_OPSET}).",
            _impl("base", 113), fix,
        )  # fmt: skip
    if not node.input(0).dtype:
        return unknown("The input's data type is not in the file.", _impl("base", 91))
    if found := check(node, level):
        return found
    since = f", from Android API {need}" if need > 27 and not setting.android_level else ""
    quantised = ", quantised" if node.qdq is not None or node.op.startswith("QLinear") else ""
    return takes(f"NNAPI {node.op}{quantised}{since}.", table.cite(row))


def _shapes(node: OpNode) -> Ruling | None:
    """Every input needs a shape of numbers (base_op_builder.cc#L57)."""
    for index, tensor in enumerate(node.inputs):
        if not node.has(index):
            continue
        if tensor.shape is None or any(d is None for d in tensor.shape):
            return unknown(f"The shape of input {index} is not in the file.", _impl("base", 60))
        if not tensor.is_static:
            return refuses(
                f"Dynamic shape: input {index} has a dim “{tensor.symbol}”, NNAPI takes only numbers.",
                _impl("base", 69),
                "freeze-dims",
            )
    return None


def _float(node: OpNode, level: int) -> Ruling | None:
    """Float32 input 0 (HasSupportedInputOutputsImpl), or a quantised group with its own checks."""
    if node.qdq is not None:
        return _quantized(node, level)
    allowed = ("float32", "uint8") if node.op in UINT8_TOO else ("float32",)
    dtype = node.input(0).dtype
    if dtype not in allowed:
        return refuses(f"{node.op} on {dtype}: NNAPI takes {' and '.join(allowed)}.", _impl("base", 91))
    if dtype == "uint8" and (not node.producers or not node.producers[0]):
        return refuses(
            "uint8 graph inputs carry no scale, so NNAPI does not take them.", _at("helper.cc", 331)
        )
    return None


def _quantized(node: OpNode, level: int) -> Ruling | None:
    """uint8 everywhere, int8 only as weight of Conv, Gemm, MatMul; constant scales."""
    assert node.qdq is not None
    weighted = node.op in ("Conv", "Gemm", "MatMul")
    checked = node.qdq.inputs[:2] if weighted or node.op in ("Add", "Mul") else node.qdq.inputs
    for index, tensor in enumerate((*checked, *node.qdq.outputs)):
        is_weight = weighted and index == 1
        if not tensor.dtype:
            continue
        if tensor.dtype != "uint8" and not (is_weight and tensor.dtype == "int8"):
            return refuses(
                f"Quantised {node.op} in {tensor.dtype}: NNAPI takes uint8 (weights also int8).",
                _at("op_builder_helpers.cc", 1257),
            )
        if not tensor.scale:
            return refuses(
                "The scale is computed, NNAPI needs it constant.", _at("op_builder_helpers.cc", 1098)
            )
        if tensor.is_per_channel:
            if not is_weight or tensor.dtype != "int8" or node.op == "MatMul":
                return refuses(
                    "Per-channel scales only on int8 weights of Conv and Gemm.",
                    _at("op_builder_helpers.cc", 1106),
                )
            if level < 29:
                return refuses("Per-channel weights need Android API 29.", _at("op_builder_helpers.cc", 1120))
        if is_weight and tensor.dtype == "int8" and any(tensor.zero_point):
            return refuses("int8 weights need zero point 0.", _at("op_builder_helpers.cc", 1201))
    if node.op == "Softmax":
        out = node.qdq.outputs[0]
        if not out.scale or abs(out.scale[0] - 1 / 256) > 1e-9 or any(out.zero_point):
            return refuses("Quantised Softmax needs output scale 1/256, zero point 0.", _impl("softmax", 214))
    if node.op == "AveragePool" and (
        node.qdq.inputs[0].scale != node.qdq.outputs[0].scale
        or node.qdq.inputs[0].zero_point != node.qdq.outputs[0].zero_point
    ):
        return refuses("Quantised AveragePool needs the same scale on both sides.", _impl("pool", 257))
    return None


def _rank(
    node: OpNode, level: int, *, name: str, line: int, lowest: int = 1, highest: int = MAX_RANK
) -> Ruling | None:
    """Float input of a rank that NNAPI has."""
    if found := _float(node, level):
        return found
    rank = node.input(0).rank or 0
    if not lowest <= rank <= highest:
        fixes = ("rank5-to-4",) if rank > highest else ()
        span = str(lowest) if lowest == highest else f"{lowest} to {highest}"
        return refuses(
            f"Rank {rank} ({node.input(0).shape_text()}): NNAPI takes rank {span}.", _impl(name, line), *fixes
        )
    return None


def _constant(node: OpNode, index: int, what: str, name: str, line: int) -> Ruling | None:
    if node.has(index) and not node.input(index).is_constant:
        return refuses(f"{what} is computed, NNAPI needs it constant.", _impl(name, line))
    return None


def _binary(node: OpNode, level: int) -> Ruling | None:
    if node.op == "Pow" and {node.input(0).dtype, node.input(1).dtype} != {"float32"}:
        return refuses("Pow only on two float32 operands.", _impl("binary", 195))
    if found := _float(node, level):
        return found
    for index in (0, 1):
        if (node.input(index).rank or 0) > MAX_RANK:
            return refuses(
                f"Rank {node.input(index).rank}: NNAPI takes at most 4.", _impl("binary", 217), "rank5-to-4"
            )
    return None


def _clip(node: OpNode, level: int) -> Ruling | None:
    if found := _float(node, level):
        return found
    bounds = clip_bounds(node)
    if bounds is None:
        return refuses("Clip with computed bounds.", _impl("clip", 91))
    if bounds not in ((0.0, 6.0), (-1.0, 1.0)):
        return refuses(
            f"Clip to [{bounds[0]:g}, {bounds[1]:g}]: NNAPI has only [0, 6] (RELU6) and [−1, 1] (RELU1).",
            _impl("clip", 96),
        )
    return None


def _batch_norm(node: OpNode, level: int) -> Ruling | None:
    if len(node.outputs) != 1 or node.integer("training_mode", 0):
        return refuses("BatchNormalization in training mode.", _impl("batchnorm", 132))
    if found := _rank(node, level, name="batchnorm", line=144, lowest=0):
        return found
    if node.integer("spatial", 1) != 1:
        return refuses("Non-spatial BatchNormalization.", _impl("batchnorm", 152))
    for index, what in enumerate(("Scale", "B", "Mean", "Var"), start=1):
        if found := _constant(node, index, what, "batchnorm", 161):
            return found
    return None


def _cast(node: OpNode, level: int) -> Ruling | None:
    if found := _float_or_int(node):
        return found
    to = node.output().dtype
    if to not in ("float32", "int32"):
        return refuses(
            f"Cast to {to or 'an unknown type'}: NNAPI casts to float32 and int32.", _impl("cast", 77)
        )
    return None


def _float_or_int(node: OpNode) -> Ruling | None:
    if node.input(0).dtype != "float32":
        return refuses(f"{node.op} from {node.input(0).dtype}: only from float32.", _impl("base", 91))
    return None


def _conv(node: OpNode, level: int) -> Ruling | None:
    if found := _float(node, level):
        return found
    weight = node.qdq.inputs[1] if node.qdq else node.input(1)
    if not weight.is_constant:
        return refuses("The weight is computed, NNAPI needs it constant.", _impl("conv", 338))
    if weight.rank != 4:
        fixes = ("conv1d-to-conv2d",) if weight.rank == 3 else ()
        return refuses(
            f"Only 2-D convolutions, the weight is {weight.shape_text()}.", _impl("conv", 319), *fixes
        )
    if any(d != 1 for d in node.ints("dilations") or ()):
        if node.integer("group", 1) != 1 and weight.dim(1) != 1:
            return refuses("Dilated grouped convolution.", _impl("conv", 326))
        if level < 29:
            return refuses("Dilated convolution needs Android API 29.", _impl("conv", 331))
    if node.qdq is not None and node.has(2):
        bias = node.qdq.inputs[2] if len(node.qdq.inputs) > 2 else OpTensor()
        if not (bias.is_constant or node.input(2).is_constant):
            return refuses("The quantised bias is computed.", _impl("conv", 343))
    return None


def _pool(node: OpNode, level: int) -> Ruling | None:
    if found := _rank(node, level, name="pool", line=183, lowest=4):
        return found
    if node.op.startswith("Global"):
        return None
    if node.integer("count_include_pad", 0) == 1:
        return refuses("count_include_pad=1: NNAPI does not count padding.", _impl("pool", 196))
    if node.integer("storage_order", 0) == 1:
        return refuses("storage_order=1.", _impl("pool", 202))
    if len(node.ints("kernel_shape") or (1, 1)) != 2:
        return refuses("Only 2-D pooling.", _impl("pool", 207))
    if node.integer("ceil_mode", 0) == 1:
        return refuses("ceil_mode=1: NNAPI rounds output sizes down.", _impl("pool", 212))
    if any(d != 1 for d in node.ints("dilations") or ()):
        return refuses("Dilated pooling.", _impl("pool", 217))
    if len(node.outputs) != 1:
        return refuses("The Indices output.", _impl("pool", 223))
    return None


def _depth_to_space(node: OpNode, level: int) -> Ruling | None:
    if found := _rank(node, level, name="depthtospace", line=78, lowest=4):
        return found
    mode = node.text("mode", "DCR")
    if node.version >= 11 and mode != "DCR":
        return refuses(
            f"DepthToSpace mode {mode}: NNAPI has DCR only (PixelShuffle exports CRD).",
            _impl("depthtospace", 93),
        )
    return None


def _dequantize(node: OpNode, level: int) -> Ruling | None:
    return _linear(node, node.input(0))


def _quantize(node: OpNode, level: int) -> Ruling | None:
    if node.input(0).dtype != "float32":
        return refuses(f"QuantizeLinear of {node.input(0).dtype}.", _impl("quantizelinear", 43))
    return _linear(node, node.output())


def _linear(node: OpNode, quantized: OpTensor) -> Ruling | None:
    source = _at("op_builder_helpers.cc", 1257)
    if quantized.dtype != "uint8":
        return refuses(f"{node.op} with {quantized.dtype}: NNAPI takes uint8.", source)
    if not node.input(1).is_constant or (node.has(2) and not node.input(2).is_constant):
        return refuses("Scale or zero point is computed.", source)
    if (node.input(1).rank or 0) and node.input(1).dim(0) != 1:
        return refuses("Per-channel scales.", source)
    return None


def _gather(node: OpNode, level: int) -> Ruling | None:
    if found := _rank(node, level, name="gather", line=145):
        return found
    if node.input(1).dtype != "int32" and not node.input(1).is_constant:
        return refuses("Computed indices that are not int32.", _impl("gather", 168))
    return None


def _pad(node: OpNode, level: int) -> Ruling | None:
    if found := _rank(node, level, name="pad", line=130):
        return found
    mode = node.text("mode", "constant")
    if mode != "constant":
        return refuses(f"Pad mode {mode}: NNAPI has constant only.", _impl("pad", 147))
    if found := _constant(node, 1, "Pads", "pad", 156) or _constant(node, 2, "The pad value", "pad", 175):
        return found
    values = node.input(1).values
    if values is None:
        return unknown("The pads' values are not known here.", _impl("pad", 163))
    if any(v < 0 for v in values):
        return refuses("Negative pads (cropping).", _impl("pad", 163))
    return None


def _reshape(node: OpNode, level: int) -> Ruling | None:
    if not node.input(1).is_constant:
        return refuses("The new shape is computed, NNAPI needs it constant.", _impl("reshape", 100))
    if found := _rank(node, level, name="reshape", line=109):
        return found
    values = node.input(1).values
    if node.integer("allowzero", 0) == 1 and (values is None or 0 in values):
        return refuses("allowzero=1 with a zero in the shape.", _impl("reshape", 130))
    if (node.output().rank or 0) > MAX_RANK:
        return depends(
            f"The builder takes it, but its output has rank {node.output().rank}; drivers take at most 4.",
            "https://github.com/microsoft/onnxruntime/issues/12979", "rank5-to-4",
        )  # fmt: skip
    return None


def _resize(node: OpNode, level: int) -> Ruling | None:
    if found := _rank(node, level, name="resize", line=156, lowest=4):
        return found
    mode = node.text("mode", "nearest")
    if mode not in ("linear", "nearest"):
        return refuses(f"Resize mode {mode}.", _impl("resize", 167))
    if node.integer("exclude_outside", 0):
        return refuses("exclude_outside=1.", _impl("resize", 173))
    coordinates = node.text("coordinate_transformation_mode", "half_pixel")
    if mode == "linear":
        if coordinates not in ("half_pixel", "align_corners", "asymmetric"):
            return refuses(f"Coordinate mode {coordinates}.", _impl("resize", 183), "resize-half-pixel")
        if level < 30 and coordinates != "asymmetric":
            return refuses(
                f"Coordinate mode {coordinates} needs Android API 30.",
                _impl("resize", 188),
                "resize-half-pixel",
            )
    else:
        nearest = node.text("nearest_mode", "round_prefer_floor")
        if coordinates != "asymmetric":
            return refuses(
                f"Nearest with coordinate mode {coordinates}: only asymmetric.",
                _impl("resize", 197),
                "resize-half-pixel",
            )
        if nearest != "floor":
            return refuses(f"nearest_mode {nearest}: only floor.", _impl("resize", 203), "resize-half-pixel")
    if node.version >= 18 and (
        node.integer("antialias", 0)
        or node.ints("axes")
        or node.text("keep_aspect_ratio_policy", "stretch") != "stretch"
    ):
        return refuses("antialias, axes or keep_aspect_ratio_policy.", _impl("resize", 211))
    return _resize_sizes(node)


def _resize_sizes(node: OpNode) -> Ruling | None:
    x = node.input(0)
    using_scales = node.has(2) and node.input(2).shape != (0,)
    given = node.input(2) if using_scales else node.input(3)
    if not using_scales and not node.has(3):
        return refuses("Neither scales nor sizes.", _impl("resize", 236))
    if not given.is_constant:
        return refuses("Scales or sizes are computed, NNAPI needs them constant.", _impl("resize", 247))
    if given.values is None or len(given.values) != 4:
        return unknown("The values of scales or sizes are not known here.", _impl("resize", 247))
    if using_scales:
        if given.values[0] != 1 or given.values[1] != 1:
            return refuses("Batch or channel is scaled.", _impl("resize", 260))
        for index in (2, 3):
            scale, size = given.values[index], x.dim(index) or 0
            if scale < 1 and (abs(1 / scale - round(1 / scale)) > 1e-6 or size % round(1 / scale)):
                return refuses("Shrinking must divide the size evenly.", _impl("resize", 277))
    elif given.values[0] != x.dim(0) or given.values[1] != x.dim(1):
        return refuses("Batch or channel is resized.", _impl("resize", 297))
    return None


def _slice(node: OpNode, level: int) -> Ruling | None:
    if found := _rank(node, level, name="slice", line=210, lowest=0):
        return found
    for index, what in enumerate(("Starts", "Ends", "Axes", "Steps"), start=1):
        if found := _constant(node, index, what, "slice", 222):
            return found
    return None


def _softmax(node: OpNode, level: int) -> Ruling | None:
    if found := _float(node, level):
        return found
    rank = node.input(0).rank or 0
    if node.version < 13:
        return None
    if rank > MAX_RANK:
        return refuses(f"Rank {rank}: NNAPI takes at most 4.", _impl("softmax", 170), "rank5-to-4")
    if level < 29 and (rank not in (2, 4) or node.integer("axis", 1) not in (-1, rank - 1)):
        return refuses("Below Android API 29 only rank 2 or 4, last axis.", _impl("softmax", 183))
    return None


def _split(node: OpNode, level: int) -> Ruling | None:
    if found := _float(node, level):
        return found
    size = node.input(0).dim(node.integer("axis", 0))
    if size is None:
        return unknown("The split dim is not known.", _impl("split", 98))
    if node.has(1):
        values = node.input(1).values
        if not node.input(1).is_constant:
            return refuses("Split sizes are computed.", _impl("split", 102))
        if values is None or sum(values) != size or len(set(values)) != 1:
            return refuses("Only equal parts.", _impl("split", 123))
        return None
    parts = node.integer("num_outputs", len(node.outputs))
    if not parts or parts > size or size % parts:
        return refuses("Only equal parts.", _impl("split", 147))
    return None


def _axes(node: OpNode, level: int) -> Ruling | None:
    name = node.op.lower()
    if found := _rank(node, level, name=name, line=70):
        return found
    return _constant(node, 1, "Axes", name, 79)


def _reduce(node: OpNode, level: int) -> Ruling | None:
    if found := _rank(node, level, name="reduction", line=183):
        return found
    if node.version >= 18 and node.integer("noop_with_empty_axes", 0):
        return refuses("noop_with_empty_axes.", _impl("reduction", 202))
    return _constant(node, 1, "Axes", "reduction", 193)


def _two_inputs(node: OpNode, level: int) -> Ruling | None:
    if found := _float(node, level):
        return found
    if len(node.inputs) != 2:
        return refuses(f"{len(node.inputs)} inputs, NNAPI takes two.", _impl("minmax", 59))
    return None


def _transpose(node: OpNode, level: int) -> Ruling | None:
    return _rank(node, level, name="transpose", line=104)


def _gemm(node: OpNode, level: int) -> Ruling | None:
    if found := _float(node, level):
        return found
    a, b = node.input(0), node.input(1)
    b_data = node.qdq.inputs[1] if node.qdq else b
    if (a.rank or 0) != 2 or (b.rank or 0) != 2:
        return _batch_matmul(node, a, b)
    if node.op == "Gemm":
        if node.integer("transA", 0) or node.number("alpha", 1.0) != 1.0 or node.number("beta", 1.0) != 1.0:
            return refuses("Gemm only with transA=0, alpha=beta=1.", _impl("gemm", 340))
        if not node.integer("transB", 0) and not b_data.is_constant:
            return refuses("B is computed, NNAPI needs it constant.", _impl("gemm", 350))
        if node.has(2):
            c = node.input(2)
            wide = [d for d in c.shape or () if d != 1]
            size = b.dim(0) if node.integer("transB", 0) else b.dim(1)
            if len(wide) > 1 or (wide or [1])[0] != size:
                return refuses("C must be a vector of the output size.", _impl("gemm", 364))
    elif not b_data.is_constant:
        return refuses(
            "Both operands are computed; NNAPI needs B constant (or a batched MatMul).", _impl("gemm", 375)
        )
    return None


def _batch_matmul(node: OpNode, a: OpTensor, b: OpTensor) -> Ruling | None:
    """op_builder_helpers.cc#L221: rank ≥ 3 on both sides, equal leading dims, float, not quantised."""
    source = _at("op_builder_helpers.cc", 256)
    if (
        node.op == "MatMul"
        and b.rank == 2
        and b.is_constant
        and node.consumers == ("Add",)
        and node.qdq is None
    ):
        return depends(
            "Taken if the Add after it adds a constant bias vector: ONNX Runtime then fuses both into Gemm.",
            "onnxruntime/core/optimizer/matmul_add_fusion.cc, level 1",
        )
    if (
        node.op != "MatMul"
        or node.qdq is not None
        or not a.rank
        or not b.rank
        or a.rank < 3
        or a.rank != b.rank
    ):
        return refuses(
            f"{a.shape_text()} × {b.shape_text()}: NNAPI multiplies 2-D by 2-D, or batches of equal rank.",
            source,
        )
    if a.shape is None or b.shape is None or a.shape[:-2] != b.shape[:-2]:
        return refuses(f"Batches {a.shape_text()} and {b.shape_text()} differ.", source)
    return None


def _qlinear(node: OpNode, level: int) -> Ruling | None:
    return depends(
        "Taken if scales and zero points are constant, uint8, and of the form that the builder wants.",
        load_table("ort_nnapi").cite_op(node.op, node.domain),
    )


_rank_1_4 = partial(_rank, name="leakyrelu", line=124)
_CHECKS: dict[tuple[str, str], Callable[[OpNode, int], Ruling | None]] = {
    **{("", op): _binary for op in ("Add", "Sub", "Mul", "Div", "Pow", "PRelu")},
    **{("", op): _pool for op in ("AveragePool", "MaxPool", "GlobalAveragePool", "GlobalMaxPool")},
    **{("", op): _float for op in ("Abs", "Exp", "Floor", "Log", "Neg", "Sin", "Sqrt", "Tanh")},
    **{("", op): _float for op in ("Elu", "Relu", "Identity")},
    **{("", op): _axes for op in ("Squeeze", "Unsqueeze")},
    **{("", op): _two_inputs for op in ("Min", "Max")},
    **{("", op): _gemm for op in ("Gemm", "MatMul")},
    **{("", op): _qlinear for op in ("QLinearConv", "QLinearMatMul")},
    **{("com.microsoft", f"QLinear{op}"): _qlinear for op in ("Add", "Mul", "Sigmoid", "AveragePool")},
    ("", "BatchNormalization"): _batch_norm,
    ("", "Cast"): _cast,
    ("", "Clip"): _clip,
    ("", "Concat"): partial(_rank, name="concat", line=161),
    ("", "Conv"): _conv,
    ("", "DepthToSpace"): _depth_to_space,
    ("", "DequantizeLinear"): _dequantize,
    ("", "Flatten"): partial(_rank, name="flatten", line=79),
    ("", "Gather"): _gather,
    ("", "LRN"): partial(_rank, name="LRN", line=101, lowest=4),
    ("", "LeakyRelu"): _rank_1_4,
    ("", "Pad"): _pad,
    ("", "QuantizeLinear"): _quantize,
    ("", "ReduceMean"): _reduce,
    ("", "Reshape"): _reshape,
    ("", "Resize"): _resize,
    ("", "Sigmoid"): partial(_rank, name="unary", line=152),
    ("", "Slice"): _slice,
    ("", "Softmax"): _softmax,
    ("", "Split"): _split,
    ("", "Transpose"): _transpose,
}  # fmt: skip

_FIXES: dict[str, tuple[str, ...]] = {
    "HardSwish": ("decompose-hardswish",),
    "HardSigmoid": ("decompose-hardswish",),
    "Gelu": ("decompose-gelu",),
    "LayerNormalization": ("decompose-layernorm",),
    "Attention": ("decompose-attention",),
    "DynamicQuantizeLinear": ("dynamic-quantize-to-static",),
    "Einsum": ("einsum-to-matmul",),
    "TopK": ("cut-tail",),
    "NonMaxSuppression": ("cut-tail",),
    "NonZero": ("cut-tail",),
}
