"""NodeFacts: what the inspector says of a node, as texts and rows; pure reading of an opened graph."""

from __future__ import annotations

from dataclasses import dataclass

from studio.graph import Graph, Quantization, SubgraphRef, TensorKind, TensorRef
from studio.graph.graph import AttributeValue, Shape
from studio.graph.op_docs import OpDoc, OpPart

_LONGEST = 120


@dataclass(frozen=True, slots=True)
class TensorFact:
    """One input or output: what the operator calls it, and what the tensor is."""

    role: str
    tensor: int
    name: str
    type: str
    quantization: str
    is_constant: bool
    value: str = ""


@dataclass(frozen=True, slots=True)
class AttributeFact:
    """One attribute. `is_default`: the file leaves it out, the operator's default holds."""

    name: str
    value: str
    type: str = ""
    text: str = ""
    is_default: bool = False


def shape_text(shape: Shape | None) -> str:
    """ "[1, 3, H, ?]"; "[…]" when not even the rank is known."""
    if shape is None:
        return "[…]"
    return "[" + ", ".join("?" if dim is None else str(dim) for dim in shape) + "]"


def tensor_type(graph: Graph, tensor: int) -> str:
    """ "float32 [1, 96, 16, 16]"."""
    return f"{graph.tensor_dtype[tensor] or '?'} {shape_text(graph.tensor_shape[tensor])}"


def quantization_text(quantization: Quantization | None) -> str:
    """Scale and zero point in a few words, "" when there are none."""
    if quantization is None or not quantization.scale:
        return ""
    zero = quantization.zero_point[0] if quantization.zero_point else 0
    if len(quantization.scale) > 1:
        low, high = min(quantization.scale), max(quantization.scale)
        axis = f" axis {quantization.axis}" if quantization.axis is not None else ""
        return f"scale {low:.4g}…{high:.4g} ×{len(quantization.scale)}{axis}"
    return f"scale {quantization.scale[0]:.6g} · zero point {zero}"


def value_text(graph: Graph, value: AttributeValue) -> str:
    """An attribute's value on one line."""
    if isinstance(value, TensorRef):
        return f"tensor {tensor_type(graph, value.tensor)}"
    if isinstance(value, SubgraphRef):
        return f"graph “{graph.subgraphs[value.subgraph].name}”"
    if isinstance(value, list):
        parts = [value_text(graph, item) for item in value[:24]]
        text = "[" + ", ".join(parts) + (", …]" if len(value) > 24 else "]")
    elif isinstance(value, float):
        text = f"{value:.6g}"
    else:
        text = "" if value is None else str(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def attributes_of(graph: Graph, node: int, doc: OpDoc | None) -> list[AttributeFact]:
    """The node's attributes, then the operator's defaults that the file leaves out."""
    known = {a.name: a for a in doc.attributes} if doc else {}
    given = graph.node_attributes[node]
    rows = [
        AttributeFact(
            name,
            value_text(graph, value),
            known[name].type if name in known else "",
            known[name].text if name in known else "",
        )
        for name, value in given.items()
    ]
    for name, part in known.items():
        if name not in given and part.default:
            rows.append(AttributeFact(name, part.default, part.type, part.text, is_default=True))
    return rows


def inputs_of(graph: Graph, node: int, doc: OpDoc | None) -> list[TensorFact]:
    """The inputs that are there, with the operator's names for them where known."""
    return _facts(graph, graph.inputs_of(node).tolist(), doc.inputs if doc else ())


def outputs_of(graph: Graph, node: int, doc: OpDoc | None) -> list[TensorFact]:
    """The outputs that are there."""
    return _facts(graph, graph.outputs_of(node).tolist(), doc.outputs if doc else ())


def _facts(graph: Graph, tensors: list[int], parts: tuple[OpPart, ...]) -> list[TensorFact]:
    result = []
    for position, tensor in enumerate(tensors):
        if tensor < 0:
            continue
        # The last formal parameter may stand for any number of tensors.
        part = parts[min(position, len(parts) - 1)] if parts else None
        values = graph.tensor_value.get(tensor)
        shown = ""
        if values is not None and len(values) <= 16:
            shown = ", ".join(f"{v:.6g}" if isinstance(v, float) else str(v) for v in values)
        result.append(
            TensorFact(
                role=part.name if part is not None else "",
                tensor=tensor,
                name=graph.tensor_name[tensor],
                type=tensor_type(graph, tensor),
                quantization=quantization_text(graph.tensor_quantization.get(tensor)),
                is_constant=graph.tensor_kind[tensor] == TensorKind.CONSTANT,
                value=shown[:_LONGEST],
            )
        )
    return result


def node_text(graph: Graph, node: int) -> str:
    """A node as text, for the clipboard."""
    lines = [f"{graph.node_op[node]}  {graph.label(node)}"]
    scope = graph.scope_path(int(graph.node_scope[node])) if len(graph.node_scope) else ""
    if scope:
        lines.append(f"scope: {scope}")
    lines += [f"{a.name} = {a.value}" for a in attributes_of(graph, node, None)]
    lines += [f"in   {t.name}: {t.type}" for t in inputs_of(graph, node, None)]
    lines += [f"out  {t.name}: {t.type}" for t in outputs_of(graph, node, None)]
    return "\n".join(lines)
