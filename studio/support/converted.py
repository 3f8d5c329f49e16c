"""Which operators of a `.tflite` file each node of a torch program became.

litert-torch names the tensors of the file after the modules they come from
(`app.Net/app.Block_b1/torch.nn.modules.conv.Conv2d_dw;2`), a fused operator after all of its modules, and
what makes an output after the output. The module alone is no match where it has several nodes; so operators
are told apart by what the converter is known to write for a node (`predict/torch_to_tflite.py`).

Why groups: where a module has three `relu`, nobody can say which `RELU` is whose, but if all three shared one
fate, each node's is known. A node of which even that is uncertain is left out.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from studio.graph.graph import Graph
from studio.support.gather import gather
from studio.support.predict import lowering_for
from studio.support.verdict import Verdict

Module = tuple[str, ...]
Group = frozenset[int]
Parts = tuple[Group, ...]
"""What one node became: each group holds one or more of its operators, and may hold others like them.

An empty group stands for operators that are not known.
"""

_OUTPUT = re.compile(r"(?:serving_default_)?output_(\d+)(?:_output)?")
_LAYOUT = "TRANSPOSE"  # stands at the border of a channels-last run, where it is no single node's


@dataclass(slots=True)
class _Call:
    """A node of the program and the operators that it becomes; `kinds` None when that is not known."""

    node: int
    module: Module
    kinds: Counter[str] | None
    outputs: set[int] = field(default_factory=set)  # operators that make an output of the program


def converted_parts(program: Graph, made: Graph) -> dict[int, Parts]:
    """Node of the program → groups of operators of the `.tflite` file made from it, where that is certain."""
    calls = _calls(program)
    named, loose = _named(program, made, calls)
    by_module: dict[Module, list[_Call]] = defaultdict(list)
    for call in calls.values():
        by_module[call.module].append(call)
    found = {}
    for module, members in by_module.items():
        own = named.get(module, set()).union(*(c.outputs for c in members))
        for call in members:
            parts = _alone(call, members, own, loose, made) if call.kinds is None else ()
            parts = parts or _by_kind(call, members, own, made) or _alone(call, members, own, loose, made)
            if parts:
                found[call.node] = parts
    return found


def taken_of(parts: Parts, fate: Mapping[int, bool]) -> bool | None:
    """Whether a node was taken: not, when a part of it surely was not; None when that is not certain."""
    answers = [{fate.get(node) for node in group} for group in parts]
    if {False} in answers:
        return False
    return True if answers and all(answer == {True} for answer in answers) else None


def _by_kind(call: _Call, members: list[_Call], own: Iterable[int], made: Graph) -> Parts:
    """The operators of the kinds that this node becomes, when the module has as many as its nodes need."""
    if call.kinds is None and call.outputs:  # a part of it, and nobody knows whether the only one
        return (*(frozenset({n}) for n in call.outputs), frozenset())
    if not call.kinds:
        return ()
    is_open = any(c.kinds is None for c in members)
    parts = []
    for kind, count in call.kinds.items():
        exact = [n for n in call.outputs if made.node_op[n] == kind]
        if count == 1 and len(exact) == 1:
            parts.append(frozenset(exact))
            continue
        wanted = sum(c.kinds[kind] for c in members if c.kinds)
        group = frozenset(n for n in own if kind in (made.node_op[n], _fused(made, n)))
        if len(group) < wanted or (is_open and len(group) > wanted):
            return ()
        parts.append(group)
    return tuple(parts)


def _alone(call: _Call, members: list[_Call], own: set[int], loose: set[int], made: Graph) -> Parts:
    """All operators of a module with one node and those that are nobody's: their one fate is the node's."""
    group = frozenset(n for n in own if made.node_op[n] != _LAYOUT)
    return (group | loose,) if group and len(members) == 1 else ()


def _fused(made: Graph, node: int) -> str:
    """The activation inside an operator: "RELU"; empty when there is none."""
    activation = made.node_attributes[node].get("fused_activation_function", "")
    return activation if isinstance(activation, str) else ""


def _calls(program: Graph) -> dict[int, _Call]:
    gathered = gather(program)
    lower = lowering_for(program.format, "tflite")
    kinds: list[Counter[str] | None] = []
    for node in gathered.nodes:
        lowered = lower(node) if lower else None
        if lowered is None or not lowered.is_sure or lowered.is_guess:
            kinds.append(None)
        elif lowered.verdict is not None:
            kinds.append(Counter() if lowered.verdict is Verdict.RUNS else None)
        else:
            kinds.append(Counter(part.op for part in lowered.parts))
    return {
        n: _Call(n, _module_of(program, n), kinds[int(gathered.group_of[n])]) for n in program.nodes_in(0)
    }


def _module_of(program: Graph, node: int) -> Module:
    """Class and attribute of the modules around a node, as the converter writes them, without the root."""
    path = []
    scope = int(program.node_scope[node])
    while scope > 0:
        if program.scope_type[scope]:
            path.append(f"{program.scope_type[scope].rpartition('.')[2]}_{program.scope_name[scope]}")
        scope = int(program.scope_parent[scope])
    return tuple(reversed(path))


def _named(
    program: Graph, made: Graph, calls: Mapping[int, _Call]
) -> tuple[dict[Module, set[int]], set[int]]:
    """Operators by the modules that they name, and those that name none; makers of outputs join a node."""
    modules = {call.module for call in calls.values()}
    names = {n: [made.tensor_name[t] for t in made.outputs_of(n) if t >= 0] for n in made.nodes_in(0)}
    root = _root(names.values())
    found: dict[Module, set[int]] = defaultdict(set)
    loose: set[int] = set()
    for node, outputs in names.items():
        keys = {key for name in outputs for key in _modules(name, root)} & modules
        makers = {m for name in outputs if (m := _maker(program, calls, name)) is not None}
        for key in keys:
            found[key].add(node)
        for maker in makers:
            kinds = calls[maker].kinds
            if made.node_op[node] in kinds if kinds is not None else made.node_op[node] != _LAYOUT:
                calls[maker].outputs.add(node)
                keys.add(calls[maker].module)
        if not keys and made.node_op[node] != _LAYOUT:
            loose.add(node)
    return found, loose


def _maker(program: Graph, calls: Mapping[int, _Call], name: str) -> int | None:
    """The node of which a tensor is the output, behind nodes of which nothing is left."""
    said = _OUTPUT.fullmatch(name)
    outputs = program.main_outputs()
    if said is None or int(said[1]) >= len(outputs):
        return None
    node = int(program.producer_of[outputs[int(said[1])]])
    while node in calls and calls[node].kinds is not None and not calls[node].kinds:
        before = program.inputs_of(node)
        node = int(program.producer_of[before[0]]) if len(before) and before[0] >= 0 else -1
    return node if node in calls else None


def _root(names: Iterable[list[str]]) -> str:
    """The first element of all module paths: the class of the program; empty when names do not agree."""
    parts = {p for outputs in names for name in outputs for p in _plain(name) if not _OUTPUT.fullmatch(p)}
    roots = {part.partition("/")[0] for part in parts if "/" in part} or parts
    return roots.pop() if len(roots) == 1 else ""


def _modules(name: str, root: str) -> list[Module]:
    found = []
    for part in _plain(name):
        first, *path = part.split("/")
        if root and first == root:
            found.append(tuple(element.rpartition(".")[2] for element in path))
    return found


def _plain(name: str) -> list[str]:
    """The module paths that a name is made of, without the numbers that tell its tensors apart."""
    return [re.sub(r";\d*$", "", part) for part in name.split(";;")]
