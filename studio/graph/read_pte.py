"""Reads `.pte` files: ExecuTorch programs, with delegates as nodes and XNNPACK and Vulkan blobs opened.

A program is a list of instructions over numbered values. A kernel call stores its arguments by position,
results last; names come from `resources/schemas/torch_arguments.json`. A value that is written twice becomes
a new tensor at each write, so that the graph has no hidden loops. Methods after the first are subgraphs.
With the ETRecord of the program (`etrecord`) a delegate also opens as the operators it was made from.
Source: executorch/schema/program.fbs, exir/emit/_emitter.py (1.5).
"""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from studio import paths
from studio.graph.builder import GraphBuilder
from studio.graph.etrecord import EtRecord, MethodOrigins
from studio.graph.flatbuffer import Table, broken
from studio.graph.graph import AttributeValue, Graph, Provenance, Quantization, SubgraphRef, TensorKind
from studio.graph.mapped import map_file
from studio.graph.pte_file import PteFile
from studio.graph.pte_values import PteValues
from studio.graph.read_etrecord import record_for
from studio.graph.restated import BEFORE_DELEGATION


def read_pte(path: Path, *, etrecord: Path | None = None) -> Graph:
    """The graph of an ExecuTorch program. Raises InputError when it is damaged.

    `etrecord`: the program's ETRecord; one that lies beside the file is found, and used when it fits.
    """
    file = PteFile(map_file(path))
    builder = GraphBuilder("pte")
    plans = file.program["execution_plan"]
    if not plans:
        raise broken("it has no method")
    builder.graph.name = plans[0]["name"]
    builder.graph.producer = "ExecuTorch"
    builder.graph.metadata["schema_version"] = str(file.program["version"])
    record: EtRecord | None = record_for(path, etrecord, plans, builder)
    for index, plan in enumerate(plans):
        builder.subgraph(plan["name"] or f"method {index}")
    for index, plan in enumerate(plans):
        _Plan(file, builder, plan, index, record.method(plan["name"]) if record else None).read()
    return builder.finish()


@lru_cache
def _argument_names() -> dict[str, list[str]]:
    """Names of an operator's arguments, results left out, by `namespace::name.overload`."""
    text = (paths.resources() / "schemas" / "torch_arguments.json").read_text()
    found: dict[str, str] = json.loads(text)["arguments"]
    return {name: names.split() for name, names in found.items()}


class _Plan:
    """One method being read."""

    def __init__(
        self, file: PteFile, builder: GraphBuilder, plan: Table, subgraph: int, origins: MethodOrigins | None
    ) -> None:
        self.file, self.builder, self.plan, self.subgraph = file, builder, plan, subgraph
        self._origins = origins
        self.values = PteValues(file, builder, plan)
        self._operators = [(op["name"], op["overload"]) for op in plan["operators"]]
        self._delegates = plan["delegates"]

    def read(self) -> None:
        b = self.builder
        inputs = []
        for number in self.plan["inputs"].tolist():
            tensor = self.values.tensor(number)
            if b.kind_of(tensor) is not TensorKind.CONSTANT:
                b.set_kind(tensor, TensorKind.INPUT)
            self.values.written.add(number)
            inputs.append(tensor)
        for chain in self.plan["chains"]:
            stacks = chain["stacktrace"]
            for index, instruction in enumerate(chain["instructions"]):
                frames = stacks[index]["items"] if index < len(stacks) else []
                self._instruction(index, instruction["instr_args"], _provenance(frames))
        b.close_subgraph(
            self.subgraph, inputs, [self.values.tensor(n) for n in self.plan["outputs"].tolist()]
        )

    # instructions

    def _instruction(self, index: int, table: Table | None, provenance: Provenance | None) -> None:
        b = self.builder
        if table is None:
            b.note("An instruction of an unknown kind is not shown.")
        elif table.kind == "KernelCall":
            self._kernel(index, table, provenance)
        elif table.kind == "DelegateCall":
            self._delegate(index, table)
        elif table.kind == "MoveCall":
            source, target = self.values.read(int(table["move_from"])), int(table["move_to"])
            b.node("Move", source, [self.values.write(target)], domain="executorch", subgraph=self.subgraph)
        elif table.kind == "JumpFalseCall":
            attributes: dict[str, AttributeValue] = {"destination": int(table["destination_instruction"])}
            b.node(
                "JumpFalse", self.values.read(int(table["cond_value_index"])), [],
                domain="executorch", attributes=attributes, subgraph=self.subgraph,
            )  # fmt: skip

    def _kernel(self, index: int, table: Table, provenance: Provenance | None) -> None:
        number = int(table["op_index"])
        if not 0 <= number < len(self._operators):
            raise broken("a kernel call names an operator that is not there")
        name, overload = self._operators[number]
        arguments, results = self._split(table["args"].tolist())
        names = _argument_names().get(f"{name}.{overload}", [])
        attributes: dict[str, AttributeValue] = {}
        inputs: list[int] = []
        for position, value in enumerate(arguments):
            label = names[position] if position < len(names) else f"argument {position}"
            inputs += self._argument(value, label, attributes)
        outputs = [self.values.write(value) for value in results]
        namespace, _, base = name.partition("::")
        op = f"{namespace}.{base}.{overload}" if base and overload else name.replace("::", ".")
        scope = 0
        if self._origins is not None:
            scope, provenance = self._origins.of_instruction(self.builder, index, provenance)
        node = self.builder.node(
            op,
            inputs,
            outputs,
            attributes=attributes,
            subgraph=self.subgraph,
            scope=scope,
            provenance=provenance,
        )
        if namespace == "quantized_decomposed":
            self._quantization(node, base, attributes, inputs, outputs)

    def _split(self, numbers: list[int]) -> tuple[list[int], list[int]]:
        """(arguments, results): the emitter ends a call with its results, as `out` and again as return."""
        if not numbers:
            return [], []
        last = self.values.value(numbers[-1])
        if last is not None and last.kind == "TensorList":
            items = last["items"].tolist()
            count = len(items)
            if count and numbers[-1 - count : -1] == items:
                return numbers[: -1 - count], items
        if len(numbers) > 1 and numbers[-2] == numbers[-1]:
            return numbers[:-2], numbers[-1:]
        return numbers[:-1], numbers[-1:]

    def _argument(self, number: int, name: str, attributes: dict[str, AttributeValue]) -> list[int]:
        """Tensor ids of an argument; a plain value goes to `attributes`, unless an instruction made it."""
        value = self.values.value(number)
        kind = value.kind if value is not None else "Null"
        if value is None or kind == "Null":
            return [-1]
        if kind == "Tensor" or number in self.values.written:
            return self.values.read(number)
        if kind in ("TensorList", "OptionalTensorList"):
            return [t for n in value["items"].tolist() for t in (self.values.read(n) if n >= 0 else [-1])]
        if kind == "IntList":  # its items are numbers of Int values, which may be computed
            items = value["items"].tolist()
            attributes[name] = [self.values.plain(n) for n in items]
            return [t for n in items if n in self.values.written for t in self.values.read(n)]
        attributes[name] = self.values.plain(number)
        return []

    def _delegate(self, index: int, table: Table) -> None:
        number = int(table["delegate_index"])
        if not 0 <= number < len(self._delegates):
            raise broken("a delegate call names a delegate that is not there")
        delegate = self._delegates[number]
        blob, why_not = self.file.delegate_blob(delegate)
        arguments = table["args"].tolist()
        inputs, outputs = self._delegate_arguments(arguments, blob)
        sources = [t for n in inputs for t in self.values.read(n)]
        results = [self.values.write(n) for n in outputs]
        attributes: dict[str, AttributeValue] = {
            spec["key"]: f"{spec.span('value')[1]} bytes" for spec in delegate["compile_specs"]
        }
        node = self.builder.node(
            delegate["id"] or "delegate", sources, results,
            domain="delegate", name=f"delegate {number}", attributes=attributes, subgraph=self.subgraph,
        )  # fmt: skip
        if blob is not None:
            body = self.builder.subgraph(f"{delegate['id']} {number}", parent_node=node, attribute="graph")
            attributes["graph"] = SubgraphRef(subgraph=body)
            blob.read_into(self.builder, body, self._origins)
        edge = self._origins.add_body(self.builder, index, node) if self._origins else None
        if edge is not None:
            attributes[BEFORE_DELEGATION] = edge
        if blob is None:
            known = " What they were made from is shown." if edge is not None else ""
            self.builder.note(why_not + known)

    def _delegate_arguments(self, numbers: list[int], blob: Any) -> tuple[list[int], list[int]]:
        """(inputs, outputs): by the blob's own count, else what nobody wrote before is an output."""
        if blob is not None and len(blob.inputs) + len(blob.outputs) == len(numbers):
            count = len(blob.inputs)
            return numbers[:count], numbers[count:]
        is_input = [n in self.values.written or self.values.is_constant(n) for n in numbers]
        return (
            [n for n, known in zip(numbers, is_input) if known],
            [n for n, known in zip(numbers, is_input) if not known],
        )

    def _quantization(
        self,
        node: int,
        name: str,
        attributes: dict[str, AttributeValue],
        inputs: list[int],
        outputs: list[int],
    ) -> None:
        scale, zero = attributes.get("scale"), attributes.get("zero_point")
        if not isinstance(scale, (int, float)) or not isinstance(zero, int):
            return
        for tensor in [*inputs[:1], *outputs[:1]]:
            if tensor >= 0:
                self.builder.quantization(tensor, Quantization(scale=(float(scale),), zero_point=(zero,)))


def _provenance(frames: list[Table]) -> Provenance | None:
    """The innermost recorded frame."""
    if not frames:
        return None
    frame = frames[-1]
    return Provenance(file=frame["filename"], line=max(int(frame["lineno"]), 0))
