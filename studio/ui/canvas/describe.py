"""What a box, an edge or a scope is, in words: for tooltips and screen readers. Plain text."""

from __future__ import annotations

from studio.graph.graph import Graph
from studio.graph.labels import nodes_text, scale_text, value_text
from studio.graph.layout import ItemKind
from studio.ui.canvas.labels import clean, output_in_full, scope_title, tensor_in_full
from studio.ui.canvas.overlay import Overlay
from studio.ui.canvas.scene import Scene
from studio.ui.texts import translate

LONGEST_NAME = 200


def describe_item(scene: Scene, item: int, overlay: Overlay | None, counts: list[int], value: float) -> str:
    """The lines about a box; `counts` per category and `value` are what the overlay gathered on it."""
    layout, graph = scene.layout, scene.graph
    kind, ref = int(layout.item_kind[item]), int(layout.item_ref[item])
    if kind == ItemKind.NODE:
        return describe_node(graph, ref, overlay)
    if kind == ItemKind.SCOPE:
        name, scope_type = scope_title(graph, ref)
        lines = [f"{name} · {scope_type}" if scope_type else name, nodes_text(int(layout.item_nodes[item]))]
        if overlay is not None and overlay.categories:
            lines += [f"{c.title}: {n:,}" for c, n in zip(overlay.categories, counts) if n]
        elif overlay is not None and value == value:
            lines.append(f"{overlay.name}: {value_text(value, overlay.unit)}")
        lines.append(translate("Canvas", "Double-click or Enter opens it."))
        return "\n".join(lines)
    word = (
        translate("Canvas", "Input of the graph")
        if kind == ItemKind.INPUT
        else translate("Canvas", "Output of the graph")
    )
    return f"{word}\n{describe_tensor(graph, ref)}"


def describe_node(graph: Graph, node: int, overlay: Overlay | None) -> str:
    """Operator, name, output, and what the overlay says."""
    lines = [clean(graph.node_op[node], LONGEST_NAME)]
    if graph.node_name[node]:
        lines.append(clean(graph.node_name[node], LONGEST_NAME, keep_tail=True))
    lines.append(output_in_full(graph, node))
    if overlay is not None:
        lines += overlay.sentence(node).splitlines()
    return "\n".join(line for line in lines if line)


def describe_tensor(graph: Graph, tensor: int) -> str:
    """Name, shape and dtype, size and quantisation of a tensor."""
    if not 0 <= tensor < graph.tensor_count:
        return ""
    lines = [clean(graph.tensor_name[tensor], LONGEST_NAME, keep_tail=True), tensor_in_full(graph, tensor)]
    size = int(graph.tensor_bytes[tensor]) if tensor < len(graph.tensor_bytes) else -1
    if size >= 0:
        lines.append(value_text(size, "B"))
    if tensor in graph.tensor_quantization:
        lines.append(scale_text(graph.tensor_quantization[tensor]))
    return "\n".join(line for line in lines if line)
