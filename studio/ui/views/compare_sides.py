"""CompareSides: what each side of a comparison shows of its graph: its body, its scopes, its layout."""

from __future__ import annotations

from collections.abc import Callable

from studio.graph.diff import GraphDiff
from studio.graph.facing import facing_body
from studio.graph.layout import lay_out, places_of
from studio.graph.scopes import initial_view, is_open, reveal, scope_tree, toggle_bodies, toggle_scope
from studio.graph.view import GraphView
from studio.ui.canvas.compare import CompareCanvas
from studio.ui.session import Session
from studio.ui.stages import OpenedGraph, Stage

_Chosen = Callable[[], tuple[Stage | None, Stage | None]]


class CompareSides:
    """Both sides look into bodies that face each other. Their views are those of the stages' own tabs."""

    def __init__(self, session: Session, canvas: CompareCanvas, chosen: _Chosen) -> None:
        self._session, self._canvas, self._chosen = session, canvas, chosen
        self._diff: GraphDiff | None = None
        canvas.scope_toggled.connect(self.toggle_scope)
        canvas.subgraph_requested.connect(self.show_subgraph)

    def face(self, diff: GraphDiff) -> None:
        """Both sides look at the same place before they are shown: one that looks into a body leads."""
        self._diff = diff
        first = self._opened(is_second=False)
        self._let_follow(is_second=first is None or first.view.subgraph == 0)

    def refresh(self) -> None:
        """Shows what was done meanwhile in the tabs of the two stages."""
        changed = [side for side in (False, True) if self._is_stale(is_second=side)]
        for is_second in changed:
            self._draw(is_second=is_second)
        if changed:
            self._let_follow(is_second=changed[0])

    def go(self, node_a: int, node_b: int) -> None:
        """Shows a node in each graph; the side without one (−1) turns to the body that faces the other's."""
        for is_second, node in ((False, node_a), (True, node_b)):
            opened = self._opened(is_second=is_second)
            if node >= 0 and opened is not None:
                self._set_view(reveal(opened.graph, opened.view, node), is_second=is_second)
        if node_a < 0 or node_b < 0:
            self._let_follow(is_second=node_a < 0, node=max(node_a, node_b))
        self._canvas.show_pair(node_a, node_b)

    def toggle_scope(self, is_second: bool, scope: int) -> None:
        """Opens or closes a scope or a body of one side."""
        opened = self._opened(is_second=is_second)
        if opened is None:
            return
        body = scope - scope_tree(opened.graph).size
        if body >= 0:
            view = toggle_bodies(opened.graph, opened.view, opened.graph.subgraphs[body].parent_node)
        else:
            view = toggle_scope(opened.view, scope)
        self._set_view(view, is_second=is_second)

    def show_subgraph(self, is_second: bool, subgraph: int) -> None:
        """Looks into a body, or (0) at the main graph, on both sides."""
        opened = self._opened(is_second=is_second)
        if opened is not None:
            self._set_view(initial_view(opened.graph, subgraph), is_second=is_second)
            self._let_follow(is_second=is_second)

    def _let_follow(self, *, is_second: bool, node: int = -1) -> None:
        """Turns the other side to the body that faces what this one shows, or the one around a node."""
        here, there = self._opened(is_second=is_second), self._opened(is_second=not is_second)
        if here is None or there is None or self._diff is None:
            return
        match = self._diff.match_b if is_second else self._diff.match_a
        bodies = here.graph.node_subgraph
        body = int(bodies[node]) if 0 <= node < len(bodies) else here.view.subgraph
        facing = facing_body(here.graph, there.graph, match, body)
        if not is_open(there.graph, there.view, facing):
            self._set_view(initial_view(there.graph, facing), is_second=not is_second)

    def _set_view(self, view: GraphView, *, is_second: bool) -> None:
        stage = self._chosen()[is_second]
        opened = self._opened(is_second=is_second)
        if stage is None or opened is None or view == opened.view:
            return
        opened.layout = lay_out(opened.graph, view, places_of(opened.layout))
        opened.view = view
        self._session.layout_changed.emit(stage.id)  # its own tab shows the same view
        self._draw(is_second=is_second)

    def _draw(self, *, is_second: bool) -> None:
        opened = self._opened(is_second=is_second)
        if opened is not None and self._is_stale(is_second=is_second):
            subgraph = opened.view.subgraph
            self._canvas.set_layout(opened.layout, is_second=is_second, subgraph=subgraph)

    def _is_stale(self, *, is_second: bool) -> bool:
        """Whether the canvas has this graph, but another layout of it."""
        opened, scene = self._opened(is_second=is_second), self._canvas.sides[is_second].scene
        return opened is not None and scene.graph is opened.graph and scene.layout is not opened.layout

    def _opened(self, *, is_second: bool) -> OpenedGraph | None:
        stage = self._chosen()[is_second]
        return stage.opened if stage is not None else None
