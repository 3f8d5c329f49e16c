"""Asks LiteRT's ahead-of-time plug-in of a vendor which operators of a `.tflite` file its NPU takes.

Two runs of the wheel's `apply_plugin_main`: `partition` writes the file with the taken operators moved into
subgraphs of their own, which tells them one by one; `apply` compiles these for one chip. A plug-in may select
what its compiler then refuses (Samsung's selects everything), so nothing counts as taken before it compiled.
The tool leaves an empty output file when it fails: what it wrote is read, not that it wrote.
Source: google-ai-edge/LiteRT@f67457790 litert/tools/apply_plugin.cc, litert/compiler/plugin.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from studio.backends.aot_chips import chip_for
from studio.backends.aot_partition import DISPATCH, left_reasons, taken_nodes
from studio.backends.aot_plugins import PLUGINS, apply_tool, compiler_folder, find_sdk
from studio.backends.aot_run import AotRun, environment_of, run, telling
from studio.backends.ask import ToolAnswer, ToolNode
from studio.backends.explain import last_lines
from studio.backends.packages import package_version, require
from studio.errors import InputError, ToolError, UnsupportedError
from studio.graph.formats import open_graph
from studio.graph.graph import Graph

TIME_LIMIT_S = 600.0
_SELECTED = re.compile(r"Partitioned subgraph<0>, selected (\d+) ops, from a total of (\d+) ops")
_SDK_VERSION = re.compile(r"Applying plugin with SDK version: (\S+)")


def ask(path: Path, target_id: str, soc: str, *, limit_s: float = TIME_LIMIT_S) -> ToolAnswer:
    """The answer for the main subgraph of a `.tflite` file.

    Raises UnsupportedError when the wheel, the vendor's libraries or the chip are missing, InputError for a
    file that is compiled already, ToolError when the tool fails, crashes or takes longer than the limit.
    """
    plugin = PLUGINS[target_id]
    require("ai_edge_litert", "Asking LiteRT's compiler plug-ins", "litert")
    tool, compiler = apply_tool(), compiler_folder(plugin)
    if tool is None or compiler is None:
        raise UnsupportedError(
            f"This ai-edge-litert has no compiler plug-in for {plugin.vendor}.",
            hint="The wheel for Linux on x86-64 has them.",
        )
    model = chip_for(plugin, soc)
    sdk = find_sdk(plugin, soc)
    graph = open_graph(path)
    if DISPATCH in graph.node_op:
        raise InputError(f"{path.name} is compiled for an NPU already.", hint="Ask about the original.")
    with tempfile.TemporaryDirectory(prefix="studio-aot-") as name:
        folder = Path(name)
        call = AotRun(
            tool, compiler, plugin, sdk, model, folder, environment_of(plugin, compiler, sdk, folder), limit_s
        )
        made, log = run(call, "partition", path)
        nodes = _nodes(graph, made, log, call)
        parts = sum(op == DISPATCH for op in _ops(made))
        if any(n.taken for n in nodes):
            log += _compiled(call, path, log)
    version = _SDK_VERSION.search(log)
    brought = f"{sdk.package} {package_version(sdk.package)}".strip() if sdk and sdk.package else ""
    facts = (
        f"ai-edge-litert {package_version('ai-edge-litert')}",
        f"SDK {version[1]}" if version else "",
        f"from {brought}" if brought else "",
    )
    return ToolAnswer(
        tool=f"LiteRT's {plugin.vendor} plug-in for {soc.strip()}",
        version=", ".join(f for f in facts if f),
        target_id=target_id,
        nodes=nodes,
        partitions=parts,
    )


def _nodes(graph: Graph, made: Path, log: str, call: AotRun) -> tuple[ToolNode, ...]:
    """Every node of the main subgraph, taken or with the reason that the log gives."""
    try:
        parted = open_graph(made)
    except InputError as error:
        raise ToolError(
            f"What LiteRT's {call.plugin.vendor} plug-in wrote cannot be read: {error.message}",
            hint="Try another release of ai-edge-litert.",
            last_lines=last_lines(telling(log)),
        ) from None
    main = list(graph.nodes_in(0))
    taken = taken_nodes(graph, parted)
    _check_count(call, log, [taken[n][0] for n in main])
    reasons = left_reasons(log)
    nodes = []
    for index, node in enumerate(main):
        is_taken, why = taken[node]
        if is_taken is False and not why:
            why = reasons.get(tuple(graph.tensor_name[t] for t in graph.outputs_of(node)), "")
        op = graph.node_op[node]
        nodes.append(ToolNode(name=f"{op}#{index}", op=op, taken=is_taken, reason=why, index=index))
    return tuple(nodes)


def _check_count(call: AotRun, log: str, taken: list[bool | None]) -> None:
    """Raises ToolError when the log counts other operators than the file shows."""
    counted = _SELECTED.search(log)
    if counted is None or int(counted[2]) != len(taken):
        return  # a composite was replaced by its decomposition: other operators were counted
    selected, sure = int(counted[1]), sum(t is True for t in taken)
    if not sure <= selected <= sure + sum(t is None for t in taken):
        raise ToolError(
            f"LiteRT's {call.plugin.vendor} plug-in selected {selected} operators, "
            f"but the file that it wrote shows {sure}.",
            hint="Judge by rule.",
        )


def _ops(path: Path) -> list[str]:
    graph = open_graph(path)
    return [graph.node_op[n] for n in graph.nodes_in(0)]


def _compiled(call: AotRun, path: Path, log: str) -> str:
    """The log of the compilation. Raises ToolError when what was selected does not compile."""
    counted = _SELECTED.search(log)
    selected = f"{counted[1]} of {counted[2]} operators" if counted else "operators"
    try:
        made, said = run(call, "apply", path)
        if DISPATCH in _ops(made):
            return said
        raise ToolError("The compiled file calls no NPU.", last_lines=last_lines(telling(said)))
    except UnsupportedError:
        raise
    except (ToolError, InputError) as error:
        raise ToolError(
            f"LiteRT's {call.plugin.vendor} plug-in selects {selected} for {call.chip}, "
            f"but does not compile them: {error.message}",
            hint=error.hint,
            argv=error.argv if isinstance(error, ToolError) else (),
            returncode=error.returncode if isinstance(error, ToolError) else None,
            last_lines=error.last_lines if isinstance(error, ToolError) else (),
        ) from None
