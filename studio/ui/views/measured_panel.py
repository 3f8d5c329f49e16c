"""MeasuredPanel: the slowest nodes or the worst layers, under the graph; a click goes to the node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from studio.graph import Graph
from studio.graph.labels import percent_text
from studio.measure.layer_errors import LayerErrors, relative_error, worst_first
from studio.measure.node_profile import NodeLatency, NodeProfile, Statistic
from studio.ui.canvas.measured import inference_text, sqnr_text, time_text
from studio.ui.domain_texts import translate_sentence
from studio.ui.texts import fill
from studio.ui.widgets.parts import button, label

_MOST_ROWS = 300
_HEIGHT = 190


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the list and the node that a click on it goes to, −1 = none."""

    texts: tuple[str, ...]
    node: int
    tip: str = ""


class MeasuredPanel(QFrame):
    """A head with how it was measured, and a list ordered by what it costs."""

    node_chosen = Signal(int)
    again_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("MeasuredPanel")
        self.setFixedHeight(_HEIGHT)
        self._head = label("", "", wrap=True, selectable=True)
        self._warning = label("", "warn", wrap=True, selectable=True)
        self._note = label("", "small", wrap=True, selectable=True)
        self._again = button(self.tr("Measure again"), self.again_requested.emit, role="link")
        self._list = QTreeWidget()
        self._list.setAccessibleName(self.tr("The worst nodes"))
        self._list.setRootIsDecorated(False)
        self._list.setUniformRowHeights(True)
        self._list.setAlternatingRowColors(False)
        self._list.setFrameShape(QFrame.Shape.NoFrame)
        self._list.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self._list.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self._list.itemClicked.connect(self._go)
        self._list.itemActivated.connect(self._go)
        top = QHBoxLayout()
        top.setContentsMargins(12, 6, 8, 2)
        top.setSpacing(12)
        words = QVBoxLayout()
        words.setSpacing(0)
        words.addWidget(self._head)
        words.addWidget(self._warning)
        words.addWidget(self._note)
        top.addLayout(words, 1)
        top.addWidget(self._again, 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(top)
        column.addWidget(self._list, 1)

    def sizeHint(self) -> QSize:
        """A wide, low strip."""
        return QSize(600, _HEIGHT)

    @property
    def rows(self) -> int:
        """How many lines the list has."""
        return self._list.topLevelItemCount()

    def show_profile(self, graph: Graph, profile: NodeProfile) -> None:
        """The nodes by falling time, then what belongs to no node."""
        columns = ("p50", "p90") if profile.statistic is Statistic.P50 else (self.tr("Mean"),)
        self._head.setText(
            fill(
                self.tr("One inference {p50} · {total} in kernels while profiled, {share} of it by node"),
                total=time_text(profile.sum_ms),
                share=percent_text(profile.attributed, 0),
                p50=inference_text(profile.latency_ms),
            )
        )
        cost = fill(self.tr("{p50} with the profiler on"), p50=inference_text(profile.profiled_ms))
        n = profile.threads
        threads = self.tr("1 thread") if n == 1 else fill(self.tr("{n} threads"), n=n)
        runs = fill(self.tr("{n} inferences"), n=profile.profiled_ms.n)
        parts = (
            profile.target_ran, profile.runtime, self._device(profile), threads, runs, cost,
            translate_sentence(profile.inputs), _date(profile.wall_time),
        )  # fmt: skip
        self._note.setText(" · ".join(parts))
        self._warn(profile.notes)
        rows = [
            Row(
                (
                    graph.label(time.nodes[0]),
                    time.op,
                    *_figures(time.latency_ms, profile.statistic),
                    self.tr("inside") if time.is_inside else percent_text(time.share),
                    fill(self.tr("fused with {n}"), n=len(time.nodes) - 1) if len(time.nodes) > 1 else "",
                ),
                time.nodes[0],
                "\n".join(time.names),
            )
            for time in profile.nodes
            if time.nodes[0] < graph.node_count
        ]
        rows += [
            Row(
                (
                    f"{row.op} ×{row.kernels}",
                    self.tr("no node"),
                    *_figures(row.latency_ms, profile.statistic),
                    self.tr("inside") if row.is_inside else percent_text(row.share),
                    translate_sentence(row.why),
                ),
                -1,
            )
            for row in profile.runtime_work
        ]
        order = {id(r): k for k, r in enumerate(rows)}
        nodes = [r for r in rows if r.node >= 0][:_MOST_ROWS]
        work = [r for r in rows if r.node < 0]
        self._fill(
            (self.tr("Node"), self.tr("Operator"), *columns, self.tr("Share"), self.tr("Remark")),
            sorted([*nodes, *work], key=lambda r: order[id(r)]),
            numbers=tuple(range(2, 3 + len(columns))),
        )
        self._list.setAccessibleName(self.tr("Slowest nodes"))

    def _device(self, profile: NodeProfile) -> str:
        if not profile.is_simulated:
            return profile.device_name
        return fill(self.tr("{device} (simulated)"), device=profile.device_name)

    def show_errors(self, graph: Graph, errors: LayerErrors) -> None:
        """The layers by falling error."""
        is_first = errors.a.sha256 == graph.file_sha256
        worst = worst_first(errors.layers)
        if worst:
            said = fill(
                self.tr("Worst layer: SQNR {sqnr} · {n} layers compared"),
                sqnr=sqnr_text(worst[0]),
                n=f"{len(worst):,}",
            )
        else:
            said = self.tr("No layer could be compared.")
        self._head.setText(said)
        between = fill(self.tr("{made} against {original}"), made=errors.b.file, original=errors.a.file)
        inputs = translate_sentence(errors.inputs)
        if not errors.is_real:
            inputs = fill(self.tr("made-up inputs, real data tells more: {inputs}"), inputs=inputs)
        parts = [between, fill(self.tr("{n} samples"), n=errors.samples), inputs, _date(errors.wall_time)]
        if errors.unmatched:
            parts.insert(1, fill(self.tr("{n} without a counterpart"), n=errors.unmatched))
        if errors.incomparable:
            parts.insert(1, fill(self.tr("{n} of another size or scale"), n=errors.incomparable))
        self._note.setText(" · ".join(parts))
        self._warn(errors.notes)
        rows = [
            Row(
                (
                    layer.name_a if is_first else layer.name_b,
                    layer.op,
                    sqnr_text(layer),
                    f"{_three(relative_error(layer))} %",
                    f"{layer.cosine:.5f}",
                    _three(layer.mean_abs),
                    _three(layer.max_abs),
                ),
                layer.node_a if is_first else layer.node_b,
                f"{layer.name_a} ↔ {layer.name_b}",
            )
            for layer in worst[:_MOST_ROWS]
        ]
        self._fill(
            (
                self.tr("Layer"), self.tr("Operator"), "SQNR", self.tr("Error"), self.tr("Cosine"),
                self.tr("Mean error"), self.tr("Largest"),
            ),
            rows,
            numbers=(2, 3, 4, 5, 6),
        )  # fmt: skip
        self._list.setAccessibleName(self.tr("Worst layers"))

    def _warn(self, notes: Sequence[str]) -> None:
        self._warning.setText(" ".join(translate_sentence(note) for note in notes))
        self._warning.setVisible(bool(notes))

    def select_node(self, node: int | None) -> None:
        """Marks the line of a node without going there."""
        self._list.clearSelection()
        for k in range(self._list.topLevelItemCount() if node is not None else 0):
            item = self._list.topLevelItem(k)
            if item is not None and item.data(0, Qt.ItemDataRole.UserRole) == node:
                item.setSelected(True)
                self._list.scrollToItem(item)
                return

    def _fill(self, titles: Sequence[str], rows: Sequence[Row], *, numbers: tuple[int, ...]) -> None:
        self._list.clear()
        self._list.setColumnCount(len(titles))
        self._list.setHeaderLabels(list(titles))
        for row in rows:
            item = QTreeWidgetItem(list(row.texts))
            item.setData(0, Qt.ItemDataRole.UserRole, row.node)
            item.setToolTip(0, row.tip or row.texts[0])
            for column in numbers:
                item.setTextAlignment(column, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            self._list.addTopLevelItem(item)
        head = self._list.headerItem()
        for column in range(len(titles)):
            side = Qt.AlignmentFlag.AlignRight if column in numbers else Qt.AlignmentFlag.AlignLeft
            head.setTextAlignment(column, side | Qt.AlignmentFlag.AlignVCenter)
        header = self._list.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)

    def _go(self, item: QTreeWidgetItem) -> None:
        node = item.data(0, Qt.ItemDataRole.UserRole)
        if isinstance(node, int) and node >= 0:
            self.node_chosen.emit(node)


def _figures(latency: NodeLatency, statistic: Statistic) -> tuple[str, ...]:
    """p50 and p90, or the mean alone where no more is told."""
    if statistic is Statistic.MEAN or latency.p50 is None or latency.p90 is None:
        return (time_text(latency.mean),)
    return time_text(latency.p50), time_text(latency.p90)


def _three(value: float) -> str:
    """Three figures, zeros at the end included: numbers below each other are compared."""
    return "∞" if value == float("inf") else f"{value:#.3g}".rstrip(".")


def _date(wall_time: str) -> str:
    """The date and minute of an ISO time, UTC."""
    return wall_time[:16].replace("T", " ") + " UTC"
