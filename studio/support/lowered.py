"""What a file has handed to an accelerator already: facts that stand over every rule.

A delegate of a `.pte`, an EPContext node of an ONNX file, a dispatch of a `.tflite` and a lowered module of
a TorchScript file hold code that was compiled when the file was made. It runs on the engine that it was
compiled for and on no other; and what the compiler left beside it, that engine does not take at load either.
Sources: executorch/runtime/executor/method.cpp (a DelegateCall goes to the backend of its id); onnxruntime
QNN, `PartitionCtxModel` (one partition per EPContext node, nothing else); LiteRT,
litert/core/build_stamp.h; torch 2.13, torch/backends/_nnapi/prepare.py and torch/csrc/jit/backends/backend.h
(`__backends__`, `execute`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from studio.graph.cost import Costs
from studio.graph.graph import Graph, Ints
from studio.graph.restated import restated_nodes
from studio.support.ruling import Ruling, Setting, depends, fails, refuses, takes, unknown

TARGET_OF = {
    "XnnpackBackend": "executorch/xnnpack",
    "VulkanBackend": "executorch/vulkan",
    "QnnBackend": "executorch/qnn",
    "NeuropilotBackend": "executorch/mediatek",
    "EnnBackend": "executorch/samsung",
    "qnn": "ort/qnn",
    "qnnexecutionprovider": "ort/qnn",
    "qualcomm": "litert/npu-qualcomm",
    "mediatek": "litert/npu-mediatek",
    "google": "litert/npu-google-tensor",
    "samsung": "litert/npu-samsung",
    "nnapi": "pytorch-mobile/nnapi",
}
"""Engine, as the file names it (ONNX Runtime and LiteRT: in lower case), → target; others have none here."""

_RUNTIMES = {
    "pte": "executorch/", "onnx": "ort/", "ort": "ort/", "tflite": "litert/",
    "pt": "pytorch-mobile/", "ptl": "pytorch-mobile/",
}  # fmt: skip
_TORCH_CLASS = re.compile(r"__torch__\.torch\.classes\.(?:_(nnapi)\.Compilation|__backends__\.(\w+))")
_TORCH_METHODS = ("run", "execute")
_EDGE_TPU = "edgetpu-custom-op"
_DISPATCH = "DISPATCH_OP"


@dataclass(frozen=True, slots=True)
class Lowered:
    """`call_of`: per node the call that it is part of, itself included, −1 = compiled for nothing."""

    call_of: Ints
    engines: dict[int, str] = field(default_factory=dict)  # call → engine, as the file names it
    soc: str = ""  # that the code was compiled for, where the file says it

    @property
    def inside(self) -> npt.NDArray[np.bool_]:
        """[node_count]: what is inside a call and therefore counted with it."""
        found: npt.NDArray[np.bool_] = (self.call_of >= 0) & (self.call_of != np.arange(len(self.call_of)))
        return found

    def ruling(self, call: int, setting: Setting) -> Ruling | None:
        """What a target does with a call; None when no target of its kind can be asked about the file."""
        engine = self.engines[call]
        target = target_of(engine)
        name = engine or "an NPU that it does not name"
        source = f"the file: lowered to {name}"
        runtime = _RUNTIMES.get(setting.graph_format, "")
        if target and target == setting.target_id:
            if self.soc and setting.soc and self.soc.casefold() != setting.soc.casefold():
                return depends(
                    f"Compiled for {self.soc}; whether {setting.soc} loads it is not known.", source
                )
            return takes(f"Lowered to {name} when the file was made.", source)
        if not engine and setting.target_id.startswith("litert/npu-"):
            return unknown("Compiled for an NPU; the file does not say for which.", source)
        if setting.graph_format != "pte":
            return fails(f"Compiled code for {name}: nothing else runs or converts it.", source)
        if not setting.target_id.startswith(runtime):
            return None
        if setting.target_id == "executorch/portable":
            return fails(f"Needs a runtime with {name}: kernels cannot run what is lowered to it.", source)
        return refuses(f"Lowered to {name}: it runs there and nowhere else.", source)

    def leaves(self, setting: Setting) -> Ruling | None:
        """Why the target takes no other node of the file; None when it may."""
        engines = TARGET_OF if setting.graph_format == "pte" else self.engines.values()
        mine = [engine for engine in engines if target_of(engine) == setting.target_id]
        if not mine or not setting.target_id.startswith(_RUNTIMES.get(setting.graph_format, "?")):
            return None
        text = f"Left to others when the file was made: {mine[0]} takes only what was lowered to it."
        return refuses(text, "the file: not lowered")

    def partitions(self, taken: npt.NDArray[np.bool_], others: Ints) -> Ints:
        """`others`, the partitions of all other nodes, and one for each call that is taken."""
        result = others.copy()
        number = int(others.max(initial=-1)) + 1
        at = np.full(len(result), -1, np.int32)
        for call in sorted(self.engines):
            if taken[call]:
                at[call], number = number, number + 1
        own = self.call_of >= 0
        result[own] = at[self.call_of[own]]
        return result


def lowered(graph: Graph) -> Lowered:
    """The compiled calls of a graph and everything that the file shows inside of them."""
    engines = _engines(graph)
    call_of = np.full(graph.node_count, -1, np.int32)
    soc = graph.metadata.get("LiteRtStamp", "").partition(" ")[2] if graph.format == "tflite" else ""
    if not engines:
        return Lowered(call_of)
    calls = np.fromiter(engines, np.int32)
    call_of[calls] = calls
    if len(graph.subgraphs) > 1 and len(graph.node_subgraph):
        owner = np.asarray([_owner(graph, s, engines) for s in range(len(graph.subgraphs))], np.int32)
        inner = owner[graph.node_subgraph]
        call_of = np.where(inner >= 0, inner, call_of).astype(np.int32)
    kept = {call: engine for call, engine in engines.items() if call_of[call] == call}
    return Lowered(call_of, kept, soc)


def counted_once(graph: Graph, costs: Costs) -> Costs:
    """The costs with the work inside compiled calls counted at the calls alone."""
    inside = lowered(graph).inside
    if not inside.any():
        return costs
    told = restated_nodes(graph)
    return replace(
        costs,
        macs=np.where(inside, 0, costs.macs),
        weight_bytes=np.where(told, 0, costs.weight_bytes),
    )


def _engines(graph: Graph) -> dict[int, str]:
    """Compiled calls → the engine that the file names."""
    ops, domains = graph.node_op, graph.node_domain
    if graph.format == "pte":
        return {n: ops[n] for n, domain in enumerate(domains) if domain == "delegate"}
    if graph.format in ("onnx", "ort"):
        found = [n for n, op in enumerate(ops) if op == "EPContext" and domains[n] == "com.microsoft"]
        return {n: _text(graph.node_attributes[n].get("source")) for n in found}
    if graph.format in ("pt", "ptl"):
        return _torch_calls(graph)
    if graph.format == "tflite":
        maker = graph.metadata.get("LiteRtStamp", "").partition(" ")[0]
        names = {_DISPATCH: maker, _EDGE_TPU: "Edge TPU"}
        return {n: names[op] for n, op in enumerate(ops) if op in names and domains[n] == "custom"}
    return {}


def _torch_calls(graph: Graph) -> dict[int, str]:
    """Calls that run what `convert_model_to_nnapi` or `_jit_to_backend` compiled → the backend's name."""
    found = {}
    for node, op in enumerate(graph.node_op):
        if op != "prim::CallMethod" or graph.node_attributes[node].get("method") not in _TORCH_METHODS:
            continue
        kind = _TORCH_CLASS.fullmatch(str(graph.node_attributes[node].get("class")))
        if kind is not None:
            found[node] = kind[1] or kind[2]
    return found


def target_of(engine: str) -> str:
    """The target of an engine as a file names it; "" for one that is none of ours."""
    return TARGET_OF.get(engine) or TARGET_OF.get(engine.lower(), "")


def _text(value: object) -> str:
    return value[:80] if isinstance(value, str) else ""


def _owner(graph: Graph, subgraph: int, engines: dict[int, str]) -> int:
    """The outermost call that a subgraph hangs on, −1 = none."""
    found, steps = -1, 0
    while 0 <= subgraph < len(graph.subgraphs) and steps <= len(graph.subgraphs):
        parent = graph.subgraphs[subgraph].parent_node
        if not 0 <= parent < graph.node_count:
            break
        if parent in engines:
            found = parent
        subgraph, steps = int(graph.node_subgraph[parent]), steps + 1
    return found
