"""LiteRT's profiler on this computer: operators of the interpreter, and XNNPACK's inside its delegate."""

from __future__ import annotations

from studio.backends.litert import LitertModel, to_tensor
from studio.backends.litert_profiler import OPERATOR, ProfiledModel, ProfilerEvent
from studio.backends.profile import Asked, Kernel, Trace
from studio.backends.profile_executorch import UNMATCHED
from studio.backends.quiet import quiet
from studio.backends.xnnpack_kernels import match_in_order
from studio.graph import Graph


def profile(asked: Asked) -> Trace:
    """The operators of a `.tflite` file with their times.

    Raises UnsupportedError for a target, version or open input size that cannot be profiled here,
    ToolError when LiteRT refuses the file.
    """
    plain = LitertModel(asked.path, target=asked.target, threads=asked.threads)
    plain.bind(asked.feeds)  # says in words what is wrong with the inputs
    taken = sorted(node.index for node in plain.placed if node.taken)
    arrays = {info.name: to_tensor(asked.feeds[info.name], info) for info in plain.inputs}
    whole, inferences = [], []
    with quiet(), ProfiledModel(asked.path, asked.threads) as model:
        model.write([arrays[name] for name in model.input_names])
        for _ in range(asked.warmup_runs):
            model.profiled()
        for _ in range(asked.runs):
            if asked.should_stop():
                break
            elapsed, events = model.profiled()
            whole.append(elapsed)
            inferences.append(events)
    return Trace(
        kernels=_kernels(inferences, asked.graph, taken),
        whole_ns=whole,
        target_ran=plain.target_ran,
        evidence=plain.evidence,
    )


def _kernels(inferences: list[list[ProfilerEvent]], graph: Graph, taken: list[int]) -> list[Kernel]:
    """One kernel per operator and place. Inferences of one file run the same operators in one order."""
    kernels: dict[tuple[int, int, int, str], Kernel] = {}
    main = list(graph.nodes_in(0))
    for number, events in enumerate(inferences):
        for event in events:
            key = (event.kind == OPERATOR, event.graph, event.index, event.name)
            kernel = kernels.get(key)
            if kernel is None:
                kernel = kernels[key] = _kernel(event, graph, main)
            kernel.times_ns += [0] * (number + 1 - len(kernel.times_ns))
            kernel.times_ns[number] += event.elapsed_us * 1000
    for kernel in kernels.values():
        kernel.times_ns += [0] * (len(inferences) - len(kernel.times_ns))
    _match(
        [kernel for key, kernel in kernels.items() if not key[0]],
        [(main[n], graph.node_op[main[n]]) for n in taken if n < len(main)],
    )
    return list(kernels.values())


def _kernel(event: ProfilerEvent, graph: Graph, main: list[int]) -> Kernel:
    is_node = event.kind == OPERATOR and event.graph == 0 and event.index < len(main)
    node = main[event.index] if is_node else -1
    if is_node and graph.node_op[node] != event.name:
        node = -1
    if event.kind != OPERATOR:
        why = UNMATCHED
    else:
        why = "" if node >= 0 else "it belongs to a body or to the runtime"
    op = graph.node_op[node] if node >= 0 else event.name
    return Kernel(
        name=event.name,
        op=op,
        nodes=(node,) if node >= 0 else (),
        why=why,
        is_inside=event.kind == OPERATOR and event.graph != 0,
    )


def _match(kernels: list[Kernel], nodes: list[tuple[int, str]]) -> None:
    """Gives the delegate's operators their nodes where that is certain."""
    for place, node in match_in_order([k.name for k in kernels], nodes).items():
        kernels[place].nodes, kernels[place].why = (node,), ""
        kernels[place].op = dict(nodes)[node]
