"""ONNX Runtime's NNAPI provider: the conditions of its op builders, operator by operator.

Source: github:onnxruntime/onnxruntime-qnn@cee6c0d91e (the provider's code is that of onnxruntime),
onnxruntime/core/providers/nnapi/nnapi_builtin/builders/. Android API levels are NNAPI's feature
levels up to 30 (27 = level 1 … 30 = level 4). Taken by NNAPI means that the phone's driver is asked
next: an operator that the driver lacks runs on NNAPI's own CPU code.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from studio.support.op_node import OpNode
from studio.support.rules.nnapi_common import BASE, float_input, impl, rank
from studio.support.rules.nnapi_compute import (
    batch_norm,
    binary,
    cast,
    clip,
    conv,
    dequantize,
    gemm,
    pool,
    qlinear,
    quantize,
    reduce,
    softmax,
    two_inputs,
)
from studio.support.rules.nnapi_shapes import (
    axes,
    depth_to_space,
    gather,
    pad,
    reshape,
    resize,
    slice_,
    split,
    transpose,
)
from studio.support.ruling import Ruling, Setting, refuses, takes, unknown
from studio.support.tables import load_table

DEFAULT_LEVEL = 30
"""Assumed when no Android level is stated: API 30 (Android 11), the newest that the provider asks for."""


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


def judge_node(node: OpNode, setting: Setting) -> Ruling:
    """Whether NNAPI takes the node at the phone's level."""
    table = load_table("ort_nnapi")
    level = min(setting.android_level or DEFAULT_LEVEL, DEFAULT_LEVEL)
    if node.in_subgraph:
        return refuses(
            "Inside a body (If, Loop, function): NNAPI is not asked there.",
            BASE.replace("builders/", "") + "nnapi_execution_provider.cc#L90",
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
        return refuses(f"NNAPI takes no quantised {node.op} (QDQ group).", impl("base", 131))
    if found := _shapes(node):
        return found
    if not node.domain and node.version and not OPSETS.get(node.op, 1) <= node.version <= NEWEST_OPSET:
        fix = "opset-up" if node.version < NEWEST_OPSET else "opset-down"
        return refuses(
            f"{node.op} of opset {node.version} is not taken ({OPSETS.get(node.op, 1)} to {NEWEST_OPSET}).",
            impl("base", 113), fix,
        )  # fmt: skip
    if not node.input(0).dtype:
        return unknown("The input's data type is not in the file.", impl("base", 91))
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
            return unknown(f"The shape of input {index} is not in the file.", impl("base", 60))
        if 0 in tensor.shape:
            return refuses(
                f"Input {index} is empty; NNAPI reads a dim of 0 as dynamic.", f"{BASE}helper.cc#L249"
            )
        if not tensor.is_static:
            return refuses(
                f"Dynamic shape: input {index} has a dim “{tensor.symbol}”, NNAPI takes only numbers.",
                impl("base", 69),
                "freeze-dims",
            )
    return None


_rank_1_4 = partial(rank, name="leakyrelu", line=124)


_CHECKS: dict[tuple[str, str], Callable[[OpNode, int], Ruling | None]] = {
    **{("", op): binary for op in ("Add", "Sub", "Mul", "Div", "Pow", "PRelu")},
    **{("", op): pool for op in ("AveragePool", "MaxPool", "GlobalAveragePool", "GlobalMaxPool")},
    **{("", op): float_input for op in ("Abs", "Exp", "Floor", "Log", "Neg", "Sin", "Sqrt", "Tanh")},
    **{("", op): float_input for op in ("Elu", "Relu", "Identity")},
    **{("", op): axes for op in ("Squeeze", "Unsqueeze")},
    **{("", op): two_inputs for op in ("Min", "Max")},
    **{("", op): gemm for op in ("Gemm", "MatMul")},
    **{("", op): qlinear for op in ("QLinearConv", "QLinearMatMul")},
    **{("com.microsoft", f"QLinear{op}"): qlinear for op in ("Add", "Mul", "Sigmoid", "AveragePool")},
    ("", "BatchNormalization"): batch_norm,
    ("", "Cast"): cast,
    ("", "Clip"): clip,
    ("", "Concat"): partial(rank, name="concat", line=161),
    ("", "Conv"): conv,
    ("", "DepthToSpace"): depth_to_space,
    ("", "DequantizeLinear"): dequantize,
    ("", "Flatten"): partial(rank, name="flatten", line=79),
    ("", "Gather"): gather,
    ("", "LRN"): partial(rank, name="LRN", line=101, lowest=4),
    ("", "LeakyRelu"): _rank_1_4,
    ("", "Pad"): pad,
    ("", "QuantizeLinear"): quantize,
    ("", "ReduceMean"): reduce,
    ("", "Reshape"): reshape,
    ("", "Resize"): resize,
    ("", "Sigmoid"): partial(rank, name="unary", line=152),
    ("", "Slice"): slice_,
    ("", "Softmax"): softmax,
    ("", "Split"): split,
    ("", "Transpose"): transpose,
}  # fmt: skip


_FIXES: dict[str, tuple[str, ...]] = {
    "HardSwish": ("decompose-hardswish",),
    "HardSigmoid": ("decompose-hardsigmoid",),
    "Gelu": ("decompose-gelu",),
    "LayerNormalization": ("decompose-layernorm",),
    "Attention": ("decompose-attention",),
    "DynamicQuantizeLinear": ("dynamic-quantize-to-static",),
    "Einsum": ("einsum-to-matmul",),
    "TopK": ("cut-tail",),
    "NonMaxSuppression": ("cut-tail",),
    "NonZero": ("cut-tail",),
}
