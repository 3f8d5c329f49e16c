"""The context menus of the graph: made of the rows of `actions.py`, by what is selected."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from studio.graph.scopes import scope_tree
from studio.ui.graph_tools import GraphTools, ends_of
from studio.ui.session import Session
from studio.ui.texts import fill, translate

_NODE = (
    "graph.bookmark", "graph.start_path", "graph.show_path", "graph.bodies", "",
    "edit.copy_node", "edit.copy_name", "",
    "edit.rename", "edit.attribute", "edit.remove", "edit.cut",
)  # fmt: skip
_TENSOR = ("graph.follow", "edit.copy_name", "", "edit.rename", "edit.cut")
_SCOPE = ("graph.scope", "edit.copy_name", "", "edit.cut")
_GROUND = (
    "view.fit", "view.width", "graph.clear", "", "graph.collapse", "graph.expand", "graph.constants",
    "graph.shapes", "", "graph.bookmarks", "edit.cut", "edit.freeze", "", "view.picture", "view.table",
)  # fmt: skip
_MOST_ENDS = 20


def _tr(text: str) -> str:
    return translate("GraphMenu", text)


def graph_menu(
    session: Session, tools: GraphTools, action: Callable[[str], QAction], parent: QWidget
) -> QMenu:
    """The menu of the selected node, edge, scope, or of the ground; entries that make no sense are grey."""
    menu = QMenu(parent)
    opened, selected = session.opened, session.selection
    if opened is None:
        return menu
    if selected.node is not None:
        _add_neighbours(menu, session, selected.node)
        ids: tuple[str, ...] = _NODE
    elif selected.tensor is not None:
        _add_ends(menu, session, _tr("Go to"), ends_of(opened.graph, selected.tensor))
        ids = _TENSOR
    elif selected.scope is not None:
        ids = _SCOPE
    else:
        ids = _GROUND
    for id_ in ids:
        if id_:
            menu.addAction(action(id_))
        else:
            menu.addSeparator()
    alike = tools.alike_scopes()
    if alike:
        tree = scope_tree(opened.graph)
        several = fill(_tr("Compare with one of {n} alike"), n=len(alike))
        blocks = menu.addMenu(_tr("Compare with the one alike") if len(alike) == 1 else several)
        for other in alike[:_MOST_ENDS]:
            blocks.addAction(tree.path(other)).triggered.connect(
                lambda _=False, o=other: tools.compare_block(o)
            )
    return menu


def _add_neighbours(menu: QMenu, session: Session, node: int) -> None:
    opened = session.opened
    assert opened is not None
    graph = opened.graph
    makers = [int(graph.producer_of[t]) for t in graph.inputs_of(node).tolist() if t >= 0]
    readers = [int(n) for t in graph.outputs_of(node).tolist() if t >= 0 for n in graph.consumers_of(t)]
    _add_ends(menu, session, _tr("Go to what it reads"), [m for m in makers if m >= 0])
    _add_ends(menu, session, _tr("Go to what reads it"), readers)
    menu.addSeparator()


def _add_ends(menu: QMenu, session: Session, title: str, nodes: list[int]) -> None:
    opened = session.opened
    ends = list(dict.fromkeys(nodes))[:_MOST_ENDS]
    if opened is None or not ends:
        return
    inner = menu.addMenu(title)
    for end in ends:
        text = f"{opened.graph.node_op[end]}  {opened.graph.label(end)[:60]}".replace("&", "&&")
        inner.addAction(text).triggered.connect(lambda _=False, n=end: session.go_to_node(n))
