"""Fix: what a rewrite is called, what it gains, and where its code is."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from studio.errors import InputError
from studio.records import Choice, Record
from studio.support.stand_in import OPSET_DOWN, OPSET_UP


class Needs(Choice):
    """What a fix cannot guess."""

    DIMS = "dims"  # values for symbolic dims
    INPUTS = "inputs"  # real inputs, for ranges
    TARGET = "target"  # whose verdicts decide


class FixOptions(Record):
    """What a rewrite may be told.

    `dims`: several values per dim make one model each (buckets); no dims at all: sizes are guessed.
    """

    dims: dict[str, tuple[int, ...]] = {}
    opset: int = 0  # 0: the fix's default
    limit: float = 65504.0  # the largest finite float16
    target: str = ""
    soc: str = ""
    inputs_path: str = ""
    nodes: tuple[str, ...] = ()  # only these; empty = wherever it applies


class Fix(Record):
    """A rewrite. `address` is `module:function`; the function takes (OnnxEdit, FixOptions).

    `defaults` stand in for what is not told, so that every fix but those that need inputs works as it is.
    """

    id: str
    title: str
    gain: str
    address: str
    needs: tuple[Needs, ...] = ()
    torch_advice: str = ""
    defaults: FixOptions = FixOptions()


class Join(Choice):
    """How the outputs of the new model(s) are put together to compare them with the old one's."""

    SAME = "same"
    CONCAT = "concat"  # some outputs are the parts of an old one
    CHAIN = "chain"  # the first model feeds the second


@dataclass(slots=True)
class Rewrite:
    """What a rewrite made: model files by suffix ("" = the only one), and how equal it must be.

    `tolerance`: the largest |new − old| allowed, as a share of the largest |old| of that output.
    """

    models: list[tuple[str, Any]]
    changed: tuple[str, ...]
    tolerance: float
    join: Join = Join.SAME
    parts: dict[str, tuple[tuple[str, ...], int]] | None = None  # CONCAT: old output → (parts, axis)
    notes: tuple[str, ...] = ()
    dims: tuple[dict[str, int], ...] = ()  # per model, for buckets
    torch_advice: str = ""  # in place of the fix's own, where the model tells more


Rewriter = Callable[[Any, FixOptions], Rewrite]


NO_DEFAULTS = FixOptions()
_RELU6 = "Add, Clip to 0 … 6 and Mul are taken nearly everywhere."


def _f(
    id_: str,
    title: str,
    gain: str,
    address: str,
    *needs: Needs,
    torch: str = "",
    defaults: FixOptions = NO_DEFAULTS,
) -> tuple[str, Fix]:
    return id_, Fix(
        id=id_,
        title=title,
        gain=gain,
        address=f"studio.recipes.fixes.{address}",
        needs=needs,
        torch_advice=torch,
        defaults=defaults,
    )


FIXES: dict[str, Fix] = dict(
    (
        _f("freeze-dims", "Freeze symbolic dims", "NNAPI, QNN and most NPUs take static shapes only.",
           "dims:freeze", Needs.DIMS, torch="Export with a fixed example input and without dynamic_shapes."),
        _f("opset-up", "Raise the opset", "Newer operator versions that a runtime or rule needs.",
           "opset:up", torch="Export with a higher opset_version.", defaults=FixOptions(opset=OPSET_UP)),
        _f("opset-down", "Lower the opset", "An older runtime knows the operators again.",
           "opset:down", torch="Export with a lower opset_version.", defaults=FixOptions(opset=OPSET_DOWN)),
        _f("fold-batchnorm", "Fold BatchNormalization", "One node and one pass over memory less per layer.",
           "batchnorm:fold", torch="Call torch.nn.utils.fusion.fuse_conv_bn_eval before the export."),
        _f("conv1d-to-conv2d", "Conv1d as Conv2d", "NPUs have no 1-D convolution and transpose around one.",
           "convolution:widen", torch="Use nn.Conv2d with kernel (1, k) and keep the tensor 4-D."),
        _f("convtranspose-axis", "Quantize ConvTranspose weights along axis 1",
           "Output channels are axis 1 here; axis 0 is refused or wrong.", "convolution:requantize"),
        _f("decompose-hardswish", "Write HardSwish out", _RELU6,
           "activations:hardswish", torch="Write x * F.relu6(x + 3) / 6 instead of nn.Hardswish."),
        _f("decompose-hardsigmoid", "Write HardSigmoid out", _RELU6,
           "activations:hardsigmoid", torch="Write F.relu6(x + 3) / 6 instead of nn.Hardsigmoid."),
        _f("decompose-silu", "Write Swish and Mish out", "Sigmoid and Mul are taken nearly everywhere.",
           "decompose:silu"),
        _f("decompose-gelu", "Write Gelu out", "Erf or Tanh, Mul and Add are taken where Gelu is not.",
           "activations:gelu", torch="Use nn.GELU(approximate='tanh')."),
        _f("decompose-layernorm", "Write normalizations out",
           "ReduceMean, Sub, Mul and friends are taken where LayerNormalization is not.",
           "norms:normalizations"),
        _f("decompose-attention", "Write Attention out",
           "MatMul and Softmax are taken where the fused Attention of opset 23 is not.",
           "decompose:attention", torch="Set torch.backends math SDPA, or write the two matmuls."),
        _f("fuse-hardswish", "Fuse HardSwish", "One node where a target has HardSwish.", "fuse:hardswish"),
        _f("fuse-gelu", "Fuse Gelu", "One node where a target has Gelu (opset 20).", "fuse:gelu"),
        _f("fuse-layernorm", "Fuse LayerNormalization", "One node where a target has it (opset 17).",
           "fuse:layernorm"),
        _f("fuse-attention", "Fuse Attention",
           "One node where a target has Attention (opset 23): ONNX Runtime's CPU provider does.",
           "fuse:attention"),
        _f("fuse-silu", "Fuse Swish", "One node where a target has Swish (opset 24).", "fuse:silu"),
        _f("resize-half-pixel", "Resize with half_pixel",
           "pytorch_half_pixel equals half_pixel whenever the output is larger than one pixel.",
           "resize:half_pixel", torch="Interpolate to a size larger than 1; the result is the same."),
        _f("resize-asymmetric", "Nearest Resize as asymmetric",
           "For whole factors asymmetric with floor picks the same pixels, and more targets take it.",
           "resize:asymmetric"),
        _f("rank5-to-4", "5-D as 4-D", "NNAPI and most GPU delegates stop at 4 dims.",
           "rank:flatten", torch="Merge two dims before the operator, so that it sees 4."),
        _f("clamp-inf-masks", "Clamp infinite masks", "−inf and values beyond float16 are garbage on HTP.",
           "masks:clamp", torch="Fill masks with -65504 instead of float('-inf')."),
        _f("dynamic-quantize-to-static", "Static scales for DynamicQuantizeLinear",
           "NPUs need scales known beforehand.", "quantization:make_static", Needs.INPUTS),
        _f("split-concat", "Return the parts of a Concat",
           "Boxes in pixels and scores in 0..1 no longer share one int8 scale.",
           "quantization:split_concat", torch="Return boxes and scores as two outputs."),
        _f("reducemean-to-gap", "ReduceMean as GlobalAveragePool", "Pooling is taken by more targets.",
           "reduce:to_global_pool", torch="Use nn.AdaptiveAvgPool2d(1)."),
        _f("einsum-to-matmul", "Einsum as MatMul", "MatMul is taken where Einsum is not.",
           "einsum:to_matmul", torch="Write torch.matmul with transposes instead of torch.einsum."),
        _f("fold-chains", "Fold constants and Slice chains", "Shape arithmetic goes; one Slice is left.",
           "chains:fold"),
        _f("cut-tail", "Cut off TopK, NonZero and NMS",
           "The accelerator keeps the network; the tail is returned as post-processing.",
           "split:cut_tail", torch="Return raw scores and boxes; select in the app."),
        _f("split-unsupported", "Split off what the target does not take",
           "One whole partition on the accelerator, the rest as a second model.",
           "split:split_unsupported", Needs.TARGET),
    )
)  # fmt: skip


def find_fix(fix_id: str) -> Fix:
    """The fix of that id. Raises InputError with the known ids otherwise."""
    if fix_id not in FIXES:
        raise InputError(f"There is no fix “{fix_id}”.", hint=f"Known fixes: {', '.join(FIXES)}.")
    return FIXES[fix_id]


def rewriter_of(fix: Fix) -> Rewriter:
    """The function that does it."""
    module, function = fix.address.split(":")
    found: Rewriter = getattr(importlib.import_module(module), function)
    return found
