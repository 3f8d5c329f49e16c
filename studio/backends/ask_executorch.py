"""Asks ExecuTorch's own partitioners (XNNPACK, Vulkan) which nodes of an exported program they take."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from studio.backends.ask import ToolAnswer, ToolNode, ToolTensor
from studio.backends.packages import package_version, require
from studio.errors import InputError, ToolError

PARTITIONERS = {
    "executorch/xnnpack": "executorch.backends.xnnpack.partition.xnnpack_partitioner:XnnpackPartitioner",
    "executorch/vulkan": "executorch.backends.vulkan.partitioner.vulkan_partitioner:VulkanPartitioner",
}
_XNNPACK_LINE = re.compile(r"WhyNoPartition: Node (\S+) was not partitioned because (.*)\.$", re.DOTALL)
_VULKAN_LINE = re.compile(r"\[Vulkan Partitioner\] Due to \[(.*?)\], skipping (.*)", re.DOTALL)


def ask(path: Path, target_id: str) -> ToolAnswer:
    """The answer for a `.pt2` file. Raises InputError for another file, ToolError when lowering fails."""
    return ask_program(load_program(path), target_id)


def load_program(path: Path) -> Any:
    """The `torch.export.ExportedProgram` of a `.pt2` file. Raises InputError for another file."""
    import torch

    try:
        return torch.export.load(str(path))
    except Exception as error:
        raise InputError(
            f"{path.name} is not an exported program: {error}", hint="Export it with torch.export.save."
        ) from None


def ask_program(program: Any, target_id: str) -> ToolAnswer:
    """The answer for a `torch.export.ExportedProgram`. Raises ToolError when lowering fails."""
    require("executorch", "Asking ExecuTorch's partitioners", "executorch")
    module_name, class_name = PARTITIONERS[target_id].split(":")
    import importlib

    from executorch.exir import to_edge_transform_and_lower

    base = getattr(importlib.import_module(module_name), class_name)
    seen: list[ToolNode] = []
    tags: set[str] = set()

    class Spy(base):  # type: ignore[misc,valid-type]
        """The partitioner itself; what it decided is read off its graph before anything is lowered."""

        def partition(self, exported_program: Any) -> Any:
            with _reasons() as reasons:
                result = super().partition(exported_program)
            seen[:] = _nodes(exported_program, reasons)
            tags.update(result.partition_tags)
            raise _Enough

    try:
        to_edge_transform_and_lower(program, partitioner=[Spy()])
    except _Enough:
        pass
    except Exception as error:
        raise ToolError(
            f"ExecuTorch could not lower this program: {type(error).__name__}.",
            hint="The last lines say where.",
            last_lines=tuple(str(error).splitlines()[-8:]),
        ) from None
    return ToolAnswer(
        tool=class_name,
        version=f"executorch {package_version('executorch')}",
        target_id=target_id,
        nodes=tuple(seen),
        partitions=len(tags),
    )


class _Enough(Exception):
    """Stops lowering once the partitioner has answered."""


class _Catcher(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.reasons: dict[str, str] = {}

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if match := _XNNPACK_LINE.search(text):
            self.reasons.setdefault(match[1], match[2])
        elif match := _VULKAN_LINE.search(text):
            # the line quotes the node's inputs and operator, not its name
            self.reasons.setdefault(match[2].strip(), match[1])


@contextmanager
def _reasons() -> Iterator[dict[str, str]]:
    """Node → reason, from what the partitioners log while the block runs."""
    catcher = _Catcher()
    names = [n for n in logging.root.manager.loggerDict if n.startswith("executorch.backends")]
    loggers = [logging.getLogger(n) for n in (*names, "executorch.backends")]
    before = [(logger, logger.level, logger.propagate) for logger in loggers]
    root_level = logging.root.level
    logging.root.addHandler(catcher)
    logging.root.setLevel(logging.DEBUG)
    kept = [h for h in logging.root.handlers if h is not catcher]
    for handler in kept:
        logging.root.removeHandler(handler)
    for logger in loggers:
        logger.setLevel(logging.DEBUG)
        logger.propagate = True
    try:
        yield catcher.reasons
    finally:
        for logger, level, propagate in before:
            logger.setLevel(level)
            logger.propagate = propagate
        logging.root.removeHandler(catcher)
        for handler in kept:
            logging.root.addHandler(handler)
        logging.root.setLevel(root_level)


def _nodes(program: Any, reasons: dict[str, str]) -> list[ToolNode]:
    constants = set(program.graph_signature.inputs_to_parameters) | set(
        program.graph_signature.inputs_to_buffers
    )
    constants |= set(program.graph_signature.inputs_to_lifted_tensor_constants)
    result = []
    for node in program.graph.nodes:
        if node.op != "call_function":
            continue
        op = _op_name(node)
        taken = "delegation_tag" in node.meta
        inputs, attributes, producers = _arguments(node, constants)
        reason = "" if taken else reasons.get(node.name) or _vulkan_reason(node, reasons)
        result.append(
            ToolNode(
                name=node.name,
                op=op,
                taken=taken,
                reason=reason,
                origin=_origin(node),
                attributes=attributes,
                inputs=tuple(inputs),
                outputs=tuple(_tensor(v, False) for v in _values(node.meta.get("val"))),
                producers=tuple(producers),
                distinct_inputs=_distinct(node),
            )
        )
    return result


def _vulkan_reason(node: Any, reasons: dict[str, str]) -> str:
    for line, reason in reasons.items():
        if node.name in line:
            return reason
    return ""


def _op_name(node: Any) -> str:
    target = node.target
    name = getattr(target, "__name__", str(target))
    if name == "getitem":
        return "getitem"
    schema = getattr(target, "_schema", None)
    if schema is not None:
        return f"{schema.name.replace('::', '.')}.{schema.overload_name or 'default'}"
    return str(name)


def _origin(node: Any) -> str:
    """The name of the node of the exported program that this one came from."""
    sources = node.meta.get("from_node") or []
    name = ""
    while sources:
        name = sources[-1].name
        sources = sources[-1].from_node
    return name


def _values(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, (tuple, list)) else [value]


def _tensor(value: Any, is_constant: bool) -> ToolTensor:
    import torch

    if not isinstance(value, torch.Tensor):
        return ToolTensor(is_constant=is_constant)
    return ToolTensor(
        dtype=str(value.dtype).removeprefix("torch."),
        shape=tuple(d if isinstance(d, int) else None for d in value.shape),
        is_constant=is_constant,
    )


def _distinct(node: Any) -> int:
    """How many different tensors the node reads, 0 when none is read twice."""
    import torch

    read = [item for argument in node.args for item in _values(argument)]
    count = sum(isinstance(a, torch.fx.Node) for a in read)
    distinct = len(node.all_input_nodes)
    return distinct if distinct != count else 0


def _arguments(node: Any, constants: set[str]) -> tuple[list[ToolTensor | None], dict[str, Any], list[str]]:
    """Tensor inputs in schema order (None = left out), plain arguments by name, operators of the inputs."""
    import torch

    schema = getattr(node.target, "_schema", None)
    inputs: list[ToolTensor | None] = []
    attributes: dict[str, Any] = {}
    producers: list[str] = []
    given = list(node.args)
    for index, argument in enumerate(schema.arguments if schema else ()):
        if index < len(given):
            value = given[index]
        elif argument.name in node.kwargs:
            value = node.kwargs[argument.name]
        elif argument.has_default_value():
            value = argument.default_value
        else:
            value = None
        is_tensor = "Tensor" in str(argument.type)
        values = value if isinstance(value, (list, tuple)) and is_tensor else [value]
        for item in values:
            if isinstance(item, torch.fx.Node):
                inputs.append(_tensor(item.meta.get("val"), item.name in constants))
                producers.append(_op_name(item) if item.op == "call_function" else "")
            elif is_tensor:
                inputs.append(None)
                producers.append("")
        if not is_tensor and isinstance(value, (bool, int, float, str, type(None))):
            attributes[argument.name] = value
        elif not is_tensor and _are_numbers(value):
            attributes[argument.name] = list(value)
    while inputs and inputs[-1] is None:
        inputs.pop()
    return inputs, attributes, producers


def _are_numbers(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(v, (int, float)) for v in value)
