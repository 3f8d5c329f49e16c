"""PyTorch Mobile's NNAPI serializer: what it raises on, operator by operator.

It has no fallback: one node that it does not know fails the whole conversion.
Source: pip:torch==2.13.0 torch/backends/_nnapi/serializer.py, NNAPI 1.2 operations; audited against
the serializer itself. Conditions on shapes hold for the traced example input, which a TorchScript
file need not carry: those stay conditional.
"""

from __future__ import annotations

from collections.abc import Callable

from studio.support.op_node import OpNode
from studio.support.ruling import Ruling, Setting, depends, gone, refuses, takes
from studio.support.tables import load_table

_FILE = "pip:torch==2.13.0 torch/backends/_nnapi/serializer.py"
_PREPARE = "pip:torch==2.13.0 torch/backends/_nnapi/prepare.py"
CONVOLUTIONS = ("aten::conv2d", "aten::_convolution", "aten.conv2d.default", "Conv")
FLOAT = ("float32", "quint8", "uint8", "")


def _at(line: int) -> str:
    return f"{_FILE}#L{line}"


def judge_node(node: OpNode, setting: Setting) -> Ruling:
    """Whether the serializer takes the TorchScript node."""
    table = load_table("torch_nnapi_serializer")
    row = table.find(node.op)
    check = _CHECKS.get(node.op)
    if node.op == "aten::batch_norm" and node.producers[:1] and node.producers[0] in CONVOLUTIONS:
        return gone("Folded into the convolution before it by torch.jit.freeze.", f"{_PREPARE}#L150")
    if row is None or check is None:
        return refuses(
            f"Unsupported node kind ({node.op!r}): the serializer stops here.",
            _at(956),
            *_FIXES.get(node.op, ()),
        )
    if any(t.dtype not in FLOAT for t in node.inputs[:1] if not t.is_constant):
        return refuses(f"{node.input(0).dtype} input: the serializer takes float32 and quint8.", _at(247))
    if setting.android_level and setting.android_level < 29:
        return refuses(
            f"It writes NNAPI 1.2 operations: Android API 29, the phone has {setting.android_level}.", _at(1)
        )
    return check(node) or takes(f"NNAPI {node.op}.", table.cite(row))


def _any(node: OpNode) -> Ruling | None:
    return None


def _rank(node: OpNode, index: int, rank: int, line: int) -> Ruling | None:
    found = node.input(index).rank
    if found is None:
        return depends(f"Taken if the traced input {index} has rank {rank}.", _at(line))
    if found != rank:
        return refuses(f"Rank {found} where the serializer wants {rank}.", _at(line))
    return None


def _fixed(node: OpNode, line: int) -> Ruling | None:
    shape = node.input(0).shape
    if shape is not None and any(isinstance(d, str) for d in shape):
        return refuses("A flexible dim; this operator needs a fixed size.", _at(line), "freeze-dims")
    return None


def _binary(node: OpNode) -> Ruling | None:
    if len(node.inputs) < 2 or not node.has(1):
        return refuses("A scalar operand: both must be tensors.", _at(1527))
    if node.op in ("aten::add", "aten::sub") and node.number("alpha", 1.0) != 1.0:
        return refuses("alpha other than 1.", _at(1598))
    a, b = node.input(0), node.input(1)
    if a.is_constant and b.is_constant:
        return refuses("Two constants.", _at(1543))
    if a.dtype and b.dtype and a.dtype != b.dtype:
        return refuses("Operands of different type.", _at(1548))
    if a.rank is None or b.rank is None:
        return depends("Taken if both operands have equal rank.", _at(242))
    if a.rank != b.rank or not a.rank:
        return refuses(f"Ranks {a.rank} and {b.rank}: only equal ranks broadcast.", _at(247))
    return None


def _hardtanh(node: OpNode) -> Ruling | None:
    bounds = (node.number("min_val", -1.0), node.number("max_val", 1.0))
    if bounds not in ((-1.0, 1.0), (0.0, 6.0)):
        return refuses(f"hardtanh{bounds}: only (−1, 1) and (0, 6).", _at(1662))
    return _fixed(node, 1650)


def _conv(node: OpNode) -> Ruling | None:
    weight = node.input(1)
    if not weight.is_constant:
        return refuses("The weight is computed.", _at(2270))
    if node.op == "aten::_convolution" and any(node.ints("output_padding") or ()):
        return depends("output_padding is ignored by the serializer: the result would differ.", _at(2300))
    if any(d != 1 for d in node.ints("dilation") or ()):
        return refuses("Dilation.", _at(275))
    if weight.rank is not None and weight.rank != 4:
        fixes = ("conv1d-to-conv2d",) if weight.rank == 3 else ()
        return refuses(f"Weight of rank {weight.rank}: only 2-D convolutions.", _at(2512), *fixes)
    groups = node.integer("groups", 1)
    channels = weight.dim(1)
    if groups != 1 and channels != 1:
        return refuses("Grouped convolution that is not depthwise.", _at(2472))
    return _rank(node, 0, 4, 2508)


def _avg_pool(node: OpNode) -> Ruling | None:
    if not node.integer("count_include_pad", 1) or node.attributes.get("divisor_override"):
        return refuses("count_include_pad=False or divisor_override.", _at(1802))
    return _window(node) or _rank(node, 0, 4, 1812)


def _window(node: OpNode) -> Ruling | None:
    if not node.ints("stride"):
        return refuses("No stride: the serializer wants two numbers.", _at(735))
    if node.integer("ceil_mode", 0):
        return depends("ceil_mode is not looked at: the output size may differ.", _at(1738))
    return None


def _max_pool(node: OpNode) -> Ruling | None:
    if any(d != 1 for d in node.ints("dilation") or ()):
        return refuses("Dilated pooling.", _at(1747))
    return _window(node) or _fixed(node, 1750) or _rank(node, 0, 4, 1751)


def _adaptive_pool(node: OpNode) -> Ruling | None:
    if node.ints("output_size") != (1, 1):
        return refuses("Only output size (1, 1).", _at(1871))
    return _fixed(node, 1855) or _rank(node, 0, 4, 1858)


def _linear(node: OpNode) -> Ruling | None:
    weight, bias, data = (2, 0, 1) if node.op == "aten::addmm" else (1, 2, 0)
    if node.number("alpha", 1.0) != 1.0 or node.number("beta", 1.0) != 1.0:
        return refuses("alpha or beta.", _at(2067))
    if not node.has(bias) or not node.input(bias).is_constant:
        return refuses("A bias is needed, and constant.", _at(2090))
    if not node.input(weight).is_constant:
        return refuses("The weight is computed.", _at(2102))
    return _rank(node, data, 2, 2092)


def _reshape(node: OpNode) -> Ruling | None:
    if node.ints("shape") is None:
        return refuses("The new shape is computed.", _at(1089))
    return _fixed(node, 1086)


def _constant_dims(node: OpNode) -> Ruling | None:
    if node.ints("dim") is None:
        return refuses("Computed or missing dims.", _at(1363))
    if node.attributes.get("dtype") is not None:
        return refuses("A dtype.", _at(1371))
    return _fixed(node, 1362)


def _slice(node: OpNode) -> Ruling | None:
    if not isinstance(node.attributes.get("start", 0), (int, type(None))):
        return refuses("Computed bounds.", _at(1195))
    return None


def _prelu(node: OpNode) -> Ruling | None:
    if node.input(1).rank == 1 and (node.input(1).dim(0) or 0) > 1:
        return depends("One slope per channel: only on channels_last tensors.", _at(1704))
    return None


def _upsample(node: OpNode) -> Ruling | None:
    return depends("Taken with a constant size or scale, fixed batch and channels.", _at(2009))


def _quantize(node: OpNode) -> Ruling | None:
    return depends("Taken for NHWC tensors (nnapi_nhwc set) and quint8.", _at(1429))


_CHECKS: dict[str, Callable[[OpNode], Ruling | None]] = {
    **dict.fromkeys(
        ("prim::GetAttr", "prim::Constant", "prim::ListConstruct", "prim::TupleConstruct", "aten::detach",
         "aten::to", "aten::relu", "aten::sigmoid", "aten::softmax", "aten::cat", "quantized::add",
         "quantized::add_relu"),
        _any,
    ),
    **dict.fromkeys(("aten::add", "aten::sub", "aten::mul", "aten::div"), _binary),
    **dict.fromkeys(("aten::conv2d", "aten::_convolution"), _conv),
    **dict.fromkeys(("aten::linear", "aten::addmm"), _linear),
    **dict.fromkeys(("quantized::linear", "quantized::conv2d", "quantized::conv2d_relu"), _quantize),
    "aten::unsqueeze": lambda node: _fixed(node, 1050),
    "aten::size": lambda node: _fixed(node, 1263),
    "aten::log_softmax": lambda node: _fixed(node, 2346),
    "aten::dequantize": lambda node: _fixed(node, 1457),
    "aten::flatten": lambda node: _fixed(node, 1156),
    "aten::reshape": _reshape,
    "aten::mean": _constant_dims,
    "aten::slice": _slice,
    "aten::hardtanh": _hardtanh,
    "aten::avg_pool2d": _avg_pool,
    "aten::max_pool2d": _max_pool,
    "aten::adaptive_avg_pool2d": _adaptive_pool,
    "aten::prelu": _prelu,
    "aten::upsample_nearest2d": _upsample,
    "aten::quantize_per_tensor": _quantize,
}  # fmt: skip

_FIXES: dict[str, tuple[str, ...]] = {
    "aten::hardswish": ("decompose-hardswish",),
    "aten::hardsigmoid": ("decompose-hardsigmoid",),
    "aten::gelu": ("decompose-gelu",),
    "aten::layer_norm": ("decompose-layernorm",),
    "aten::scaled_dot_product_attention": ("decompose-attention",),
    "aten::batch_norm": ("fold-batchnorm",),
    "aten::conv1d": ("conv1d-to-conv2d",),
    "aten::topk": ("cut-tail",),
}
