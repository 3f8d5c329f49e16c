"""One model cut into two: the part for the accelerator and the part for the CPU."""

from __future__ import annotations

from typing import Any

from studio.errors import InputError, UnsupportedError
from studio.graph.onnx_inference import inferred
from studio.recipes.fixes.fix import FixOptions, Join, Rewrite
from studio.recipes.fixes.onnx_edit import OnnxEdit
from studio.recipes.fixes.protos import captured, is_meant, label, nothing_to_do

_TAIL_OPERATORS = ("TopK", "NonZero", "NonMaxSuppression", "Unique", "Compress")


def cut_tail(edit: OnnxEdit, options: FixOptions) -> Rewrite:
    """The network up to the first selecting operator, and the selection as a second model."""
    wanted = [n for op in _TAIL_OPERATORS for n in edit.named(op, options.nodes)]
    if not wanted:
        raise nothing_to_do(f"no {', '.join(_TAIL_OPERATORS)} in the main graph")
    return _cut(edit, _downstream(edit, wanted), wanted, ("-network", "-postprocessing"))


def split_unsupported(edit: OnnxEdit, options: FixOptions) -> Rewrite:
    """`options.nodes` are the nodes that the target does not take: a tail or a head of them is cut off."""
    if not options.nodes:
        raise InputError("No node was named.", hint="Give the target, so that its verdicts decide.")
    wanted = [n for n in edit.nodes if is_meant(n, options.nodes)]
    if not wanted:
        raise nothing_to_do("the target takes every node")
    total = len(edit.nodes)
    tail, head = _downstream(edit, wanted), _upstream(edit, wanted)
    smaller = min(len(tail), len(head))
    if smaller > total // 2:
        raise UnsupportedError(
            f"The refused nodes stand in the middle: {smaller} of {total} nodes would be cut off.",
            hint="Fix those nodes one by one, or choose another target.",
            nodes=tuple(label(n) for n in wanted),
        )
    if len(tail) <= len(head):
        return _cut(edit, tail, wanted, ("-network", "-postprocessing"))
    rest = [n for n in edit.nodes if id(n) not in {id(h) for h in head}]
    return _cut(edit, rest, wanted, ("-preprocessing", "-network"))


def _downstream(edit: OnnxEdit, start: list[Any]) -> list[Any]:
    """The nodes given and all that depend on them, in file order."""
    reached: set[int] = set()
    waiting = list(start)
    while waiting:
        node = waiting.pop()
        if id(node) not in reached:
            reached.add(id(node))
            waiting.extend(reader for out in node.output for reader in edit.readers(out))
    return [n for n in edit.nodes if id(n) in reached]


def _upstream(edit: OnnxEdit, start: list[Any]) -> list[Any]:
    """The nodes given and all that they depend on, through what bodies read too, in file order."""
    reached: set[int] = set()
    waiting = list(start)
    while waiting:
        node = waiting.pop()
        if id(node) not in reached:
            reached.add(id(node))
            waiting.extend(edit.producer[name] for name in _reads(edit, node) if name in edit.producer)
    return [n for n in edit.nodes if id(n) in reached]


def _cut(edit: OnnxEdit, second: list[Any], why: list[Any], suffixes: tuple[str, str]) -> Rewrite:
    in_second = {id(n) for n in second}
    first = [n for n in edit.nodes if id(n) not in in_second]
    if not any(n.op_type != "Constant" for n in first):
        raise UnsupportedError(
            "Nothing would be left for the accelerator.",
            hint="Choose another target.",
            nodes=tuple(map(label, why)),
        )
    made_first = {out for n in first if n.op_type != "Constant" for out in n.output if out}
    read_second = {name for n in second for name in _reads(edit, n)}
    crossing = [t for n in first for t in n.output if t in made_first and t in read_second]
    graph = edit.model.graph
    first_outputs = [o.name for o in graph.output if o.name in made_first]
    one = _part(edit, first, [], [*crossing, *(o for o in first_outputs if o not in crossing)])
    # Outputs of the whole that the first part makes stay its outputs; the second returns the others.
    two = _part(edit, second, crossing, [o.name for o in graph.output if o.name not in made_first])
    return Rewrite(
        models=[(suffixes[0], one), (suffixes[1], two)],
        changed=tuple(label(n) for n in why),
        tolerance=1e-5,
        join=Join.CHAIN,
        notes=(f"{len(crossing)} tensor(s) cross: {', '.join(crossing[:8])}.",),
    )


def _reads(edit: OnnxEdit, node: Any) -> set[str]:
    return {name for name in node.input if name} | captured(node)


def _part(edit: OnnxEdit, nodes: list[Any], inputs: list[str], outputs: list[str]) -> Any:
    """A model of those nodes with the constants and original inputs that they read."""
    from onnx import helper

    graph = edit.model.graph
    made = {out for n in nodes for out in n.output}
    reads = {name for n in nodes for name in _reads(edit, n)} | set(outputs)
    constants = [n for n in edit.nodes if n.op_type == "Constant" and n.output[0] in reads - made]
    known = {v.name: v for v in [*graph.input, *graph.output]}
    shaped = inferred(edit.model, data_prop=False)
    known = {**{v.name: v for v in shaped.graph.value_info}, **known}

    def info(name: str) -> Any:
        return known.get(name) or helper.make_value_info(name, helper.make_tensor_type_proto(1, None))

    initializers = [t for t in graph.initializer if t.name in reads]
    names = {t.name for t in initializers}
    real = [v for v in graph.input if v.name in reads and v.name not in names and v.name not in inputs]
    part = helper.make_graph(
        [*constants, *nodes],
        graph.name or "graph",
        [*real, *(info(name) for name in inputs)],
        [info(name) for name in outputs],
        initializer=initializers,
    )
    model = helper.make_model(
        part, opset_imports=list(edit.model.opset_import), functions=list(edit.model.functions)
    )
    model.ir_version = edit.model.ir_version
    return model
