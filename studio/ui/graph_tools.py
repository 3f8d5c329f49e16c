"""GraphTools: what can be done with the graph in sight beyond looking: bookmarks, paths, blocks, edits.

The rows of `actions.py` call these methods; the context menus (`graph_menu.py`) are made of the same rows.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog, QMenu, QWidget

from studio.graph.part import nodes_of_scope, part_of
from studio.graph.paths import nodes_between
from studio.graph.references import find_node, reference_of
from studio.graph.repeats import repeats
from studio.graph.scopes import bodies_of, scope_tree
from studio.jobs.job import Failed
from studio.project import edit
from studio.project.project import Bookmark
from studio.recipes.edit_records import Edit, RemoveNode
from studio.records import write_atomically
from studio.ui.light_edits import LightEdits, can_edit_node
from studio.ui.look_jobs import doc_of
from studio.ui.session import Session
from studio.ui.texts import fill
from studio.ui.widgets.parts import copy_text

if TYPE_CHECKING:
    from studio.graph import Graph
    from studio.ui.views.graph_view import GraphView


class GraphTools(QObject):
    """Needs the session, the window for its dialogs, and the graph view that is in sight."""

    def __init__(self, session: Session, window: QWidget, view: Callable[[], GraphView | None]) -> None:
        super().__init__(window)
        self._session, self._window, self._view = session, window, view
        self.light_edits = LightEdits(session, self)
        self._path_start = -1
        self._path_graph: Graph | None = None
        self._pending: Bookmark | None = None
        session.stage_opened.connect(self._on_opened)

    # --- bookmarks ---------------------------------------------------------------------------

    def add_bookmark(self) -> None:
        """Remembers the selected node in the project."""
        opened, node = self._session.opened, self._session.selection.node
        if opened is None or node is None or self._session.project is None:
            return
        taken = {b.name for b in self._session.project.bookmarks}
        op, label = opened.graph.node_op[node], opened.graph.label(node)
        name = base = (label if op in label else f"{op} {label}")[:80]
        number = 1
        while name in taken:
            number += 1
            name = f"{base} ({number})"
        made = Bookmark(
            name=name, node=reference_of(opened.graph, node), stage=self._session.current_stage_id
        )
        said = fill(self.tr("Bookmark {name}"), name=name)
        if self._session.edit(lambda p: edit.add_bookmark(p, made), said):
            self._say(fill(self.tr("Bookmark added: {name}"), name=name))

    def show_bookmarks(self) -> None:
        """Lists the bookmarks: go there, rename, delete."""
        from studio.ui.views.bookmark_dialog import BookmarkDialog

        dialog = BookmarkDialog(self._session, self._window)
        dialog.chosen.connect(self.go_to_bookmark)
        dialog.open()

    def fill_bookmarks(self, menu: QMenu) -> None:
        """One entry per bookmark."""
        menu.clear()
        for bookmark in self._session.project.bookmarks if self._session.project else ():
            menu.addAction(bookmark.name).triggered.connect(
                lambda _=False, b=bookmark: self.go_to_bookmark(b)
            )
        if menu.isEmpty():
            menu.addAction(self.tr("Nothing yet")).setEnabled(False)

    def go_to_bookmark(self, bookmark: Bookmark) -> None:
        """Turns to the bookmark's stage and node; says so when it is not there any more."""
        stage = self._session.stage(bookmark.stage)
        if stage is None or (stage.path is None and stage.opened is None):
            self._tell(self.tr("The stage of this bookmark is not there."), self.tr("Run the recipe first."))
            return
        self._session.set_current_stage(bookmark.stage)
        if stage.opened is None:
            self._pending = bookmark  # its graph is being read
            return
        node = find_node(stage.opened.graph, bookmark.node)
        if node < 0:
            words = fill(self.tr("There is no node {node} in this graph any more."), node=bookmark.node)
            self._tell(words, self.tr("Delete the bookmark, or undo what changed the model."))
            return
        self._session.go_to_node(node)

    def _on_opened(self, stage_id: str) -> None:
        pending, self._pending = self._pending, None
        if pending is not None and pending.stage == stage_id:
            self.go_to_bookmark(pending)

    # --- edges and paths -----------------------------------------------------------------------

    def follow_edge(self) -> None:
        """Goes to the node at the other end of the selected edge; again: to the next one."""
        opened, tensor = self._session.opened, self._session.selection.tensor
        if opened is None or tensor is None:
            return
        ends = ends_of(opened.graph, tensor)
        if ends:
            self._session.go_to_node(ends[0])

    def start_path(self) -> None:
        """Remembers the selected node as one end of a path."""
        opened, node = self._session.opened, self._session.selection.node
        if opened is not None and node is not None:
            self._path_start, self._path_graph = node, opened.graph
            words = self.tr("The path starts at {node}: select its other end, then “Show the path to here”")
            self._say(fill(words, node=opened.graph.label(node)))

    @property
    def path_start(self) -> int:
        """The node where a path starts, −1 when none was chosen in this graph."""
        opened = self._session.opened
        return self._path_start if opened is not None and opened.graph is self._path_graph else -1

    def show_path(self) -> None:
        """Shows all paths from the remembered node to the selected one and fades the rest."""
        opened, node, view = self._session.opened, self._session.selection.node, self._view()
        if opened is None or node is None or view is None:
            return
        start = self.path_start
        if start < 0:
            self._say(self.tr("Select a node and choose “Start a path here” first."))
            return
        graph = opened.graph
        nodes = nodes_between(graph, start, node)
        ends = {"start": graph.label(start)[:50], "end": graph.label(node)[:50]}
        if not nodes:
            self._say(fill(self.tr("No path leads from {start} to {end}, nor back."), **ends))
            return
        words = fill(self.tr("{n} nodes on the paths between {start} and {end}"), n=f"{len(nodes):,}", **ends)
        view.focus_on(nodes, words)

    # --- scopes and blocks ---------------------------------------------------------------------

    def toggle_bodies(self) -> None:
        """Opens the bodies of the selected node in place, or closes them."""
        view, node = self._view(), self._session.selection.node
        if view is not None and node is not None:
            view.toggle_bodies(node)

    def toggle_scope(self) -> None:
        """Opens or closes the selected scope."""
        view, scope = self._view(), self._session.selection.scope
        if view is not None and scope is not None:
            view.toggle_scope(scope)

    def alike_scopes(self) -> list[int]:
        """The scopes that are built like the selected one."""
        opened, scope = self._session.opened, self._session.selection.scope
        if opened is None or scope is None or scope >= scope_tree(opened.graph).size:
            return []
        return [other for other in repeats(opened.graph).alike(scope) if other != scope]

    def compare_block(self, other: int | None = None) -> None:
        """Compares the selected block with another one that is alike, by default the next."""
        from studio.ui.views.block_dialog import BlockDialog

        opened, scope, alike = self._session.opened, self._session.selection.scope, self.alike_scopes()
        if opened is None or scope is None or not alike:
            self._say(self.tr("No other block is built like this one: choose one that says ×2 or more."))
            return
        if other is None:
            other = next((s for s in alike if s > scope), alike[0])
        BlockDialog(opened.graph, scope, other, self._window).open()

    # --- light edits -----------------------------------------------------------------------------

    def rename(self) -> None:
        """Asks for another name of the selected node or tensor."""
        from studio.ui.views.edit_dialogs import RenameDialog

        opened, selected = self._session.opened, self._session.selection
        if opened is not None:
            said = self.tr("Rename")
            RenameDialog(
                opened.graph, selected.node, selected.tensor, self._applying(said), self._window
            ).open()

    def set_attribute(self) -> None:
        """Asks for another value of an attribute of the selected node."""
        from studio.ui.views.edit_dialogs import AttributeDialog

        opened, node = self._session.opened, self._session.selection.node
        if opened is not None and node is not None:
            doc = doc_of(self._session, node)
            AttributeDialog(
                opened.graph, node, doc, self._applying(self.tr("Set an attribute")), self._window
            ).open()

    def remove_node(self) -> None:
        """Takes the selected node out."""
        opened, node = self._session.opened, self._session.selection.node
        if opened is not None and node is not None and can_edit_node(self._session):
            said = fill(self.tr("Remove {node}"), node=opened.graph.label(node))
            self.light_edits.apply((RemoveNode(node=reference_of(opened.graph, node)),), said)

    def cut_out(self) -> None:
        """Asks where the model shall begin and end; what is selected is proposed."""
        from studio.ui.views.edit_dialogs import CutDialog

        opened = self._session.opened
        if opened is not None:
            inputs, outputs = self._proposed_cut(opened.graph)
            CutDialog(opened.graph, inputs, outputs, self._applying(self.tr("Cut out")), self._window).open()

    def _proposed_cut(self, graph: Graph) -> tuple[tuple[int, ...], tuple[int, ...]]:
        selected = self._session.selection
        if selected.scope is not None and selected.scope < scope_tree(graph).size:
            part = part_of(graph, nodes_of_scope(graph, selected.scope)).subgraphs[0]
            return part.inputs, part.outputs
        if selected.tensor is not None:
            return graph.main_inputs(), (selected.tensor,)
        if selected.node is not None:
            made = (int(t) for t in graph.outputs_of(selected.node) if t >= 0)
            return graph.main_inputs(), tuple(made)
        return graph.main_inputs(), graph.main_outputs()

    def freeze_dims(self) -> None:
        """Asks for the sizes of the dims that the inputs leave open."""
        from studio.ui.views.edit_dialogs import FreezeDialog, open_dims

        opened = self._session.opened
        if opened is not None:
            FreezeDialog(
                open_dims(opened.graph), self._applying(self.tr("Fix sizes of dims")), self._window
            ).open()

    def _applying(self, said: str) -> Callable[[tuple[Edit, ...]], object]:
        return lambda edits: self.light_edits.apply(edits, said)

    # --- taking away -----------------------------------------------------------------------------

    def copy_name(self) -> None:
        """Puts the name of what is selected on the clipboard."""
        opened, selected = self._session.opened, self._session.selection
        if opened is None:
            return
        if selected.node is not None:
            copy_text(opened.graph.label(selected.node))
        elif selected.tensor is not None:
            copy_text(opened.graph.tensor_name[selected.tensor])
        elif selected.scope is not None and selected.scope < scope_tree(opened.graph).size:
            copy_text(scope_tree(opened.graph).path(selected.scope))

    def save_table(self) -> None:
        """Asks for a place and writes the nodes as CSV."""
        stage = self._session.current_stage
        if stage is None or stage.opened is None or stage.path is None:
            return
        first = (self._session.folder or Path.home()) / f"{stage.path.stem}-nodes.csv"
        path, _ = QFileDialog.getSaveFileName(
            self._window, self.tr("Save the table of nodes"), str(first), "CSV (*.csv)"
        )
        if path:
            self.write_table(Path(path))

    def write_table(self, path: Path) -> None:
        """Writes the nodes of the graph in sight as CSV."""
        from studio.graph.node_table import node_csv
        from studio.measure.node_profile import latency_column

        opened = self._session.opened
        if opened is not None:
            with self._session.telling_failures():
                profile = opened.profile
                times = latency_column(profile, opened.graph.node_count) if profile is not None else None
                write_atomically(path, node_csv(opened.graph, opened.costs, times).encode())

    def _say(self, words: str) -> None:
        view = self._view()
        if view is not None:
            view.say(words)

    def _tell(self, message: str, hint: str) -> None:
        self._session.failed.emit(Failed(error="input", message=message, hint=hint))


def ends_of(graph: Graph, tensor: int) -> list[int]:
    """The nodes at the ends of a tensor's edges: the readers first, then who makes it."""
    readers = [int(n) for n in graph.consumers_of(tensor)]
    maker = int(graph.producer_of[tensor])
    return [*dict.fromkeys(readers), *([maker] if maker >= 0 else [])]


def has_bodies(session: Session) -> bool:
    """Whether something hangs on the selected node that can be opened in place."""
    opened, node = session.opened, session.selection.node
    return opened is not None and node is not None and bool(bodies_of(opened.graph, node))
