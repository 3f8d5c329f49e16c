"""Asks LiteRT about a torch program: converts it by litert-torch, asks XNNPACK or the plug-in of an NPU, and
traces the answer back.

The converter writes the module path of every operator into its tensors' names
(`Net/torch.nn.modules.conv.Conv2d_stem;…`), which says which module a TFLite operator came from, not which
line of its `forward`. So a node is answered for where all operators of its module agree, or where it is
the module's only one.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from studio.backends.ask import ToolAnswer, ToolNode
from studio.backends.ask_executorch import load_program
from studio.backends.ask_litert import ask as ask_litert
from studio.backends.packages import package_version, require
from studio.backends.quiet import quiet
from studio.errors import ToolError

LAYOUT = ("TRANSPOSE",)
"""Operators that the converter puts at the border of a channels-last run: no single node's."""


def ask(
    path: Path,
    target_id: str = "litert/cpu",
    *,
    asker: Callable[[Path, str], ToolAnswer] = ask_litert,
) -> ToolAnswer:
    """The answer for a `.pt2` program; `asker` is asked about the `.tflite` file that it becomes.

    Raises InputError for another file, ToolError when it cannot be converted.
    """
    require("litert_torch", "Asking LiteRT about a torch program", "litert")
    program = load_program(path)
    with tempfile.TemporaryDirectory(prefix="studio-ask-") as folder:
        made = Path(folder) / "converted.tflite"
        _convert(program, made)
        return _traced(program, made, asker(made, target_id))


def _convert(program: Any, made: Path) -> None:
    try:
        with quiet() as said:
            import litert_torch

            litert_torch.convert(program.module(), program.example_inputs[0]).export(str(made))
    except Exception as error:
        lines = (*said.getvalue().splitlines()[-3:], *str(error).splitlines()[-5:])
        raise ToolError(
            f"litert-torch cannot convert this program: {type(error).__name__}.",
            hint="The last lines say where.",
            last_lines=lines,
        ) from None


def _traced(program: Any, made: Path, answer: ToolAnswer) -> ToolAnswer:
    from studio.graph.formats import open_graph

    graph = open_graph(made)
    main = list(graph.nodes_in(0))
    calls = [n for n in program.graph.nodes if n.op == "call_function"]
    modules = [module_path(n) for n in calls]
    ends = {module_path(n) for n in program.graph.output_node().all_input_nodes}
    by_module: dict[str, list[ToolNode]] = {}
    for node in answer.nodes:
        if node.index >= len(main) or node.op in LAYOUT:
            continue
        names = [graph.tensor_name[t] for t in graph.outputs_of(main[node.index])]
        named = {part.rstrip("0123456789").rstrip(";") for n in names for part in n.split(";;")}
        # what makes an output of the file is named after the output, not after its module
        for module in named if named & set(modules) else named | ends:
            by_module.setdefault(module, []).append(node)
    whole = len(calls) == 1
    nodes = []
    for call, module in zip(calls, modules):
        made_of = [n for n in answer.nodes if n.op not in LAYOUT] if whole else by_module.get(module, [])
        left = [n for n in made_of if not n.taken]
        alone = whole or modules.count(module) == 1
        taken = None if not made_of or (left and len(left) < len(made_of) and not alone) else not left
        nodes.append(
            ToolNode(
                name=call.name,
                op=str(call.target),
                taken=taken,
                reason=_why(left[0]) if left and taken is False else "",
                origin=call.name,
            )
        )
    return ToolAnswer(
        tool=f"litert-torch, then {answer.tool.removesuffix(' delegate')}",
        version=f"litert-torch {package_version('litert-torch')}, {answer.version}",
        target_id=answer.target_id,
        nodes=tuple(nodes),
        partitions=answer.partitions,
    )


def _why(node: ToolNode) -> str:
    return f"{node.op}: {node.reason}" if node.reason else f"{node.op} is not taken"


def module_path(node: Any) -> str:
    """A torch node's module as litert-torch names it: `Net/torch.nn.modules.conv.Conv2d_stem`."""
    parts = []
    for number, (path, kind) in enumerate((node.meta.get("nn_module_stack") or {}).values()):
        name = kind if isinstance(kind, str) else f"{kind.__module__}.{kind.__qualname__}"
        parts.append(name if number == 0 else f"{name}_{str(path).split('.')[-1]}")
    return "/".join(parts)
