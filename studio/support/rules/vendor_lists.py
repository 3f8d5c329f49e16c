"""Rules for the vendors' own converters and for ncnn and MNN, from their published lists.

None of these tools can be asked here, so the best answer is conditional; where lists disagree or say
nothing it is unknown. Sources: tables mindspore_lite, mindspore_lite_converter_onnx, ncnn,
ncnn_onnx2ncnn, mnn_backends, mnn_onnx_converter, tnn_huawei_npu, paddlelite_huawei_kirin_npu,
litert_npu_mediatek, mediatek_mdla3_partial, ort_qnn, qnn_htp_ops, torch_cpu.
"""

from __future__ import annotations

import re

from studio.support.op_node import OpNode
from studio.support.predict.aten import base_name
from studio.support.rules.by_table import dynamic
from studio.support.ruling import Ruling, Setting, depends, fails, refuses, takes, unknown
from studio.support.tables import Row, Status, load_table


def torch_cpu(node: OpNode, setting: Setting) -> Ruling:
    """PyTorch Mobile's own kernels."""
    table = load_table("torch_cpu")
    if node.op.startswith("prim::"):
        return takes("The interpreter's own.", "torch/csrc/jit/runtime/register_prim_ops.cpp")
    name = f"aten::{base_name(node.op)}" if base_name(node.op) else node.op
    row = table.find(node.op) or table.find(name)
    if row is None:
        return unknown(
            f"{node.op} is not an operator of PyTorch; the app would have to register it.",
            table.cite_absence(),
        )
    return takes(f"PyTorch's CPU kernel {row.op}.", table.cite(row))


def _primitive(row: Row) -> str:
    """The MindSpore primitive of a converter row, “converts to X”."""
    match = re.search(r"converts to (\w+)", row.condition)
    return match[1] if match else row.op


def _mindspore(node: OpNode, device: str) -> tuple[Row | None, str, str]:
    """(kernel row of a device, primitive, citation); the row is None when converter or kernel is missing."""
    converter, kernels = load_table("mindspore_lite_converter_onnx"), load_table("mindspore_lite")
    accepted = converter.find(node.op)
    if accepted is None:
        return None, "", converter.cite_absence()
    name = _primitive(accepted)
    for candidate in (name, f"{name}Fusion", name.removesuffix("Fusion")):
        row = kernels.find(candidate, "", device)
        if row is not None:
            return row, candidate, f"{converter.cite(accepted)}; {kernels.cite(row)}"
    return None, name, f"{converter.cite(accepted)}; {kernels.cite_absence()}"


def mindspore_cpu(node: OpNode, setting: Setting) -> Ruling:
    """MindSpore Lite's CPU kernels."""
    row, name, source = _mindspore(node, "CPU")
    if not name:
        return fails(f"converter_lite does not accept ONNX {node.op}.", source)
    if row is None:
        return unknown(f"Becomes {name}, which the kernel list does not name.", source)
    if row.status == Status.NO:
        return fails(f"Becomes {name}, which has no CPU kernel.", source)
    return depends(f"Becomes {name}; attribute limits are not published.", source)


def mindspore_kirin(node: OpNode, setting: Setting) -> Ruling:
    """Kirin NPU through MindSpore Lite."""
    row, name, source = _mindspore(node, "Kirin NPU")
    if not name:
        return refuses(f"converter_lite does not accept ONNX {node.op}.", source)
    if row is None:
        return unknown(f"Becomes {name}, which the NPU list does not name.", source)
    if row.status == Status.NO:
        return refuses(f"Becomes {name}, which the Kirin NPU does not take.", source)
    if found := dynamic(node, "The Kirin NPU", source):
        return found
    return depends(f"Becomes {name}, which the Kirin NPU has in float16; HiAI decides on the phone.", source)


def hiai(node: OpNode, setting: Setting) -> Ruling:
    """Huawei's omg: no public list of its own, so what three public delegates hand to HiAI."""
    row, name, source = _mindspore(node, "Kirin NPU")
    if name and row is not None and row.status == Status.YES:
        return depends(f"MindSpore Lite hands {name} to HiAI, so HiAI's IR has it; omg decides.", source)
    other = load_table("mnn_backends").find(_MNN_OF.get(node.op, node.op), "", "hiai")
    if other is not None:
        return depends(f"MNN hands {other.op} to HiAI; omg decides.", load_table("mnn_backends").cite(other))
    return unknown(f"No public source says whether HiAI takes {node.op}.", source)


def htp(node: OpNode, setting: Setting) -> Ruling:
    """Qualcomm's converter and HTP: operators for which ONNX Runtime's QNN provider has a builder."""
    table = load_table("ort_qnn")
    row = table.find(node.op, node.domain)
    if row is None:
        return unknown(
            f"No public list says whether Qualcomm's converter takes {node.op}.", table.cite_absence()
        )
    if found := dynamic(node, "HTP", table.cite(row)):
        return found._replace(verdict=found.verdict)
    return depends(
        f"QNN has an operator for {node.op}; Qualcomm's converter and the SoC decide.", table.cite(row)
    )


def neuropilot(node: OpNode, setting: Setting) -> Ruling:
    """MediaTek's ncc-tflite: what LiteRT's MediaTek plug-in and the MDLA 3.0 guide name."""
    guide, plugin = load_table("mediatek_mdla3_partial"), load_table("litert_npu_mediatek")
    found = [(t, row) for t in (guide, plugin) if (row := t.find(node.op)) is not None]
    if not found:
        return unknown(
            f"No public MediaTek list names {node.op}.", f"{guide.cite_absence()}; {plugin.cite_absence()}"
        )
    source = "; ".join(t.cite(row) for t, row in found)
    if problem := dynamic(node, "MediaTek's compiler", source):
        return problem
    return depends(f"MediaTek has {node.op}; ncc-tflite decides for the SoC.", source)


_NCNN_OF = {
    "Conv": "Convolution", "Gemm": "InnerProduct", "MatMul": "MatMul", "Relu": "ReLU", "Sigmoid": "Sigmoid",
    "Tanh": "TanH", "MaxPool": "Pooling", "AveragePool": "Pooling", "GlobalAveragePool": "Pooling",
    "GlobalMaxPool": "Pooling", "Add": "BinaryOp", "Sub": "BinaryOp", "Mul": "BinaryOp", "Div": "BinaryOp",
    "Max": "BinaryOp", "Min": "BinaryOp", "Pow": "BinaryOp", "Concat": "Concat", "Softmax": "Softmax",
    "Reshape": "Reshape", "Flatten": "Flatten", "Transpose": "Permute", "BatchNormalization": "BatchNorm",
    "Clip": "Clip", "LeakyRelu": "ReLU", "PRelu": "PReLU", "Elu": "ELU", "HardSwish": "HardSwish",
    "HardSigmoid": "HardSigmoid", "Resize": "Interp", "Upsample": "Interp", "Slice": "Crop", "Split": "Slice",
    "Pad": "Padding", "ReduceMean": "Reduction", "ReduceSum": "Reduction", "ReduceMax": "Reduction",
    "ReduceMin": "Reduction", "Abs": "UnaryOp", "Exp": "UnaryOp", "Log": "UnaryOp", "Sqrt": "UnaryOp",
    "Neg": "UnaryOp", "Floor": "UnaryOp", "Ceil": "UnaryOp", "Sin": "UnaryOp", "Cos": "UnaryOp",
    "ConvTranspose": "Deconvolution", "Squeeze": "Squeeze", "Unsqueeze": "ExpandDims", "LSTM": "LSTM",
    "GRU": "GRU",
    "LayerNormalization": "LayerNorm", "InstanceNormalization": "InstanceNorm", "Gelu": "GELU",
    "DepthToSpace": "PixelShuffle", "LRN": "LRN", "Identity": "Noop", "Dropout": "Dropout",
}  # fmt: skip
"""ONNX operator → ncnn layer, as tools/onnx/onnx2ncnn.cpp of ncnn@a4d2ea1d4 writes them."""


def _ncnn(node: OpNode) -> tuple[Row | None, str, str]:
    converter, layers = load_table("ncnn_onnx2ncnn"), load_table("ncnn")
    accepted = converter.find(node.op)
    if accepted is None:
        return None, "", converter.cite_absence()
    layer = _NCNN_OF.get(node.op, "")
    row = layers.find(layer) if layer else None
    source = f"{converter.cite(accepted)}; {layers.cite(row) if row else layers.cite_absence()}"
    return row, layer or "?", source


def ncnn_cpu(node: OpNode, setting: Setting) -> Ruling:
    """ncnn on the CPU."""
    row, layer, source = _ncnn(node)
    if not layer:
        return unknown(f"The converter's list does not name {node.op}; pnnx may know it.", source)
    if (node.input(0).rank or 0) > 5:
        return refuses(
            f"Rank {node.input(0).rank}: ncnn has at most 4 dims besides the batch.", source, "rank5-to-4"
        )
    if row is None or row.status == Status.NO:
        return unknown(f"Which ncnn layer {node.op} becomes is not known here.", source)
    return depends(f"Becomes {layer}; the batch dim is folded away.", source)


def ncnn_vulkan(node: OpNode, setting: Setting) -> Ruling:
    """ncnn on Vulkan."""
    row, layer, source = _ncnn(node)
    if row is None:
        return ncnn_cpu(node, setting)
    if not row.flags.get("vulkan"):
        return refuses(f"{layer} has no Vulkan layer.", source)
    return depends(f"Becomes {layer}, which has a Vulkan layer.", source)


_MNN_OF = {
    "Conv": "Convolution", "ConvTranspose": "Deconvolution", "MaxPool": "Pooling", "AveragePool": "Pooling",
    "GlobalAveragePool": "Pooling", "Add": "BinaryOp", "Sub": "BinaryOp", "Mul": "BinaryOp",
    "Div": "BinaryOp",
    "Relu": "ReLU", "Sigmoid": "UnaryOp", "Tanh": "UnaryOp", "Exp": "UnaryOp", "Sqrt": "UnaryOp",
    "Abs": "UnaryOp",
    "Softmax": "Softmax", "Resize": "Interp", "ReduceMean": "Reduction", "MatMul": "MatMul", "Gemm": "MatMul",
    "LayerNormalization": "LayerNorm", "ArgMax": "ArgMax", "TopK": "TopKV2", "Cast": "Cast", "PRelu": "PReLU",
}  # fmt: skip


def _mnn(node: OpNode, backend: str) -> Ruling:
    converter, kernels = load_table("mnn_onnx_converter"), load_table("mnn_backends")
    accepted = converter.find(node.op)
    if accepted is None:
        return unknown(f"MNN's converter list does not name {node.op}.", converter.cite_absence())
    row = kernels.find(_MNN_OF.get(node.op, node.op), "", backend)
    if row is None:
        return unknown(
            f"MNN converts {node.op}; whether {backend} runs it is not known (MNN rewrites operators).",
            f"{converter.cite(accepted)}; {kernels.cite_absence()}",
        )
    return depends(
        f"MNN converts {node.op} to {row.op}, which {backend} has.",
        f"{converter.cite(accepted)}; {kernels.cite(row)}",
    )


def mnn_cpu(node: OpNode, setting: Setting) -> Ruling:
    """MNN on the CPU."""
    return _mnn(node, "cpu")


def mnn_opencl(node: OpNode, setting: Setting) -> Ruling:
    """MNN on OpenCL."""
    return _mnn(node, "opencl")


def mnn_hiai(node: OpNode, setting: Setting) -> Ruling:
    """MNN on HiAI."""
    if found := dynamic(node, "HiAI", load_table("mnn_backends").cite_absence()):
        return found
    return _mnn(node, "hiai")
