"""Labels: the texts on boxes, pills, frames, edges and in tooltips, made harmless.

What is written where both pictures and the canvas write it comes from `studio.graph.labels`. Here:
texts come from strangers' files, so they are cut before anything is measured (a name may be 1 MB),
control characters and line breaks become spaces, and direction overrides are dropped, so that a
name cannot turn its neighbours round.
"""

from __future__ import annotations

import unicodedata

from studio.graph import Graph
from studio.graph import labels as shared
from studio.graph.repeats import repeats
from studio.graph.scopes import frame_words, scope_tree

LONGEST = 120
LONGEST_SHAPE = 400

_DIRECTION_MARKS = dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F])


def clean(text: str, longest: int = LONGEST, *, keep_tail: bool = False) -> str:
    """`text` on one line, at most `longest` characters; with `keep_tail` the end is what stays."""
    if len(text) > longest:
        text = "…" + text[-(longest - 1) :] if keep_tail else text[: longest - 1] + "…"
    if text.isascii() and text.isprintable():
        return text
    text = text.translate(_DIRECTION_MARKS)
    return "".join(c if c.isprintable() or unicodedata.category(c) in ("Cf", "Mn") else " " for c in text)


def tensor_text(graph: Graph, tensor: int) -> str:
    """`[N,96,8,8] f32`: shape and dtype as far as they are known."""
    return clean(shared.tensor_text(graph, tensor), 60) if tensor >= 0 else ""


def tensor_in_full(graph: Graph, tensor: int) -> str:
    """Shape and dtype with every dim's name or formula, for a tooltip."""
    return clean(shared.tensor_text(graph, tensor, is_whole=True), LONGEST_SHAPE)


def tensor_name(graph: Graph, tensor: int) -> str:
    """A tensor's name, its end when it is long."""
    return clean(graph.tensor_name[tensor], 60, keep_tail=True) if tensor >= 0 else ""


def output_text(graph: Graph, node: int) -> str:
    """Shape and dtype of a node's first output, and how many more there are."""
    return clean(shared.output_text(graph, node), 60)


def output_in_full(graph: Graph, node: int) -> str:
    """The same with every dim's name or formula, for a tooltip."""
    return clean(shared.output_text(graph, node, is_whole=True), LONGEST_SHAPE)


def node_title(graph: Graph, node: int) -> str:
    """A node's operator."""
    return clean(graph.node_op[node], 48) or "?"


def node_name(graph: Graph, node: int) -> str:
    """A node's name without what its scope and operator say anyway; a bare number is not worth the room."""
    name = clean(shared.short_name(graph, node, 40), 40, keep_tail=True)
    return name if any(c.isalpha() for c in name) else ""


def scope_title(graph: Graph, scope: int) -> tuple[str, str]:
    """A scope's name and, where known and different, its type: `("layer1", "BasicBlock")`."""
    if not 0 <= scope < scope_tree(graph).size + len(graph.subgraphs):
        return "?", ""
    name, kind = frame_words(graph, scope)
    name, kind = clean(name, 48) or "·", clean(kind[-200:], 32)
    return name, kind if kind != name else ""


def alike_text(graph: Graph, scope: int) -> str:
    """`×12` for a scope that has eleven others like it, else nothing."""
    counts = repeats(graph).count
    return f"×{int(counts[scope]):,}" if 0 <= scope < len(counts) and counts[scope] > 1 else ""


def scope_chain(graph: Graph, scope: int) -> list[int]:
    """The scopes from the outermost to this one, the root left out."""
    tree = scope_tree(graph)
    chain: list[int] = []
    while 0 < scope < tree.size:
        chain.append(scope)
        scope = int(tree.parent[scope])
    return chain[::-1]
