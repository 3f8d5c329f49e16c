"""ONNX Runtime's XNNPACK provider: the conditions of its node support checker, operator by operator.

Source: github:onnxruntime/onnxruntime-qnn@cee6c0d91e (the provider's code is that of onnxruntime),
onnxruntime/core/providers/xnnpack/. The provider is not in the PyPI wheel, so these verdicts were
not audited against the tool; where kernel and checker disagree we say unknown.
"""

from __future__ import annotations

from collections.abc import Callable

from studio.support.op_node import OpNode, OpTensor
from studio.support.ruling import Ruling, Setting, depends, refuses, takes, unknown
from studio.support.tables import load_table

_BASE = "github:onnxruntime/onnxruntime-qnn@cee6c0d91e:onnxruntime/core/providers/xnnpack/"
COMPUTE_TYPES = ("float32", "float16", "uint8", "int8")

NEWEST_KERNEL = {
    "AveragePool": (7, 19), "Conv": (1, 11), "ConvTranspose": (1, 11), "MaxPool": (8, 12), "Resize": (10, 19),
    "Softmax": (1, 13), "Gemm": (7, 13), "MatMul": (1, 13), "QLinearConv": (10, 10),
}  # fmt: skip
"""First and last since-version with a kernel: xnnpack_execution_provider.cc#L92-L141."""


def _at(file: str, line: int) -> str:
    return f"{_BASE}{file}#L{line}"


def _kept(text: str, file: str, line: int, *fixes: str) -> Ruling:
    return refuses(text, _at(file, line), *fixes)


def judge_node(node: OpNode, setting: Setting) -> Ruling:
    """Whether the XNNPACK provider takes the node."""
    table = load_table("ort_xnnpack")
    if node.domain:
        return refuses(
            f"XNNPACK takes no operator of domain {node.domain}.", _at("detail/node_support_checker.cc", 118)
        )
    if node.op in ("Relu", "Clip"):
        return _activation(node)
    check = _CHECKS.get(node.op)
    if check is None:
        return refuses(f"The XNNPACK provider has no {node.op}.", table.cite_absence())
    if node.input(0).dtype == "float16":
        return depends(
            "float16 needs a build for hardware with XNNPACK float16 (arm64 with fp16).",
            _at("detail/node_support_checker.cc", 93),
        )
    if not node.input(0).dtype or node.input(0).shape is None:
        return unknown(
            "The input's type or shape is not in the file.", _at("detail/node_support_checker.cc", 98)
        )
    found = check(node)
    if found is not None:
        return found
    _, last = NEWEST_KERNEL[node.op]
    if node.version > last:
        return unknown(
            f"The checker takes {node.op} of opset {node.version}, but its newest kernel is for {last}.",
            _at("xnnpack_execution_provider.cc", 92),
        )
    if node.qdq is not None:
        return takes(
            f"XNNPACK {node.op}, quantised (its QDQ group becomes one kernel).", table.cite_op(node.op)
        )
    return takes(f"XNNPACK {node.op}.", table.cite_op(node.op))


def _activation(node: OpNode) -> Ruling:
    """Relu and Clip only fused into the convolution or pooling before them."""
    source = _at("detail/node_support_checker.cc", 42)
    if not node.producers or node.producers[0] not in ("Conv", "MaxPool", "AveragePool"):
        return refuses(
            f"{node.op} runs in XNNPACK only fused into a Conv, MaxPool or AveragePool before it.", source
        )
    for index in (1, 2):
        if node.has(index) and not node.input(index).is_constant:
            return refuses(
                "Clip is fused only with constant bounds.", _at("detail/node_support_checker.cc", 65)
            )
    return takes(f"Fused into the {node.producers[0]} before it, if XNNPACK takes that.", source)


def _known_chw(x: OpTensor, file: str, line: int) -> Ruling | None:
    for index in range(1, x.rank or 0):
        if x.dim(index) is None:
            return _kept(
                f"Channel and spatial dims must be numbers, here {x.shape_text()}.", file, line, "freeze-dims"
            )
    return None


def _padding(node: OpNode, file: str, line: int) -> Ruling | None:
    if node.text("auto_pad", "NOTSET") not in ("NOTSET", "VALID", "SAME_UPPER"):
        return _kept("auto_pad SAME_LOWER is not taken.", file, line)
    return None


def _conv(node: OpNode) -> Ruling | None:
    file = "nn/conv_base.cc"
    x, weight = node.input(0), node.input(1)
    if node.version < 11:
        return _kept(f"Conv of opset {node.version}: taken from opset 11.", file, 330, "opset-up")
    if x.rank not in (3, 4):
        return _kept(f"Only 1-D and 2-D convolutions, the input has rank {x.rank}.", file, 347)
    if node.op == "ConvTranspose" and x.rank == 3:
        return unknown(
            "1-D ConvTranspose passes the checker; whether its kernel runs is not known.", _at(file, 347)
        )
    if node.qdq is not None and (found := _quantized_conv(node)):
        return found
    if x.dtype not in COMPUTE_TYPES:
        return _kept(f"{x.dtype} is not taken.", file, 353)
    if found := _known_chw(x, file, 357):
        return found
    behind = node.qdq.inputs[1] if node.qdq else weight
    if not behind.is_constant:
        return _kept("The weight is computed, XNNPACK needs it constant.", file, 364)
    bias = node.qdq.inputs[2] if node.qdq and len(node.qdq.inputs) > 2 else node.input(2)
    if node.has(2) and not (bias.is_constant or node.input(2).is_constant):
        return _kept("The bias is computed, XNNPACK needs it constant.", file, 373)
    if node.ints("pads") is None and (found := _padding(node, file, 396)):
        return found
    return None


def _quantized_conv(node: OpNode) -> Ruling | None:
    """The type table of conv_base.cc#L276: i8 × i8 (also per channel) or u8 × u8, no u8 × i8."""
    assert node.qdq is not None
    kinds = [t.dtype for t in (*node.qdq.inputs[:2], *node.qdq.outputs[:1])]
    if kinds == ["int8", "int8", "int8"]:
        return None
    if kinds == ["uint8", "uint8", "uint8"] and not node.qdq.inputs[1].is_per_channel:
        return None
    text = " × ".join(kinds[:2])
    return _kept(
        f"Quantised {text} convolutions are not taken: int8 × int8, or uint8 × uint8 per tensor.",
        "nn/conv_base.cc",
        276,
    )


def _qlinear_conv(node: OpNode) -> Ruling | None:
    """x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias."""
    file = "nn/conv_base.cc"
    if not node.input(3).is_constant or (node.has(8) and not node.input(8).is_constant):
        return _kept("Weight or bias is computed, XNNPACK needs them constant.", file, 364)
    if (node.input(0).dtype, node.input(3).dtype) not in (("int8", "int8"), ("uint8", "uint8")):
        return _kept("Only int8 × int8 or uint8 × uint8.", file, 276)
    return _known_chw(node.input(0), file, 357)


def _pool(node: OpNode) -> Ruling | None:
    average = node.op == "AveragePool"
    file = "nn/average_pool.cc" if average else "nn/max_pool.cc"
    x = node.input(0)
    first = 7 if average else 8
    if node.version < first:
        return _kept(f"{node.op} of opset {node.version}: taken from opset {first}.", file, 47, "opset-up")
    if x.rank != 4:
        return _kept(f"Only 2-D pooling of rank-4 input, here {x.shape_text()}.", file, 71)
    allowed = ("float32", "uint8") if average else ("float32", "uint8", "int8")
    if x.dtype not in allowed:
        return _kept(f"{x.dtype} is not taken ({', '.join(allowed)}).", file, 58)
    if found := _known_chw(x, file, 76):
        return found
    if not average and len(node.outputs) > 1:
        return _kept("The Indices output is not made.", file, 84)
    if node.integer("ceil_mode", 0):
        return _kept("ceil_mode=1 is not taken.", file, 95)
    if found := _padding(node, file, 99):
        return found
    kernel = node.ints("kernel_shape") or ()
    if len(kernel) != 2 or kernel == (1, 1):
        return _kept(f"Kernel {list(kernel)}: only 2-D kernels larger than 1×1.", file, 103)
    if average and bool(node.integer("count_include_pad", 0)) != (node.qdq is not None):
        return _kept("Padding counted in the average (count_include_pad) is not taken.", file, 138)
    if average and any(d != 1 for d in node.ints("dilations") or ()):
        return _kept("Dilated average pooling is not taken.", file, 144)
    if node.qdq is not None:
        kinds = {t.dtype for t in (*node.qdq.inputs[:1], *node.qdq.outputs)}
        if average and kinds != {"uint8"}:
            return _kept("Quantised AveragePool only in uint8.", file, 77)
        if not average and kinds not in ({"uint8"}, {"int8"}):
            return _kept("Quantised MaxPool only int8 or uint8 on both sides.", file, 41)
    return None


def _softmax(node: OpNode) -> Ruling | None:
    file = "math/softmax.cc"
    x = node.input(0)
    if node.qdq is not None:
        out = node.qdq.outputs[0] if node.qdq.outputs else None
        if node.qdq.inputs[0].dtype != "uint8" or out is None or out.dtype != "uint8":
            return _kept("Quantised Softmax only in uint8.", file, 59)
        if not out.scale or abs(out.scale[0] - 1 / 256) > 1e-4 or any(out.zero_point):
            return _kept("Quantised Softmax needs output scale 1/256 and zero point 0.", file, 59)
    elif x.dtype not in ("float32", "uint8"):
        return _kept(f"{x.dtype} is not taken.", file, 72)
    if not x.rank:
        return _kept("A scalar is not taken.", file, 90)
    axis = node.integer("axis", -1)
    if node.version >= 13 and axis not in (-1, x.rank - 1):
        return _kept(f"Only the last axis, here axis {axis} of rank {x.rank}.", file, 94)
    if node.version >= 13 and x.dim(-1) is None:
        return _kept("The softmax dim must be a number.", file, 107, "freeze-dims")
    return None


def _resize(node: OpNode) -> Ruling | None:
    file = "tensor/resize.cc"
    x = node.input(0)
    if x.dtype not in COMPUTE_TYPES:
        return _kept(f"{x.dtype} is not taken.", file, 32)
    if x.rank != 4 or not x.dim(1):
        return _kept(f"Only rank 4 with a known channel count, here {x.shape_text()}.", file, 41)
    mode = node.text("mode", "nearest")
    if mode != "linear":
        return _kept(f"Only mode linear, here {mode}.", file, 119)
    scales = node.input(1 if node.version == 10 else 2)
    sizes = node.input(3) if node.version > 10 else OpTensor()
    if not scales.is_constant and not sizes.is_constant:
        return _kept("Scales or sizes are computed, XNNPACK needs them constant.", file, 61)
    if scales.values:
        if len(scales.values) == 4 and scales.values[1] != 1.0:
            return _kept("The channel dim must not be scaled.", file, 70)
        for index, scale in enumerate(scales.values[2:4], start=2):
            size = x.dim(index)
            if scale < 1 and (size is None or round(1 / scale) != 1 / scale or size % round(1 / scale)):
                return _kept("Shrinking must divide the size evenly.", file, 85)
    if sizes.values and len(sizes.values) == 4 and sizes.values[1] != x.dim(1):
        return _kept("The channel dim must not be scaled.", file, 94)
    if node.integer("antialias", 0) or node.ints("axes"):
        return _kept("antialias and axes are not taken.", file, 126)
    if node.text("keep_aspect_ratio_policy", "stretch") != "stretch" or node.number(
        "extrapolation_value", 0.0
    ):
        return _kept("Only keep_aspect_ratio_policy stretch, without an extrapolation value.", file, 137)
    if node.integer("exclude_outside", 0):
        return _kept("exclude_outside is not taken.", file, 162)
    coordinates = (
        node.text("coordinate_transformation_mode", "half_pixel") if node.version > 10 else "asymmetric"
    )
    if coordinates not in ("asymmetric", "half_pixel", "align_corners"):
        out = node.output()
        wide = (out.dim(2) or 0) > 1 and (out.dim(3) or 0) > 1
        if coordinates != "pytorch_half_pixel" or not wide:
            return _kept(f"Coordinate mode {coordinates} is not taken.", file, 155, "resize-half-pixel")
    return None


def _gemm(node: OpNode) -> Ruling | None:
    file = "math/gemm.cc"
    if node.number("alpha", 1.0) != 1.0 or node.number("beta", 1.0) != 1.0:
        return _kept("Only alpha = beta = 1.", file, 31)
    if node.input(0).dtype != "float32":
        return _kept(f"{node.input(0).dtype} is not taken.", file, 43)
    if not node.input(1).is_constant or (node.has(2) and not node.input(2).is_constant):
        return _kept("B and C must be constant.", file, 50)
    if any((node.input(i).rank or 0) >= 3 for i in range(3)):
        return _kept("Only matrices.", file, 63)
    if not node.has(2):
        return unknown("Without C the checker's behaviour is not defined.", _at(file, 71))
    c, b = node.input(2), node.input(1)
    if c.rank and c.dim(0) not in (b.dim(0), b.dim(1)):
        return _kept("C must be a vector of the output size.", file, 75)
    return None


def _matmul(node: OpNode) -> Ruling | None:
    file = "math/matmul.cc"
    a, b = node.input(0), node.input(1)
    if a.dtype != "float32":
        return _kept(f"{a.dtype} is not taken.", file, 39)
    if not a.rank:
        return _kept("A scalar is not taken.", file, 45)
    if b.rank is None or b.rank > 2 or b.rank < 1 or any(d == 0 for d in b.shape or ()):
        return _kept("B must be a vector or matrix.", file, 49)
    if not b.is_constant:
        return _kept("Both operands are computed; XNNPACK needs B constant.", file, 56)
    return None


_CHECKS: dict[str, Callable[[OpNode], Ruling | None]] = {
    "Conv": _conv,
    "ConvTranspose": _conv,
    "AveragePool": _pool,
    "MaxPool": _pool,
    "Softmax": _softmax,
    "Resize": _resize,
    "Gemm": _gemm,
    "QLinearConv": _qlinear_conv,
    "MatMul": _matmul,
}
