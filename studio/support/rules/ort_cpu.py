"""ONNX Runtime's CPU kernels: is one registered for this operator, opset and these dtypes?

Source: the kernel registry of the onnxruntime wheel (table `ort_cpu`). A kernel registered from
version v without an end serves only the definition of version v: an operator whose definition
changed later is another operator (onnxruntime/core/framework/kernel_registry.cc, VerifyVersion).
"""

from __future__ import annotations

from studio.support.op_node import ABSENT, OpNode
from studio.support.ruling import Ruling, Setting, depends, fails, takes, unknown
from studio.support.tables import Kernel, Row, load_table
from studio.support.versions import is_function, is_onnx_operator, newest_opset

CALL = "A function of this file, inlined at load: its nodes have their own verdicts."
ARM64_FLOAT16 = (
    "float16 kernels for arm64 are not in the registry of the x86-64 wheel that this table was taken from"
)


def judge_node(node: OpNode, setting: Setting) -> Ruling:
    """Whether the CPU provider runs the node."""
    table = load_table("ort_cpu")
    if node.is_call:
        return depends(CALL, "onnxruntime/core/graph/graph.cc, InlineFunctionProto")
    if not node.domain and node.opset > newest_opset():
        return unknown(
            f"Opset {node.opset} is newer than the table, which ends at {newest_opset()}.",
            table.cite_absence(),
        )
    row = table.find(node.op, node.domain)
    if row is None:
        return _no_kernel(node)
    if node.domain and not is_onnx_operator(node.op, node.domain):
        kernels = list(row.kernels)
    else:
        version = node.version
        kernels = [k for k in row.kernels if k.since == version or (k.since <= version <= k.until)]
        if not version:
            return unknown("The file does not say which opset this operator is from.", table.cite(row))
        if not kernels and is_function(node.op, node.domain):
            return _expanded(node)
        if not kernels:
            known = ", ".join(_range(k) for k in row.kernels)
            return fails(
                f"ONNX Runtime has {node.op} for opset {known}, not for version {version}.",
                table.cite(row),
                "opset-down" if version > row.kernels[-1].since else "opset-up",
            )
    return _by_dtypes(node, row, kernels)


def _range(kernel: Kernel) -> str:
    if kernel.until == 0:
        return f"{kernel.since}+"
    return f"{kernel.since}" if kernel.until == kernel.since else f"{kernel.since}–{kernel.until}"


EXPANDED = {
    "Attention", "CastLike", "CausalConvWithState", "CenterCropPad", "GroupNormalization", "HardSwish",
    "LinearAttention", "Mish", "NegativeLogLikelihoodLoss", "ReduceLogSum", "ReduceLogSumExp", "SequenceMap",
    "SoftmaxCrossEntropyLoss",
}  # fmt: skip
"""Operators without a kernel whose conformance tests all load, since their body is expanded (the audit)."""
PLAIN_TYPES = {"float32", "float64", "int32", "int64", "bool", "sequence"}


def _expanded(node: OpNode) -> Ruling:
    if node.op in EXPANDED and all(t.dtype in PLAIN_TYPES for t in node.inputs if t is not ABSENT):
        return takes(
            f"No kernel of its own: ONNX Runtime expands the body of {node.op}.",
            "audit of onnxruntime 1.32.0 on the conformance tests of onnx (resources/help/audit.md)",
        )
    return depends(
        f"No kernel of its own for version {node.version}; runs if this ONNX Runtime knows the "
        "definition and expands its body.",
        "onnx.defs function body; onnxruntime inlines functions without a kernel",
    )


def _no_kernel(node: OpNode) -> Ruling:
    table = load_table("ort_cpu")
    if is_onnx_operator(node.op, node.domain):
        if is_function(node.op, node.domain):
            return _expanded(node)
        return unknown(f"No CPU kernel is listed for {node.op}.", table.cite_absence())
    where = f"domain “{node.domain}”" if node.domain else "the ONNX standard"
    return unknown(
        f"{node.op} is not in {where} as far as the tables know; it would need a custom operator library.",
        table.cite_absence(),
    )


def _by_dtypes(node: OpNode, row: Row, kernels: list[Kernel]) -> Ruling:
    """Yes when some kernel allows every known dtype; unknown when a dtype is not known."""
    table = load_table("ort_cpu")
    missing = False
    wrong = ""
    for kernel in kernels:
        problem, unsure = _mismatch(node, kernel)
        if not problem:
            if unsure:
                missing = True
                continue
            return takes(f"CPU kernel {node.op} ({_range(kernel)}).", table.cite(row))
        wrong = wrong or problem
    if missing:
        return unknown("The file does not give this node's data types.", table.cite(row))
    if any(t.dtype == "float16" for t in node.inputs):
        return depends(
            f"{wrong} It depends on the build: {ARM64_FLOAT16}; without one ONNX Runtime casts.",
            table.cite(row),
        )
    if is_function(node.op, node.domain):
        return unknown(f"{wrong} Its function body may still run.", table.cite(row))
    return fails(wrong, table.cite(row))


def _mismatch(node: OpNode, kernel: Kernel) -> tuple[str, bool]:
    """(what does not fit, whether something is unknown)."""
    unsure = False
    for tensors, slots, what in (
        (node.inputs, kernel.inputs, "input"),
        (node.outputs, kernel.outputs, "output"),
    ):
        for index, tensor in enumerate(tensors):
            if tensor is ABSENT:
                continue
            if index < len(slots):
                slot = slots[index]
            elif slots and (kernel.is_variadic or what == "output"):
                slot = slots[-1]
            else:
                continue
            allowed = kernel.types.get(slot)
            if allowed is None:
                continue  # a type the schema fixes, or one that the registry does not constrain
            if not tensor.dtype:
                unsure = True
            elif tensor.dtype not in allowed and not any("(" in a for a in allowed):
                names = ", ".join(allowed)
                return (
                    f"{node.op} has no CPU kernel for {tensor.dtype} ({what} {index}; it has {names}).",
                    False,
                )
    return "", unsure
