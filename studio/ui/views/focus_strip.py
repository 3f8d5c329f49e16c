"""FocusStrip: says why a part of the graph is faded, lets the threshold be moved, and ends it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSlider, QWidget

from studio.ui.texts import fill
from studio.ui.widgets.parts import button, label

STEPS = 1000


class FocusStrip(QFrame):
    """A line over the graph: the words and *Show all*, or a slider for an overlay of figures."""

    cleared = Signal()
    threshold_changed = Signal(float)
    """The share of the largest figure (0..1) below which nodes are faded."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("FocusStrip")
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 2, 12, 2)
        row.setSpacing(10)
        self._words = label("", "quiet")
        self._slider = QSlider(Qt.Orientation.Horizontal)
        self._slider.setRange(0, STEPS)
        self._slider.setFixedWidth(180)
        self._slider.setAccessibleName(self.tr("Fade nodes below this figure"))
        self._slider.valueChanged.connect(lambda _v: self.threshold_changed.emit(self.share))
        self._name = label(self.tr("Fade below"), "quiet")
        self._clear = button(self.tr("Show all"), self.cleared.emit, role="link")
        policy = self._clear.sizePolicy()
        policy.setRetainSizeWhenHidden(True)  # else the graph jumps while the slider is moved
        self._clear.setSizePolicy(policy)
        row.addWidget(self._name)
        row.addWidget(self._slider)
        row.addWidget(self._words, 1)
        self._offers = QHBoxLayout()
        self._offers.setSpacing(8)
        row.addLayout(self._offers)
        row.addWidget(self._clear)
        self.hide()

    @property
    def share(self) -> float:
        """The chosen share of the largest figure. The scale is cubic: costs are lopsided."""
        return (self._slider.value() / STEPS) ** 3

    def show_words(self, words: str, *, can_clear: bool = True) -> None:
        """Why nodes are faded, or (nothing to clear) something to be known."""
        self._show(words, has_slider=False, can_clear=can_clear)

    def show_threshold(self, shown: int, total: int, limit: str) -> None:
        """How many nodes reach the limit that the slider stands at."""
        words = fill(
            self.tr("{limit} · {shown} of {total} nodes"), limit=limit, shown=f"{shown:,}", total=f"{total:,}"
        )
        self._show(words, has_slider=True, can_clear=self._slider.value() > 0)

    def show_offer(self, words: str, offers: Sequence[tuple[str, Callable[[], object]]] = ()) -> None:
        """What is missing, and a button for each way to get it; the first is the likeliest."""
        self._show(words, has_slider=False, can_clear=False)
        for place, (title, run) in enumerate(offers):
            made = button(title, run, role="" if place else "primary")
            self._offers.addWidget(made)
            made.show()

    def reset_threshold(self) -> None:
        """Back to where nothing is faded."""
        self._slider.setValue(0)

    def _show(self, words: str, *, has_slider: bool, can_clear: bool) -> None:
        while (old := self._offers.takeAt(0)) is not None:
            widget = old.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        self._words.setText(words)
        self._name.setVisible(has_slider)
        self._slider.setVisible(has_slider)
        self._clear.setVisible(can_clear)
        self.show()
