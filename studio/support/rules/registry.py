"""Which rule answers for a target, in whose operator names it speaks, and what catches what it refuses."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

from studio.support.op_node import OpNode
from studio.support.rules.by_table import ByTable
from studio.support.ruling import Rule, Ruling, Setting
from studio.support.verdict import Verdict


@dataclass(frozen=True, slots=True)
class RuleSet:
    """How one target is judged.

    `ir`: onnx, tflite, aten, or another list's names reached through `predict`. `fallback`: the rule of
    the engine that runs what the accelerator refuses (None: refusing means the node cannot run).
    `engine`, `fallback_name`: how sentences name them. `limit`: partitions that the runtime takes, 0 = all.
    `not_alone`: operators that are not worth a partition of their own.
    """

    ir: str
    rule: Rule
    engine: str
    fallback: Rule | None = None
    fallback_name: str = ""
    partitioning: str = "phases"
    limit: int = 0
    not_alone: tuple[str, ...] = ()


def _module(name: str) -> Rule:
    rule: Rule = importlib.import_module(f"studio.support.rules.{name}").judge_node
    return rule


@cache
def rule_for(target_id: str) -> RuleSet:
    """The rule set of a target. Raises KeyError for an id that `studio.targets` does not know."""
    return _BUILD[target_id]()


def _ort(module: str, engine: str) -> RuleSet:
    """An ONNX Runtime provider: what the optimiser removes first is out of the question."""
    from studio.support.rules.htp_common import shared_scale
    from studio.support.rules.ort_fusions import removed

    rule: Rule = _module(module)

    def after_fusion(node: OpNode, setting: Setting) -> Ruling:
        ruling = removed(node) or rule(node, setting)
        if ruling.verdict in (Verdict.RUNS, Verdict.CONDITIONAL):
            return shared_scale(node) or ruling
        return ruling

    # nnapi_builtin/builders/helper.cc#L288, IsValidSupportedNodeGroup
    alone = ("Reshape", "Flatten", "Identity") if module == "ort_nnapi" else ()
    return RuleSet("onnx", after_fusion, engine, _module("ort_cpu"), "ONNX Runtime's CPU", not_alone=alone)


def _own_kernels() -> Rule:
    from studio.support.rules.litert_cpu import own_kernel

    return own_kernel


def _litert(rule: Rule, engine: str, *, limit: int = 0) -> RuleSet:
    return RuleSet("tflite", rule, engine, _own_kernels(), "LiteRT's CPU", "epochs", limit)


def _npu(vendor: str, title: str, *, is_complete: bool = True) -> RuleSet:
    condition = f"{title}'s compiler decides for the SoC"
    rule = ByTable(
        f"litert_npu_{vendor}", title, is_complete=is_complete, needs_static=True, condition=condition
    )
    return _litert(rule, title)


def _executorch(rule: Rule, engine: str) -> RuleSet:
    portable = _module("executorch_portable")
    return RuleSet("edge", rule, engine, portable, "ExecuTorch's portable kernels", "connected")


def _executorch_list(vendor: str, title: str, *, is_complete: bool = True) -> RuleSet:
    rule = ByTable(f"executorch_{vendor}", title, is_complete=is_complete, needs_static=True)
    return _executorch(rule, title)


def _executorch_qnn() -> RuleSet:
    from studio.support.rules.htp_common import with_faults

    rules = _executorch_list("qualcomm", "Qualcomm's delegate")
    return replace(rules, rule=with_faults(rules.rule))


def _htp() -> Rule:
    from studio.support.rules.htp_common import with_faults

    return with_faults(_listed("htp"))


def _listed(name: str) -> Rule:
    rule: Rule = getattr(importlib.import_module("studio.support.rules.vendor_lists"), name)
    return rule


_BUILD: dict[str, Callable[[], RuleSet]] = {
    "ort/cpu": lambda: RuleSet("onnx", _module("ort_cpu"), "ONNX Runtime"),
    "ort/xnnpack": lambda: _ort("ort_xnnpack", "XNNPACK"),
    "ort/nnapi": lambda: _ort("ort_nnapi", "NNAPI"),
    "ort/qnn": lambda: _ort("ort_qnn", "QNN"),
    "litert/cpu": lambda: RuleSet("tflite", _module("litert_cpu"), "XNNPACK", partitioning="epochs"),
    "litert/gpu": lambda: _litert(_module("litert_gpu"), "The GPU delegate", limit=1),
    "litert/nnapi": lambda: _litert(_module("litert_nnapi"), "The NNAPI delegate"),
    "litert/npu-qualcomm": lambda: _npu("qualcomm", "Qualcomm"),
    "litert/npu-mediatek": lambda: _npu("mediatek", "MediaTek"),
    "litert/npu-google-tensor": lambda: _npu("google_tensor", "Google Tensor", is_complete=False),
    "litert/npu-samsung": lambda: _npu("samsung", "Samsung"),
    "executorch/portable": lambda: RuleSet("edge", _module("executorch_portable"), "ExecuTorch"),
    "executorch/xnnpack": lambda: _executorch(_module("executorch_xnnpack"), "XNNPACK"),
    "executorch/vulkan": lambda: _executorch(_module("executorch_vulkan"), "Vulkan"),
    "executorch/qnn": _executorch_qnn,
    "executorch/mediatek": lambda: _executorch_list("mediatek", "MediaTek's delegate", is_complete=False),
    "executorch/samsung": lambda: _executorch_list("samsung", "Samsung's delegate"),
    "pytorch-mobile/cpu": lambda: RuleSet("torchscript", _listed("torch_cpu"), "PyTorch"),
    "pytorch-mobile/nnapi": lambda: RuleSet(
        "torchscript", _module("torch_nnapi"), "NNAPI", partitioning="whole"
    ),
    "qualcomm/htp": lambda: RuleSet("onnx", _htp(), "HTP"),
    "huawei/hiai": lambda: RuleSet("onnx", _listed("hiai"), "HiAI"),
    "mediatek/neuropilot": lambda: RuleSet("tflite", _listed("neuropilot"), "NeuroPilot"),
    "mindspore-lite/cpu": lambda: RuleSet("onnx", _listed("mindspore_cpu"), "MindSpore Lite"),
    "mindspore-lite/kirin": lambda: RuleSet(
        "onnx", _listed("mindspore_kirin"), "The Kirin NPU", _listed("mindspore_cpu"), "MindSpore Lite's CPU"
    ),
    "ncnn/cpu": lambda: RuleSet("onnx", _listed("ncnn_cpu"), "ncnn"),
    "ncnn/vulkan": lambda: RuleSet(
        "onnx", _listed("ncnn_vulkan"), "ncnn on Vulkan", _listed("ncnn_cpu"), "ncnn's CPU"
    ),
    "mnn/cpu": lambda: RuleSet("onnx", _listed("mnn_cpu"), "MNN"),
    "mnn/opencl": lambda: RuleSet(
        "onnx", _listed("mnn_opencl"), "MNN on OpenCL", _listed("mnn_cpu"), "MNN's CPU"
    ),
    "mnn/hiai": lambda: RuleSet("onnx", _listed("mnn_hiai"), "MNN on HiAI", _listed("mnn_cpu"), "MNN's CPU"),
}
