"""ExecuTorch's XNNPACK partitioner: the conditions of its configs, on edge-dialect nodes.

Source: pip:executorch==1.5.1 backends/xnnpack/partition/config/ (generic_node_configs.py,
gemm_configs.py, node_configs.py, xnnpack_config.py); audited against the partitioner itself.
"""

from __future__ import annotations

from collections.abc import Callable

from studio.support.op_node import OpNode
from studio.support.ruling import Ruling, Setting, refuses, takes, unknown
from studio.support.tables import load_table

_BASE = "pip:executorch==1.5.1 backends/xnnpack/partition/config/"
FLOATS = ("float32", "float16")


def _generic(line: int) -> str:
    return f"{_BASE}generic_node_configs.py#L{line}"


def _gemm_at(line: int) -> str:
    return f"{_BASE}gemm_configs.py#L{line}"


def judge_node(node: OpNode, setting: Setting) -> Ruling:
    """Whether the XNNPACK partitioner takes the edge node."""
    table = load_table("executorch_xnnpack")
    name = node.op.replace("dim_order_ops.", "aten.")
    row = table.find(name)
    check = _CHECKS.get(name)
    if row is None or check is None:
        return refuses(f"XNNPACK has no {node.op}.", table.cite_absence(), *_FIXES.get(node.op, ()))
    if found := _dtypes(node):
        return found
    if found := check(node):
        return found
    return takes(f"XNNPACK {node.op}.", table.cite(row))


def _dtypes(node: OpNode) -> Ruling | None:
    """xnnpack_config.py, _check_node_has_valid_dtype: float32 or float16, one type, nothing empty."""
    source = f"{_BASE}xnnpack_config.py#L150"
    kinds = set()
    for index, tensor in enumerate(node.inputs):
        if not node.has(index):
            continue
        if not tensor.dtype:
            return unknown("A data type is not in the file.", source)
        if tensor.shape is not None and 0 in tensor.shape:
            return refuses("An empty tensor.", source)
        if tensor.dtype not in FLOATS and node.op not in QUANTIZERS:
            return refuses(f"{tensor.dtype} input: the partitioner takes float32 and float16.", source)
        kinds.add(tensor.dtype)
    if len(kinds) > 1 and node.op not in QUANTIZERS:
        return refuses(f"Mixed input types {', '.join(sorted(kinds))}.", source)
    for tensor in node.outputs[:1]:
        if tensor.dtype and tensor.dtype not in FLOATS and node.op not in QUANTIZERS:
            return refuses(f"{tensor.dtype} output: the partitioner takes float32 and float16.", source)
    return None


QUANTIZERS = {
    "quantize_per_tensor.default",
    "dequantize_per_tensor.default",
    "quantized_decomposed.quantize_per_tensor.default",
    "quantized_decomposed.dequantize_per_tensor.default",
}


def _any(node: OpNode) -> Ruling | None:
    return None


def _alpha(node: OpNode) -> Ruling | None:
    if abs(node.number("alpha", 1.0) - 1.0) > 1e-9:
        return refuses("alpha other than 1.", _generic(235))
    return None


def _pool_size(node: OpNode, name: str) -> tuple[int, ...]:
    values = node.ints(name) or ()
    return (*values, *values) if len(values) == 1 else values


def _avg_pool(node: OpNode) -> Ruling | None:
    if node.integer("ceil_mode", 0):
        return refuses("ceil_mode.", _generic(300))
    if node.integer("count_include_pad", 1) and any(_pool_size(node, "padding")):
        return refuses("Padding counted in the average.", _generic(304))
    kernel = _pool_size(node, "kernel_size")
    region = kernel[0] * kernel[1] if len(kernel) == 2 else 0
    divisor = node.attributes.get("divisor_override")
    if divisor is not None and divisor != region:
        return refuses("divisor_override.", _generic(311))
    return None


def _max_pool(node: OpNode) -> Ruling | None:
    if node.integer("ceil_mode", 0) and not node.input(0).is_static:
        return refuses("ceil_mode with a dynamic shape.", _generic(470), "freeze-dims")
    kernel, stride = _pool_size(node, "kernel_size"), _pool_size(node, "stride")
    if stride and any(s > k for s, k in zip(stride, kernel)):
        return refuses(f"Stride {stride} is larger than the window {kernel}.", _generic(474))
    return None


def _cat(node: OpNode) -> Ruling | None:
    if len(node.inputs) < 2:
        return refuses("Fewer than two inputs.", _generic(335))
    if node.distinct_inputs == 1:
        return refuses("The same tensor throughout, which counts as one input.", _generic(335))
    return None


def _softmax(node: OpNode) -> Ruling | None:
    rank = node.input(0).rank
    dim = node.integer("dim", -1)
    if rank is None:
        return unknown("The rank is not in the file.", _generic(410))
    if dim not in (-1, rank - 1):
        return refuses(f"Softmax over dim {dim} of rank {rank}: only the last.", _generic(410))
    return None


def _static_output(node: OpNode) -> Ruling | None:
    if not node.output().is_static:
        return refuses("A dynamic output size.", _generic(500), "freeze-dims")
    return None


def _view(node: OpNode) -> Ruling | None:
    shape = node.output().shape
    if shape is None:
        return unknown("The new shape is not in the file.", _generic(530))
    if any(not isinstance(d, int) for d in shape):
        return refuses("A reshape with symbolic dims.", _generic(530), "freeze-dims")
    return None


def _gelu(node: OpNode) -> Ruling | None:
    return refuses("GELU in float16.", _generic(565)) if node.output().dtype == "float16" else None


def _same_type(node: OpNode) -> Ruling | None:
    if node.input(0).dtype != node.output().dtype:
        return refuses(f"A cast from {node.input(0).dtype} to {node.output().dtype}.", _generic(610))
    return None


def _mean(node: OpNode) -> Ruling | None:
    rank = node.input(0).rank
    if rank != 4:
        return refuses(f"mean of rank {rank}: only rank 4 over the last two dims.", _generic(640))
    dims = sorted(d % 4 for d in node.ints("dim") or ())
    if dims != [2, 3]:
        return refuses(f"mean over dims {dims}: only the last two.", _generic(655), "reducemean-to-gap")
    if not node.integer("keepdim", 0):
        return refuses("mean without keepdim.", _generic(661), "reducemean-to-gap")
    return None


def _pow(node: OpNode) -> Ruling | None:
    power = node.attributes.get("exponent")
    if isinstance(power, bool) or not isinstance(power, int) or power != 2:
        return refuses(f"A power of {power}: only the integer 2.", _generic(700))
    return None


def _slice(node: OpNode) -> Ruling | None:
    if node.integer("step", 1) != 1:
        return refuses("A slice step other than 1.", _generic(730))
    for tensor in (node.input(0), node.output()):
        if not tensor.is_static or 0 in (tensor.shape or ()):
            return refuses("A dynamic or empty shape.", _generic(750), "freeze-dims")
    return None


def _pad(node: OpNode) -> Ruling | None:
    if any(p < 0 for p in node.ints("pad") or ()):
        return refuses("Negative padding.", _generic(800))
    return None


def _unsqueeze(node: OpNode) -> Ruling | None:
    if node.integer("dim", 0) not in (-1, node.input(0).rank):
        return refuses("unsqueeze only at the last dim.", _generic(880))
    return None


def _max_dim(node: OpNode) -> Ruling | None:
    if node.input(0).rank != 4:
        return refuses("max.dim only of rank 4.", f"{_BASE}node_configs.py#L80")
    return unknown("Taken when nothing reads the indices.", f"{_BASE}node_configs.py#L95")


def _prelu(node: OpNode) -> Ruling | None:
    if not node.input(1).is_constant:
        return refuses("The slope is computed.", f"{_BASE}node_configs.py#L120")
    return None


def _batch_norm(node: OpNode) -> Ruling | None:
    source = f"{_BASE}node_configs.py#L26; backends/xnnpack/_passes/decompose_batch_norm.py#L39"
    x = node.input(0)
    if x.rank not in (2, 3, 4):
        return refuses(f"BatchNorm of rank {x.rank}: 2 to 4.", source)
    if x.dim(1) is None:
        return refuses("The channel dim must be a number.", source, "freeze-dims")
    if not all(t.is_constant for t in node.inputs[1:5] if t.dtype):
        return refuses("Computed weights.", source)
    return None


def _static_weight(node: OpNode, weight: int, bias: int | None) -> Ruling | None:
    if not node.input(weight).is_constant:
        return refuses("Both operands are computed; XNNPACK needs the weight constant.", _gemm_at(186))
    if bias is not None and node.has(bias) and not node.input(bias).is_constant:
        return refuses("The bias is computed, XNNPACK needs it constant.", _gemm_at(280))
    return None


def _convolution(node: OpNode) -> Ruling | None:
    if found := _static_weight(node, 1, 2):
        return found
    rank = node.input(1).rank
    if rank is None:
        return unknown("The weight's rank is not in the file.", _gemm_at(430))
    if rank > 4:
        return refuses(f"{rank - 2}-D convolution: 1-D and 2-D are taken.", _gemm_at(430))
    return None


def _linear(node: OpNode) -> Ruling | None:
    return _static_weight(node, 1, 2)


def _addmm(node: OpNode) -> Ruling | None:
    return _static_weight(node, 2, 0)


def _mm(node: OpNode) -> Ruling | None:
    return _static_weight(node, 1, None)


_CHECKS: dict[str, Callable[[OpNode], Ruling | None]] = {
    **dict.fromkeys(
        (f"aten.{name}" for name in (
            "abs.default", "bmm.default", "ceil.default", "clamp.default", "cos.default", "div.Tensor",
            "exp.default", "floor.default", "hardswish.default", "hardtanh.default",
            "leaky_relu.default", "log.default", "maximum.default", "minimum.default", "mul.Tensor",
            "neg.default", "permute_copy.default", "relu.default", "rsqrt.default", "sigmoid.default",
            "sin.default", "sqrt.default", "tanh.default", "clone.default", "_clone_dim_order.default",
        )),
        _any,
    ),
    "quantize_per_tensor.default": _any,
    "dequantize_per_tensor.default": _any,
    "aten.add.Tensor": _alpha,
    "aten.sub.Tensor": _alpha,
    "aten.avg_pool2d.default": _avg_pool,
    "aten.max_pool2d.default": _max_pool,
    "aten.cat.default": _cat,
    "aten._softmax.default": _softmax,
    "aten.upsample_bilinear2d.vec": _static_output,
    "aten.view_copy.default": _view,
    "aten.gelu.default": _gelu,
    "aten._to_dim_order_copy.default": _same_type,
    "aten.mean.dim": _mean,
    "aten.pow.Tensor_Scalar": _pow,
    "aten.slice_copy.Tensor": _slice,
    "aten.constant_pad_nd.default": _pad,
    "aten.unsqueeze_copy.default": _unsqueeze,
    "aten.max.dim": _max_dim,
    "aten.prelu.default": _prelu,
    "aten._native_batch_norm_legit_no_training.default": _batch_norm,
    "aten.convolution.default": _convolution,
    "aten.linear.default": _linear,
    "aten.addmm.default": _addmm,
    "aten.mm.default": _mm,
}  # fmt: skip

_FIXES: dict[str, tuple[str, ...]] = {
    "aten.native_layer_norm.default": ("decompose-layernorm",),
    "aten.topk.default": ("cut-tail",),
    "aten.nonzero.default": ("cut-tail",),
}
