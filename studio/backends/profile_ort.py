"""ONNX Runtime's own profiler: how long each kernel took, and which nodes of the file it computes.

What runs is what always runs: all optimisations on. The optimised graph is written beside the trace,
and `kernel_groups` proves which nodes of the file each of its kernels computes. A `.ort` file is
optimised already: there a kernel is a node.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from studio.backends.backend import Array
from studio.backends.kernel_groups import INSERTED, KernelGroups
from studio.backends.ort import OrtModel
from studio.backends.packages import package_version
from studio.backends.profile import Asked, Kernel, Trace
from studio.errors import StudioError, ToolError
from studio.graph import Graph, open_graph

MOST_EVENTS = 300_000
"""Of one trace. The profiler itself stops at a million (profiler.h, `max_num_events_`); a third of that is
150 MB of JSON at 500 bytes an event (counted 2026-11)."""

_SUFFIX = "_kernel_time"
_INFERENCE = "model_run"


class _Args(msgspec.Struct):
    op_name: str = ""
    node_index: str = ""
    provider: str = ""


class _Event(msgspec.Struct):
    name: str
    cat: str = ""
    ts: int = 0
    dur: int = 0  # microseconds
    args: _Args = msgspec.field(default_factory=_Args)


def profile(asked: Asked) -> Trace:
    """The kernels of an `.onnx` or `.ort` file with their times.

    Raises UnsupportedError for a target that is not here, ToolError when the file does not run.
    """
    content, graph = with_names(asked.path, asked.graph)
    optimized = asked.folder / "optimized.onnx"
    is_final = asked.graph.format == "ort"

    def tune(options: Any) -> None:
        options.enable_profiling = True
        options.profile_file_prefix = str(asked.folder / "trace")
        if not is_final:
            options.optimized_model_filepath = str(optimized)
            # Weights aside: what is read back are names, and one protobuf ends at 2 GB.
            options.add_session_config_entry(
                "session.optimized_model_external_initializers_file_name", "optimized.weights"
            )
            options.add_session_config_entry(
                "session.optimized_model_external_initializers_min_size_in_bytes", "1024"
            )

    model = OrtModel(asked.path, target=asked.target, threads=asked.threads, tune=tune, content=content)
    runs, notes = fitting_runs(asked.runs, asked.graph)
    try:
        model.bind(asked.feeds)
        whole = _run(model, asked, runs)
        trace = model.end_profiling()
    except StudioError:
        raise
    except Exception as error:
        raise ToolError(
            "ONNX Runtime failed while it was profiled.", hint=str(error).splitlines()[0][:300]
        ) from None
    found, folded, _inside = read_trace(trace, graph, None if is_final else optimized, len(whole))
    trace.unlink()
    return Trace(
        kernels=found,
        whole_ns=whole,
        target_ran=model.target_ran,
        evidence=model.evidence,
        folded=folded,
        notes=notes,
    )


def read_trace(
    trace: Path, graph: Graph, optimized: Path | None, runs: int
) -> tuple[list[Kernel], tuple[int, ...], list[int]]:
    """Kernels, nodes that were folded at load, and the nanoseconds of each inference as the trace has them.

    The last `runs` inferences count. `optimized`: the graph that really ran; None = the file's own. The
    nodes of `graph` need names of their own (`with_names`).
    """
    events = _read(trace)
    spans = [(e.ts, e.ts + e.dur) for e in events if e.cat == "Session" and e.name == _INFERENCE][-runs:]
    if optimized is None:
        kernels, folded = _kernels_of_nodes(events, graph), frozenset[int]()
    else:
        made = open_graph(optimized, check_external=False)
        kernels, folded = _kernels_of_groups(events, graph, made)
    _fill(kernels, events, spans)
    found = [kernel for kernel in kernels.values() if any(kernel.times_ns) or kernel.op]
    ran = {node for kernel in found for node in kernel.nodes}
    return found, tuple(sorted(folded - ran)), [(end - begin) * 1000 for begin, end in spans]


def fitting_runs(runs: int, graph: Graph) -> tuple[int, tuple[str, ...]]:
    """How many inferences fit into one trace, and a note when fewer than were asked for."""
    most = max(MOST_EVENTS // max(graph.node_count, 1), 1)
    if runs <= most:
        return runs, ()
    return most, (f"The profiler's trace has room for {most} inferences of so many nodes.",)


def runtime_version() -> str:
    """The version of ONNX Runtime that is installed."""
    return package_version("onnxruntime", "onnxruntime-gpu", "onnxruntime-qnn")


def _run(model: OrtModel, asked: Asked, runs: int) -> list[int]:
    """Nanoseconds of each inference after the warm-up; fewer when it is stopped."""
    for _ in range(asked.warmup_runs):
        model.invoke()
    whole = []
    for _ in range(runs):
        if asked.should_stop():
            break
        begin = time.perf_counter_ns()
        model.invoke()
        whole.append(time.perf_counter_ns() - begin)
    return whole


def with_names(path: Path, graph: Graph) -> tuple[Any, Graph]:
    """The file as a ModelProto with a name of its own for every node, and its graph with those names.

    (None, graph) when the names are fine as they are, or cannot be changed.
    """
    names = graph.node_name
    if graph.format != "onnx" or (len(set(names)) == len(names) and "" not in names):
        return None, graph
    import onnx

    model = onnx.load(str(path), load_external_data=False)
    given: list[str] = []
    _rename(model.graph, given)
    if model.functions or len(given) != graph.node_count:
        return None, graph  # functions are nodes of the graph too, and none of the main proto
    return model, _renamed(graph, model)


def _rename(proto: Any, given: list[str]) -> None:
    for node in proto.node:
        node.name = f"n{len(given)}"
        given.append(node.name)
        for attribute in node.attribute:
            if attribute.HasField("g"):
                _rename(attribute.g, given)


def _renamed(graph: Graph, model: Any) -> Graph:
    """A copy of the graph with the names of the renamed protobuf, in the reader's own order."""
    import tempfile
    from copy import copy

    with tempfile.TemporaryDirectory(prefix="deployment-studio-names-") as folder:
        place = Path(folder) / "named.onnx"
        place.write_bytes(model.SerializeToString())
        names = open_graph(place, check_external=False).node_name
    result = copy(graph)
    result.node_name = names
    return result


def _read(trace: Path) -> list[_Event]:
    """The events of a trace. Raises ToolError when it is not one."""
    try:
        return msgspec.json.decode(trace.read_bytes(), type=list[_Event])
    except (OSError, msgspec.DecodeError) as error:
        raise ToolError(
            f"ONNX Runtime left no readable trace: {error}.", hint="Run it again; report this if it stays."
        ) from None


def _kernels_of_groups(
    events: list[_Event], source: Graph, made: Graph
) -> tuple[dict[str, Kernel], frozenset[int]]:
    """A kernel per node of the optimised graph, by the name that its events carry."""
    groups = KernelGroups(source, made)
    kernels: dict[str, Kernel] = {}
    for node in range(made.node_count):
        name = made.node_name[node]
        if not name:
            continue
        if name in kernels:  # two bodies use it: whose time it is cannot be told
            kernels[name].nodes, kernels[name].why = (), "its name is used twice"
            continue
        kernels[name] = Kernel(
            name=name,
            op=made.node_op[node],
            nodes=groups.nodes.get(node, ()),
            why=groups.why.get(node, "") if node not in groups.nodes else "",
            is_inside=int(made.node_subgraph[node]) != 0,
        )
    return kernels, groups.folded


def _kernels_of_nodes(events: list[_Event], graph: Graph) -> dict[str, Kernel]:
    """A kernel per node of a `.ort` file: its nodes are what runs.

    Nodes without a name are told as `Op_index`; the file lists them in the order of their index.
    """
    often = Counter(graph.node_name)
    kernels = {
        name: Kernel(
            name=name, op=graph.node_op[node], nodes=(node,), is_inside=int(graph.node_subgraph[node]) != 0
        )
        for node, name in enumerate(graph.node_name)
        if name and often[name] == 1
    }
    nameless: dict[str, list[int]] = defaultdict(list)
    for node in graph.nodes_in(0):
        if not graph.node_name[node]:
            nameless[graph.node_op[node]].append(node)
    told: dict[str, set[int]] = defaultdict(set)
    for event in _node_events(events):
        op, index = event.args.op_name, event.args.node_index
        if index.isdigit() and event.name == f"{op}_{index}{_SUFFIX}":
            told[op].add(int(index))
    for op, indices in told.items():
        if len(indices) == len(nameless[op]):
            for number, node in zip(sorted(indices), nameless[op]):
                kernels[f"{op}_{number}"] = Kernel(name=f"{op}_{number}", op=op, nodes=(node,))
    return kernels


def _node_events(events: Iterable[_Event]) -> Iterable[_Event]:
    return (e for e in events if e.cat == "Node" and e.name.endswith(_SUFFIX))


def _fill(kernels: dict[str, Kernel], events: list[_Event], spans: list[tuple[int, int]]) -> None:
    """Adds the times of each inference; a kernel that no graph names is listed as well."""
    at = 0
    for kernel in kernels.values():
        kernel.times_ns = [0] * len(spans)
    for event in sorted(_node_events(events), key=lambda e: e.ts):
        while at < len(spans) and event.ts > spans[at][1]:
            at += 1
        if at == len(spans):
            break
        if event.ts < spans[at][0]:
            continue  # of the warm-up
        name = event.name.removesuffix(_SUFFIX)
        if name not in kernels:
            kernels[name] = Kernel(name=name, op=event.args.op_name, why=INSERTED, times_ns=[0] * len(spans))
        kernels[name].times_ns[at] += event.dur * 1000


__all__ = ["Array", "profile", "runtime_version"]
