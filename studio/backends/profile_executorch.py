"""ExecuTorch's event tracer: an ETDump of real inferences, read with its own Inspector.

Instructions of the program are nodes of the file, in order. Inside an XNNPACK delegate the operators
that are certain get their nodes (`xnnpack_kernels`); the delegate's call has the whole time.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from studio.backends.executorch import TOOLS, ExecutorchModel
from studio.backends.explain import tool_error
from studio.backends.profile import Asked, Kernel, Trace
from studio.backends.quiet import quiet
from studio.backends.xnnpack_kernels import match_in_order
from studio.errors import StudioError, UnsupportedError
from studio.graph import Graph

UNMATCHED = "an operator of the delegate; its nodes cannot be told with certainty"
_CALLS = ("OPERATOR_CALL", "DELEGATE_CALL")
_NATIVE = "native_call_"


def profile(asked: Asked) -> Trace:
    """The instructions of a `.pte` file with their times.

    Raises UnsupportedError when this ExecuTorch was built without a tracer, ToolError when the run fails.
    """
    model = ExecutorchModel(asked.path, target=asked.target, threads=asked.threads)
    model.bind(asked.feeds)
    dump = asked.folder / "trace.etdump"
    try:
        with quiet() as output:
            from executorch.extension.pybindings import portable_lib

            module = portable_lib._load_for_executorch(str(asked.path), enable_etdump=True)
            if not module.has_etdump():
                raise UnsupportedError(
                    "This build of ExecuTorch has no event tracer.", hint="Install executorch from PyPI."
                )
            whole = _run(module, tuple(model.bound), asked)
            module.write_etdump_result_to_file(str(dump), str(asked.folder / "trace.debug"))
            events = _events(dump)
    except StudioError:
        raise
    except Exception as error:
        raise tool_error(
            "ExecuTorch failed while it was profiled.", f"{output.getvalue()}\n{error}", tools=TOOLS
        ) from None
    return Trace(
        kernels=_kernels(events, asked.graph, len(whole)),
        whole_ns=whole,
        target_ran=model.target_ran,
        evidence=model.evidence,
    )


def _run(module: Any, inputs: tuple[Any, ...], asked: Asked) -> list[int]:
    for _ in range(asked.warmup_runs):
        module.forward(inputs)
    whole = []
    for _ in range(asked.runs):
        if asked.should_stop():
            break
        begin = time.perf_counter_ns()
        module.forward(inputs)
        whole.append(time.perf_counter_ns() - begin)
    return whole


def _events(dump: Path) -> list[Any]:
    from executorch.devtools import Inspector

    blocks = Inspector(etdump_path=str(dump)).event_blocks
    return [event for block in blocks if block.name == "Execute" for event in block.events]


def _kernels(events: list[Any], graph: Graph, runs: int) -> list[Kernel]:
    """Kernels in the order of the program; those of a delegate follow its call."""
    calls = [event for event in events if event.name in _CALLS]
    places = sorted({event._instruction_id for event in calls})
    nodes = list(graph.nodes_in(0))
    node_at = dict(zip(places, nodes)) if len(places) == len(nodes) else {}
    native = {e._instruction_id: e.name for e in events if e.name.startswith(_NATIVE)}
    result = []
    for call in calls:
        place = call._instruction_id
        node = node_at.get(place, -1)
        op = graph.node_op[node] if node >= 0 else ""
        said = native.get(place, "").removeprefix(_NATIVE)
        if said and op and not op.endswith(said):
            node = -1  # the program has instructions that are no nodes: positions say nothing
        kernel = Kernel(
            name=said or op or call.name,
            op=op or said or call.name,
            nodes=(node,) if node >= 0 else (),
            why="" if node >= 0 else "the program has instructions that are no nodes",
            times_ns=_times(call, runs),
        )
        result.append(kernel)
        if call.name == "DELEGATE_CALL":
            inside = [e for e in events if e.is_delegated_op and e._instruction_id == place]
            result += _inside(inside, graph, node, runs)
    return result


def _inside(events: list[Any], graph: Graph, parent: int, runs: int) -> list[Kernel]:
    bodies = [i for i, body in enumerate(graph.subgraphs) if body.parent_node == parent and parent >= 0]
    nodes = [(n, graph.node_op[n]) for body in bodies for n in graph.nodes_in(body)]
    names = [str(event.name) for event in events]
    matched = match_in_order(names, nodes)
    return [
        Kernel(
            name=name,
            op=graph.node_op[matched[k]] if k in matched else name.split(" #", maxsplit=1)[0],
            nodes=(matched[k],) if k in matched else (),
            why="" if k in matched else UNMATCHED,
            is_inside=True,
            times_ns=_times(event, runs),
        )
        for k, (name, event) in enumerate(zip(names, events))
    ]


def _times(event: Any, runs: int) -> list[int]:
    """Nanoseconds of the last `runs` inferences, those before were the warm-up; the Inspector gives ms."""
    return [max(round(ms * 1e6), 0) for ms in event.perf_data.raw[-runs:]] if runs else []
