"""GraphView: one stage's graph with its search field; it keeps canvas and session in step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace
from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from studio.errors import StudioError
from studio.graph.layout import lay_out, places_of
from studio.graph.scopes import (
    bodies_of,
    depth_view,
    initial_view,
    reveal,
    scope_tree,
    toggle_bodies,
    toggle_scope,
)
from studio.graph.view import GraphView as ViewOfGraph
from studio.ui import fact_jobs
from studio.ui.canvas import GraphCanvas, Overlay, value_text
from studio.ui.graph_overlays import overlay_of
from studio.ui.icons import icon
from studio.ui.session import Selection, Session
from studio.ui.stages import OpenedGraph, Stage
from studio.ui.texts import fill
from studio.ui.views.compare_view import stage_title
from studio.ui.views.focus_strip import FocusStrip
from studio.ui.views.measured_panel import MeasuredPanel
from studio.ui.views.memory_curve import MemoryCurve
from studio.ui.waiting import waiting
from studio.ui.widgets.parts import icon_button, label

_SEARCH_MS = 80
_NOTE_MS = 8_000
_MANY_BOXES = 10_000  # of a drawing; laying out more is felt
_FINE_UNITS = ("s", "%")
_ROOM_FOR_BUTTONS = 80  # pixels that the search field can spare before back and forward return
_ROOM_FOR_HINT = 240  # pixels of the search field
MEASURED = ("latency", "error")
"""Overlays that have something to show only after a job has measured it."""


class GraphView(QWidget):
    """The canvas of one stage. Selection goes both ways; a scope that is toggled is laid out anew."""

    beside_requested = Signal()
    """Open another file beside the project."""

    def __init__(self, session: Session, stage: Stage, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("Canvas")
        self._session = session
        self._stage = stage
        self._note = ""
        self._note_timer = QTimer(self)
        self._note_timer.setSingleShot(True)
        self._note_timer.setInterval(_NOTE_MS)
        self._note_timer.timeout.connect(self._forget_note)
        self._focus: tuple[str, npt.NDArray[np.bool_]] | None = None
        self._found: npt.NDArray[np.bool_] | None = None
        self.canvas = GraphCanvas(self)
        self.strip = FocusStrip(self)
        self.curve = MemoryCurve(self)
        self.curve.hide()
        self.measured = MeasuredPanel(self)
        self.measured.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.strip)
        column.addWidget(self.canvas, 1)
        column.addWidget(self.curve)
        column.addWidget(self.measured)
        self.strip.cleared.connect(self.clear_focus)
        self.strip.threshold_changed.connect(self._refresh_dim)
        self.curve.node_chosen.connect(session.go_to_node)
        self.measured.node_chosen.connect(session.go_to_node)
        self.measured.again_requested.connect(self._measure_again)
        self.bar = self._make_bar()
        """Back, forward, search, fit: whoever places the view places it too."""
        self._search_timer = QTimer(self)
        self._search_timer.setSingleShot(True)
        self._search_timer.setInterval(_SEARCH_MS)
        self._search_timer.timeout.connect(self.search_now)
        self.canvas.node_selected.connect(self._on_node)
        self.canvas.tensor_selected.connect(session.select_tensor)
        self.canvas.scope_selected.connect(self._on_scope)
        self.canvas.scope_toggled.connect(self.toggle_scope)
        self.canvas.subgraph_requested.connect(self.show_subgraph)
        self.canvas.node_activated.connect(self._on_activated)
        self.canvas.history_changed.connect(self._refresh_history)
        session.stage_opened.connect(self._on_opened)
        session.layout_changed.connect(self._on_layout)
        session.target_changed.connect(self.refresh_overlay)
        session.overlay_changed.connect(self.refresh_overlay)
        session.facts_changed.connect(self.refresh_overlay)
        session.jobs_changed.connect(self._refresh_offer)
        session.selection_changed.connect(self._on_selection)
        session.node_requested.connect(self._on_node_requested)
        self._show()

    @property
    def is_current(self) -> bool:
        """Whether this stage is the one that is looked at."""
        return self._session.current_stage is self._stage

    def focus_search(self) -> None:
        """Puts the cursor into the search field."""
        self._field.setFocus()
        self._field.selectAll()

    def search_now(self) -> None:
        """Marks what the text finds, or says that it finds nothing."""
        text = self._field.text().strip()
        opened = self._stage.opened
        self._found = None
        if opened is None or not text:
            self.canvas.set_matches([])
            self._count.setText("")
            self._refresh_dim()
            return
        from studio.graph.search import search

        try:
            found = search(opened.graph, text)
        except StudioError as error:
            self.canvas.set_matches([])
            self._count.setText(error.message)
            self._refresh_dim()
            return
        self.canvas.set_matches(found)
        self._found = _mask(opened.graph.node_count, found)
        self._refresh_dim()
        n = len(found)
        self._count.setText(self.tr("nothing") if n == 0 else fill(self.tr("{n} found"), n=f"{n:,}"))

    def refresh_overlay(self, *_: object) -> None:
        """Colours the graph for the current target and overlay."""
        opened = self._stage.opened
        if opened is None:
            return
        session = self._session
        self.canvas.set_overlay(overlay_of(opened, session.overlay, session.target_id))
        has_curve = session.overlay == "memory" and opened.costs is not None
        if has_curve and opened.costs is not None:
            self.curve.set_bytes(opened.graph, opened.costs.live_bytes)
            self.curve.select_node(session.selection.node)
        self.curve.setVisible(has_curve)
        self._refresh_measured(opened)
        self._refresh_dim()

    def _refresh_measured(self, opened: OpenedGraph) -> None:
        """The list under the graph, for the overlays that were measured."""
        overlay = self._session.overlay
        if overlay == "latency" and opened.profile is not None:
            self.measured.show_profile(opened.graph, opened.profile)
        elif overlay == "error" and opened.layer_errors is not None:
            self.measured.show_errors(opened.graph, opened.layer_errors)
        else:
            self.measured.hide()
            return
        self.measured.select_node(self._session.selection.node if self.is_current else None)
        self.measured.show()

    def offer_measuring(self) -> None:
        """Shows the buttons that measure what the overlay shows, also where it was measured before."""
        if self._session.overlay in MEASURED:
            self.strip.show_offer(*self._offer_of(self._session.overlay))

    def _measure_again(self) -> None:
        if self._session.overlay == "latency" and not fact_jobs.phones(self._session):
            fact_jobs.profile_nodes(self._session)
        else:
            self.offer_measuring()

    def _refresh_offer(self) -> None:
        """What is missing for the overlay, when it has nothing to show."""
        if self._session.overlay in MEASURED and self.is_current:
            self._refresh_dim()

    def _offer_of(self, overlay: str) -> tuple[str, list[tuple[str, Callable[[], object]]]]:
        """What to say of an overlay that was not measured, and the buttons that measure it."""
        session = self._session
        if overlay == "latency":
            if fact_jobs.is_running(session, "profile_nodes"):
                return self.tr("The nodes are being timed…"), []
            if not fact_jobs.can_profile(session):
                return self.tr("The nodes of this kind of file cannot be timed on this computer."), []
            start = self.tr("Profile on This computer")
            places: list[tuple[str, Callable[[], object]]] = [
                (start, partial(fact_jobs.profile_nodes, session))
            ]
            for phone in fact_jobs.phones(session)[:2]:
                title = fill(self.tr("Profile on {device}"), device=phone.name)
                places.append((title, partial(fact_jobs.profile_nodes, session, phone.id)))
            known = session.opened is not None and session.opened.profile is not None
            words = self.tr("Time the nodes again.") if known else self.tr("This file was not profiled yet.")
            return words, places
        if fact_jobs.is_running(session, "compare_layers"):
            return self.tr("The layers are being compared…"), []
        if not fact_jobs.can_compare(session):
            return self.tr(
                "This kind of file does not show its inner results: compare the file it was made from."
            ), []
        others = fact_jobs.partners(session)
        if not others:
            words = self.tr(
                "Nothing to compare with: the error of layers needs a second .onnx or .tflite file."
            )
            return words, [(self.tr("Open beside…"), self.beside_requested.emit)]
        steps = {s.id: s for s in session.project.recipe.steps} if session.project else {}
        offers: list[tuple[str, Callable[[], object]]] = []
        for other in others[:3]:
            title = fill(self.tr("Compare with {stage}"), stage=stage_title(other, steps.get(other.id)))
            offers.append((title, partial(fact_jobs.compare_layers, session, other)))
        return self.tr("Compare the layers of this file, on the project's data where it names some."), offers

    def toggle_scope(self, scope: int) -> None:
        """Opens or closes a scope, or closes an opened body, and keeps what is in sight where it is."""
        opened = self._stage.opened
        if opened is None:
            return
        body = scope - scope_tree(opened.graph).size
        if body >= 0:
            self.toggle_bodies(opened.graph.subgraphs[body].parent_node)
        else:
            self.canvas.hold_scope(scope)
            self._lay_out(toggle_scope(opened.view, scope))

    def toggle_bodies(self, node: int) -> None:
        """Opens what hangs on a node (branches, a loop's body, a delegate) in place, or closes it."""
        opened = self._stage.opened
        if opened is not None and bodies_of(opened.graph, node):
            self._lay_out(toggle_bodies(opened.graph, opened.view, node))

    def focus_on(self, nodes: Sequence[int], words: str) -> None:
        """Fades all but these nodes, says why, and brings them into sight."""
        opened = self._stage.opened
        if opened is None or not len(nodes):
            return
        view = opened.view
        for node in nodes:
            view = reveal(opened.graph, view, node)
        if view != opened.view:
            self._lay_out(view)
        self._focus, self._note = (words, _mask(opened.graph.node_count, nodes)), ""
        self._refresh_dim()
        self.canvas.zoom_to(nodes)

    def say(self, words: str) -> None:
        """Says something in the line over the graph for a while."""
        self._note = words
        self._refresh_dim()
        self._note_timer.start()

    def _forget_note(self) -> None:
        self._note = ""
        self._refresh_dim()

    def clear_focus(self) -> None:
        """Shows everything at full strength again."""
        self._focus, self._note = None, ""
        self._only_found.setChecked(False)
        self.strip.reset_threshold()
        self._refresh_dim()

    @property
    def is_focused(self) -> bool:
        """Whether a part of the graph is faded."""
        return self._focus is not None or self.strip.share > 0 or self._only_found.isChecked()

    def _refresh_dim(self, *_: object) -> None:
        """Fades by the focus, else by the search, else by the threshold of an overlay of figures."""
        overlay = self.canvas.overlay
        if self._note:
            self.strip.show_words(self._note, can_clear=self.is_focused)
        elif self._focus is not None:
            self.strip.show_words(self._focus[0])
            self.canvas.set_dimmed(~self._focus[1])
        elif self._only_found.isChecked() and self._found is not None and self._found.any():
            self.strip.show_words(self.tr("Only what the search finds is at full strength"))
            self.canvas.set_dimmed(~self._found)
        elif overlay is not None and overlay.values is not None and overlay.largest > 0:
            self._show_threshold(overlay)
        elif overlay is None and self._session.overlay in MEASURED and self._stage.opened is not None:
            self.strip.show_offer(*self._offer_of(self._session.overlay))
            self.canvas.set_dimmed(None)
        else:
            self.strip.hide()
            self.canvas.set_dimmed(None)

    def _show_threshold(self, overlay: Overlay) -> None:
        share = self.strip.share
        bright = overlay.above(share)
        if share <= 0:
            bright = np.ones(len(bright), np.bool_)  # nodes without a figure as well
        limit = value_text(_limit(share, overlay), overlay.unit)
        self.strip.show_threshold(int(bright.sum()), len(bright), limit)
        self.canvas.set_dimmed(~bright if share > 0 else None)

    def show_depth(self, depth: int) -> None:
        """Closes every scope at `depth` and deeper; 0 opens all."""
        opened = self._stage.opened
        if opened is not None:
            self._lay_out(depth_view(opened.graph, opened.view, depth))

    def show_subgraph(self, subgraph: int) -> None:
        """Looks into a body, or (0) at the main graph."""
        opened = self._stage.opened
        if opened is not None:
            self._lay_out(initial_view(opened.graph, subgraph))

    def toggle_hidden(self, kind: str) -> None:
        """Shows or hides a kind of nodes: "hide_constants" or "hide_shape_arithmetic"."""
        opened = self._stage.opened
        if opened is not None:
            self._lay_out(replace(opened.view, **{kind: not getattr(opened.view, kind)}))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Esc in the search field gives the keys back to the graph; whoever goes there is about to search.
        What can be searched for is said where there is room for it."""
        if event.type() is QEvent.Type.Resize:
            self._make_room_in_bar()
            hint = self.tr("Search: Conv, op:Resize, MatMul → * → Softmax")
            self._field.setToolTip(hint)
            has_room = self._field.width() > _ROOM_FOR_HINT
            self._field.setPlaceholderText(hint if has_room else self.tr("Search"))
        if event.type() is QEvent.Type.FocusIn and self._stage.opened is not None:
            from studio.graph.search import prepare_search

            prepare_search(self._stage.opened.graph)
        if isinstance(event, QKeyEvent) and event.type() is QEvent.Type.KeyPress:
            is_escape = event.key() == Qt.Key.Key_Escape
            if is_escape:
                self._field.clear()
                self.canvas.setFocus()
            return is_escape
        return super().eventFilter(watched, event)

    def _make_bar(self) -> QWidget:
        bar = QWidget()
        row = QHBoxLayout(bar)
        row.setContentsMargins(0, 0, 0, 2)
        row.setSpacing(2)
        self._back = icon_button("previous", self.tr("Back to the last place"), self.canvas.go_back)
        self._forward = icon_button("next", self.tr("Forward"), self.canvas.go_forward)
        self._field = QLineEdit()
        self._field.setAccessibleName(self.tr("Search the graph"))
        self._field.addAction(icon("search", "quiet"), QLineEdit.ActionPosition.LeadingPosition)
        self._field.setClearButtonEnabled(True)
        self._field.setMinimumWidth(100)
        self._field.setMaximumWidth(320)
        self._field.installEventFilter(self)
        self._field.textChanged.connect(lambda _t: self._search_timer.start())
        self._field.returnPressed.connect(self._next)
        self._count = label("", "small")
        self._only_found = icon_button(
            "filter", self.tr("Fade what the search does not find"), self._refresh_dim
        )
        self._only_found.setCheckable(True)
        fit = icon_button("fit", self.tr("Show the whole graph (0)"), self.canvas.fit)
        for widget in (self._back, self._forward, self._field, self._only_found, self._count, fit):
            row.addWidget(widget)
        self._refresh_history()
        return bar

    def _make_room_in_bar(self) -> None:
        """Leaves back and forward to the menu and their keys where the tabs would not be seen whole."""
        width, least = self._field.width(), self._field.minimumWidth()
        is_narrow = width <= least + (0 if self._back.isVisibleTo(self.bar) else _ROOM_FOR_BUTTONS)
        for shown in (self._back, self._forward):
            shown.setVisible(not is_narrow)

    def _next(self) -> None:
        if self._search_timer.isActive():
            self._search_timer.stop()
            self.search_now()
        self.canvas.next_match()

    def _refresh_history(self) -> None:
        self._back.setEnabled(self.canvas.can_go_back)
        self._forward.setEnabled(self.canvas.can_go_forward)

    def _show(self) -> None:
        opened = self._stage.opened
        if opened is None:
            return
        self.canvas.set_view(opened.graph, opened.layout, subgraph=opened.view.subgraph)
        self.refresh_overlay()

    def _lay_out(self, view: ViewOfGraph) -> None:
        opened = self._stage.opened
        if opened is None:
            return
        # a drawing of many boxes takes some tenths of a second: when it is shown now, or all is opened
        open_boxes = len(opened.layout.item_x) if view.collapsed else opened.graph.node_count
        with waiting(open_boxes > _MANY_BOXES):
            layout = lay_out(opened.graph, view, places_of(opened.layout))
        if self.is_current:
            self._session.set_view(view, layout)
        else:
            opened.view, opened.layout = view, layout
            self._show()

    def _on_opened(self, stage_id: str) -> None:
        if stage_id == self._stage.id:
            if self._stage.opened is not None and self._stage.opened.graph is not self.canvas.scene.graph:
                self._focus = self._found = None
            self._show()

    def _on_layout(self, stage_id: str) -> None:
        if stage_id == self._stage.id:
            self._show()

    def _on_node(self, node: int) -> None:
        if self.is_current:
            self._session.select_node(node if node >= 0 else None)

    def _on_scope(self, scope: int) -> None:
        if self.is_current:
            self._session.select_scope(scope)

    def _on_activated(self, node: int) -> None:
        """Opens the bodies that hang on a node, when there are some."""
        self.toggle_bodies(node)

    def _on_selection(self) -> None:
        if not self.is_current:
            return
        selection: Selection = self._session.selection
        if selection.node is not None and selection.node != self.canvas.selected_node:
            self._reveal(selection.node)
            self.canvas.select(selection.node)
        elif selection == Selection():
            self.canvas.select(None)
        self.curve.select_node(selection.node)
        if self.measured.isVisible():
            self.measured.select_node(selection.node)

    def _on_node_requested(self, node: int) -> None:
        if self.is_current:
            self._reveal(node)
            self.canvas.select(node, center=True)

    def _reveal(self, node: int) -> None:
        """Goes into the body where a node is, and opens the scopes around it."""
        opened = self._stage.opened
        if opened is None or not 0 <= node < opened.graph.node_count:
            return
        view = reveal(opened.graph, opened.view, node)
        if view != opened.view:
            self._lay_out(view)


def _limit(share: float, overlay: Overlay) -> float:
    """The figure at which the threshold stands; counts are whole."""
    limit = share * overlay.largest
    return limit if overlay.unit in _FINE_UNITS else float(np.ceil(limit))


def _mask(size: int, nodes: Sequence[int] | npt.NDArray[np.integer]) -> npt.NDArray[np.bool_]:
    result = np.zeros(size, np.bool_)
    result[np.asarray(nodes, np.int64)] = True
    return result
