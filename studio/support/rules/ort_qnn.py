"""ONNX Runtime's QNN provider: what is refused before Qualcomm's own validation is asked.

Source: github:onnxruntime/onnxruntime-qnn@cee6c0d91e (table `ort_qnn`). A registered operator is
necessary, not sufficient: QnnBackend_validateOpConfig decides per SoC, dtype and shape. A plain yes only
where Qualcomm's compiler was asked and took every such node (`qnn_asked`); else ask the tool (`ask_qnn`).
"""

from __future__ import annotations

from studio.support.op_node import OpNode
from studio.support.qdq import QDQ_OPS
from studio.support.rules import qnn_asked
from studio.support.rules.by_table import dynamic
from studio.support.rules.htp_common import beyond_float16, wrong_results
from studio.support.ruling import Ruling, Setting, depends, refuses
from studio.support.tables import load_table
from studio.support.versions import is_function

_PROVIDER = "github:onnxruntime/onnxruntime-qnn@cee6c0d91e:onnxruntime/core/providers/qnn/"
CONTROL_FLOW = {"If", "Loop", "Scan"}


def judge_node(node: OpNode, setting: Setting) -> Ruling:
    """Whether the QNN provider may take the node."""
    table = load_table("ort_qnn")
    if node.in_subgraph or node.op in CONTROL_FLOW:
        return refuses("Control flow stays on the CPU.", table.table.notes, "split-unsupported")
    if node.op == "DynamicQuantizeLinear":
        return refuses(
            "Passes the check, then fails at run (error 6031): no dynamic quantisation on QNN.",
            "https://github.com/microsoft/onnxruntime/issues/25334",
            "dynamic-quantize-to-static",
        )
    # builders are found by the operator's name alone (op_builder_factory.cc), and 16-bit QDQ is Microsoft's
    row = table.find(node.op, "" if node.op in QDQ_OPS else node.domain)
    if node.op in qnn_asked.REFUSED and (found := qnn_asked.refused(node)):
        return found
    if row is None and _is_in_gelu(node):
        source = f"{_PROVIDER}builder/qnn_node_group/gelu_fusion.cc"
        return (
            dynamic(node, "QNN", source)
            or _float_on_old(node, setting, source)
            or depends(
                "Div → Erf → Add → Mul becomes one Gelu; Qualcomm's own validation for the SoC decides.",
                source,
            )
        )
    if row is None and node.op != "Attention" and is_function(node.op, node.domain):
        return depends(
            f"QNN has no {node.op}; ONNX Runtime may expand it into operators that QNN has.",
            f"{table.cite_absence()}; onnxruntime/core/framework/graph_partitioner.cc, InlineNodes",
        )
    if row is None:
        fixes = ("decompose-attention",) if node.op == "Attention" else _FIXES.get(node.op, ())
        return refuses(f"QNN has no {node.op}.", table.cite_absence(), *fixes)
    if found := dynamic(node, "QNN", table.cite(row)):
        return found
    if found := _refused(node, table.cite(row)) or qnn_asked.refused(node):
        return found
    if found := beyond_float16(node):
        return found
    if found := _known_faults(node):
        return found
    if found := qnn_asked.confirmed(node, setting.htp_arch):
        return found
    if found := _float_on_old(node, setting, table.cite(row)):
        return found
    if node.qdq is None and node.input(0).dtype == "float32":
        return depends(
            f"QNN has {node.op}; float32 runs as float16 on HTP. {_condition(row.condition)}", table.cite(row)
        )
    return depends(f"QNN has {node.op}. {_condition(row.condition)}", table.cite(row))


def _float_on_old(node: OpNode, setting: Setting, source: str) -> Ruling | None:
    if node.qdq is None and node.input(0).dtype == "float32" and setting.htp_arch and setting.htp_arch < 69:
        return refuses(f"float on Hexagon v{setting.htp_arch}: HTP needs a quantised model.", source)
    return None


def _is_in_gelu(node: OpNode) -> bool:
    """Whether an Erf stands where the provider looks for a Gelu that was written out.

    Asked of onnxruntime-qnn 2.7.0 on SM8650, 2026-12-01: it took all 13 of PP-OCRv6's recogniser.
    """
    return node.op == "Erf" and node.producers[:1] == ("Div",) and set(node.consumers) == {"Add"}


def _refused(node: OpNode, source: str) -> Ruling | None:
    """Attributes that the builders or Qualcomm's validation refused whenever they were asked."""
    asked = f"{source}; asked of onnxruntime-qnn 2.7.0 on SM8650, 2026-11-30"
    if node.op in ("MaxPool", "AveragePool"):
        if any(d != 1 for d in node.ints("dilations") or ()):
            return refuses("QNN's pools have no dilation.", asked)
        if len(node.outputs) > 1:
            return refuses("QNN's MaxPool does not return indices.", asked)
    if node.op == "Gemm" and (node.number("alpha", 1.0) != 1.0 or node.number("beta", 1.0) != 1.0):
        return refuses("QNN's FullyConnected has no alpha and beta: both must be 1.", asked)
    return None


def _condition(text: str) -> str:
    return f"Condition: {text.rstrip('.')}; Qualcomm's own validation for the SoC decides."


def _known_faults(node: OpNode) -> Ruling | None:
    if found := wrong_results(node):
        return found
    weight = node.qdq.inputs[1] if node.qdq and len(node.qdq.inputs) > 1 else None
    if node.op == "ConvTranspose" and weight is not None and weight.is_per_channel and weight.axis == 0:
        return depends(
            "Weights quantised per channel along axis 0; a transposed convolution's channels are axis 1.",
            "https://github.com/microsoft/onnxruntime/issues/19694",
            "convtranspose-axis",
        )
    if node.op == "Conv" and node.input(1).rank == 3:
        return depends(
            "A 1-D convolution becomes Conv2d with transposes around it: slow.",
            "https://github.com/pytorch/executorch/issues/12537",
            "conv1d-to-conv2d",
        )
    return None


_FIXES: dict[str, tuple[str, ...]] = {
    "NonZero": ("cut-tail",),
    "NonMaxSuppression": ("cut-tail",),
    "Attention": ("decompose-attention",),
}
