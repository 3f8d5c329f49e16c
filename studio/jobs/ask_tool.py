"""Asks the real partitioner or compiler about a model file and puts its answers over the rules' verdicts.

Which tool answers for which file: `.pt2` → ExecuTorch's XNNPACK and Vulkan partitioners, and litert-torch
with LiteRT, asked about what it makes; `.tflite` → LiteRT's own delegation here, and its compiler plug-ins
for the NPUs of Qualcomm, MediaTek, Google Tensor and Samsung; `.onnx` → Qualcomm's HTP through
onnxruntime-qnn and ONNX Runtime's NNAPI checker; TorchScript → PyTorch's NNAPI serializer. A target without
a tool keeps its rules, and a note says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from studio import paths
from studio.artifact import hash_file
from studio.backends.ask import ToolAnswer
from studio.errors import StudioError
from studio.graph.cost import node_costs
from studio.graph.formats import open_graph
from studio.graph.graph import Graph
from studio.graph.onnx_inference import fix_dims
from studio.jobs.job import Report
from studio.records import Record
from studio.support import judge
from studio.support.merge import with_answers

DEFAULT_SOC = "SM8650"
_INLINE_BYTES = 1 << 30  # protobuf ends at 2 GB
NPUS = ("litert/npu-qualcomm", "litert/npu-mediatek", "litert/npu-google-tensor", "litert/npu-samsung")


class AskTool(Record):
    """What to ask about. `input_shapes` only for TorchScript files, which do not say their inputs.

    `dims`: sizes for open dims of an ONNX file, as the rules are told: the tool sees the file with them.
    """

    path: str
    targets: tuple[str, ...]
    soc: str = ""
    android_level: int | None = None
    input_shapes: tuple[tuple[int, ...], ...] = ()
    dims: dict[str, int] = {}


class ToolAsked(Record):
    """Per target the packed verdicts with the tool's answers in them, and how many nodes it answered."""

    verdict_paths: dict[str, str] = {}
    answered: dict[str, int] = {}
    tools: dict[str, str] = {}
    notes: tuple[str, ...] = ()


def run(spec: AskTool, report: Report) -> ToolAsked:
    """The tools' answers. A tool that is absent or fails is a note; the rules' verdicts stay."""
    path = Path(spec.path)
    if not spec.dims:
        return _asked(spec, path, open_graph(path), report)
    graph = open_graph(path, dims=spec.dims)
    with TemporaryDirectory() as folder:
        return _asked(spec, _with_dims(path, spec.dims, Path(folder)), graph, report)


def _with_dims(path: Path, dims: dict[str, int], folder: Path) -> Path:
    """A copy of an ONNX file whose inputs have these sizes; its nodes are those of the file."""
    import onnx

    model = onnx.load(str(path))
    fix_dims(model.graph, dims)
    sized = folder / path.name
    onnx.save(model, str(sized), save_as_external_data=path.stat().st_size > _INLINE_BYTES)
    return sized


def _asked(spec: AskTool, path: Path, graph: Graph, report: Report) -> ToolAsked:
    rules = judge(graph, spec.targets, soc=spec.soc, android_level=spec.android_level)
    costs = node_costs(graph)
    folder = paths.graphs_dir() / "asked" / hash_file(path)[:24]  # of the file that the tool sees
    folder.mkdir(parents=True, exist_ok=True)
    verdict_paths, answered, tools, notes = {}, {}, {}, []
    for number, target_id in enumerate(spec.targets):
        report.progress(f"asking for {target_id}", number, len(spec.targets))
        try:
            answer = ask(path, graph.format, target_id, soc=spec.soc, input_shapes=spec.input_shapes)
        except StudioError as error:
            notes.append(f"{target_id}: {error}")
            continue
        if answer is None:
            notes.append(f"{target_id}: no tool on this machine answers for a {graph.format} file.")
            continue
        found = match_nodes(graph, answer)
        merged = with_answers(
            graph, rules[target_id], found, source=f"{answer.tool}, {answer.version}", costs=costs
        )
        out = folder / f"{target_id.replace('/', '-')}-{spec.soc or 'any'}"
        merged.save(out)
        verdict_paths[target_id] = str(out)
        answered[target_id] = len(found)
        tools[target_id] = f"{answer.tool}, {answer.version}"
    report.progress("done", len(spec.targets), len(spec.targets))
    return ToolAsked(verdict_paths=verdict_paths, answered=answered, tools=tools, notes=tuple(notes))


def ask(
    path: Path,
    format_: str,
    target_id: str,
    *,
    soc: str = "",
    input_shapes: tuple[tuple[int, ...], ...] = (),
) -> ToolAnswer | None:
    """The answer of the tool for this format and target, None when there is none."""
    asker = _ASKERS.get((format_, target_id))
    return asker(path, target_id, soc, input_shapes) if asker else None


Asker = Callable[[Path, str, str, tuple[tuple[int, ...], ...]], ToolAnswer]


def _executorch(path: Path, target_id: str, soc: str, shapes: tuple[tuple[int, ...], ...]) -> ToolAnswer:
    from studio.backends.ask_executorch import ask as ask_it

    return ask_it(path, target_id)


def _litert(path: Path, target_id: str, soc: str, shapes: tuple[tuple[int, ...], ...]) -> ToolAnswer:
    from studio.backends.ask_litert import ask as ask_it

    return ask_it(path, target_id)


def _converted(path: Path, target_id: str, soc: str, shapes: tuple[tuple[int, ...], ...]) -> ToolAnswer:
    from studio.backends.ask_converted import ask as ask_it

    return ask_it(path, target_id)


def _npu(path: Path, target_id: str, soc: str, shapes: tuple[tuple[int, ...], ...]) -> ToolAnswer:
    from studio.backends.ask_litert_aot import ask as ask_it

    return ask_it(path, target_id, soc or _default_soc(target_id))


def _npu_converted(path: Path, target_id: str, soc: str, shapes: tuple[tuple[int, ...], ...]) -> ToolAnswer:
    from studio.backends.ask_converted import ask as ask_it
    from studio.backends.ask_litert_aot import ask as ask_npu

    chip = soc or _default_soc(target_id)
    return ask_it(path, target_id, asker=lambda made, target: ask_npu(made, target, chip))


def _default_soc(target_id: str) -> str:
    return DEFAULT_SOC if target_id == "litert/npu-qualcomm" else ""


def _qnn(path: Path, target_id: str, soc: str, shapes: tuple[tuple[int, ...], ...]) -> ToolAnswer:
    from studio.backends.ask_ort import ask_qnn

    return ask_qnn(path, soc or DEFAULT_SOC)


def _ort_cpu(path: Path, target_id: str, soc: str, shapes: tuple[tuple[int, ...], ...]) -> ToolAnswer:
    from studio.backends.ask_ort import ask_cpu

    return ask_cpu(path)


def _nnapi(path: Path, target_id: str, soc: str, shapes: tuple[tuple[int, ...], ...]) -> ToolAnswer:
    from studio.backends.ask_ort import ask_nnapi_checker

    return ask_nnapi_checker(path)


def _torch_nnapi(path: Path, target_id: str, soc: str, shapes: tuple[tuple[int, ...], ...]) -> ToolAnswer:
    from studio.backends.ask_torch_nnapi import ask as ask_it

    return ask_it(path, shapes)


_ASKERS: dict[tuple[str, str], Asker] = {
    ("pt2", "executorch/xnnpack"): _executorch,
    ("pt2", "executorch/vulkan"): _executorch,
    ("pt2", "litert/cpu"): _converted,
    ("tflite", "litert/cpu"): _litert,
    **{("tflite", target_id): _npu for target_id in NPUS},
    **{("pt2", target_id): _npu_converted for target_id in NPUS},
    ("onnx", "ort/cpu"): _ort_cpu,
    ("onnx", "ort/qnn"): _qnn,
    ("onnx", "ort/nnapi"): _nnapi,
    ("torchscript", "pytorch-mobile/nnapi"): _torch_nnapi,
    ("pt", "pytorch-mobile/nnapi"): _torch_nnapi,
}


def match_nodes(graph: Graph, answer: ToolAnswer) -> dict[int, tuple[bool, str]]:
    """Node of the graph → (taken, why), for the nodes that the tool's answer can be traced to.

    By index when the tool read the same list, by name, by origin (all parts of a decomposed node must be
    taken), and for TorchScript by the number of the same operator before it.
    """
    if answer.target_id == "pytorch-mobile/nnapi":
        return _by_occurrence(graph, answer)
    if any(n.origin for n in answer.nodes):
        return _by_origin(graph, answer)
    if answer.nodes and answer.nodes[0].index >= 0:
        main = list(graph.nodes_in(0))
        return {
            main[n.index]: (n.taken, n.reason)
            for n in answer.nodes
            if n.taken is not None and n.index < len(main) and graph.node_op[main[n.index]] == n.op
        }
    if not all(graph.node_name[i] for i in graph.nodes_in(0)):
        return _by_occurrence(graph, answer, only_equal=True)
    by_name = {name: i for i, name in enumerate(graph.node_name) if name}
    return {
        by_name[n.name]: (n.taken, n.reason)
        for n in answer.nodes
        if n.taken is not None and n.name in by_name and graph.node_op[by_name[n.name]] == n.op
    }


def _by_origin(graph: Graph, answer: ToolAnswer) -> dict[int, tuple[bool, str]]:
    by_name = {name: i for i, name in enumerate(graph.node_name) if name}
    found: dict[int, tuple[bool, str]] = {}
    for node in answer.nodes:
        index = by_name.get(node.origin)
        if index is None or node.taken is None or node.op == "getitem":
            continue
        taken, why = found.get(index, (True, ""))
        if not node.taken and taken:
            why = f"{node.op}: {node.reason}" if node.reason else f"{node.op} is not taken"
        found[index] = (taken and node.taken, why)
    return found


def _by_occurrence(
    graph: Graph, answer: ToolAnswer, *, only_equal: bool = False
) -> dict[int, tuple[bool, str]]:
    """The n-th node of an operator is the tool's n-th; with `only_equal` just where both have as many."""
    totals = Counter(n.op for n in answer.nodes)
    places: dict[str, list[int]] = {}
    for index, op in enumerate(graph.node_op):
        places.setdefault(op, []).append(index)
    seen: dict[str, int] = {}
    found = {}
    for node in answer.nodes:
        number = seen.get(node.op, 0)
        seen[node.op] = number + 1
        known = places.get(node.op, [])
        if only_equal and len(known) != totals[node.op]:
            continue
        if node.taken is not None and number < len(known):
            found[known[number]] = (node.taken, node.reason)
    return found
