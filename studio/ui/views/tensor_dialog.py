"""TensorDialog: what is in a constant: figures, histogram, first values, export to `.npy`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QPlainTextEdit,
    QProgressBar,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from studio.jobs.job import Done, Failed
from studio.records import from_json
from studio.ui import theme
from studio.ui.domain_texts import translate_sentence
from studio.ui.look_jobs import read_tensor
from studio.ui.node_facts import quantization_text, tensor_type
from studio.ui.session import Session
from studio.ui.texts import fill
from studio.ui.views.step_texts import bytes_text
from studio.ui.widgets.dialog import Dialog
from studio.ui.widgets.parts import button, label

if TYPE_CHECKING:
    from studio.jobs.read_tensor import TensorRead


class TensorDialog(Dialog):
    """The values are read by a worker; the dialog shows what it found."""

    def __init__(self, session: Session, tensor: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session, self._tensor = session, tensor
        opened = session.opened
        assert opened is not None
        graph = opened.graph
        self._name = graph.tensor_name[tensor]
        self.setWindowTitle(self.tr("Tensor"))
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(20, 18, 20, 14)
        self._column.setSpacing(8)
        self._column.addWidget(label(self._name, "title", wrap=True, selectable=True))
        size = int(graph.tensor_bytes[tensor])
        about = [tensor_type(graph, tensor), bytes_text(size) if size >= 0 else ""]
        about.append(quantization_text(graph.tensor_quantization.get(tensor)))
        self._column.addWidget(label(" · ".join(a for a in about if a), "quiet", wrap=True, selectable=True))
        self._busy = QProgressBar()
        self._busy.setRange(0, 0)
        self._column.addWidget(self._busy)
        self._body = QVBoxLayout()
        self._column.addLayout(self._body, 1)
        row = QHBoxLayout()
        self._export = button(self.tr("Export .npy…"), self._ask_export, icon_name="save")
        self._export.setEnabled(False)
        row.addWidget(self._export)
        row.addStretch(1)
        close = button(self.tr("Close"), self.accept)
        close.setDefault(True)
        row.addWidget(close)
        self._column.addLayout(row)
        self.resize(520, 460)
        read_tensor(session, tensor, self._on_read)

    def _on_read(self, outcome: Done | Failed) -> None:
        from studio.jobs.read_tensor import TensorRead

        self._busy.hide()
        if isinstance(outcome, Failed):
            self._body.addWidget(
                label(translate_sentence(outcome.message), "bad", wrap=True, selectable=True)
            )
            self._body.addWidget(label(translate_sentence(outcome.hint), "quiet", wrap=True))
            return
        self._export.setEnabled(True)
        self._show(from_json(bytes(outcome.result), TensorRead, where="read_tensor"))

    def _show(self, read: TensorRead) -> None:
        found = read.statistics
        form = QFormLayout()
        form.setHorizontalSpacing(20)

        def add(name: str, value: str) -> None:
            text = label(value, selectable=True)
            text.setAlignment(Qt.AlignmentFlag.AlignRight)
            form.addRow(label(name, "quiet"), text)

        add(self.tr("Values"), f"{found.count:,}")
        if found.min is not None and found.max is not None:
            add(self.tr("Range"), f"{found.min:.6g} … {found.max:.6g}")
        if found.mean is not None and found.std is not None:
            add(self.tr("Mean ± std"), f"{found.mean:.6g} ± {found.std:.6g}")
        if found.count:
            add(self.tr("Zeros"), f"{found.zeros:,} ({100 * found.zeros / found.count:.1f} %)")
        if found.nans or found.infinities:
            add(self.tr("Not finite"), fill("{nan} NaN · {inf} ∞", nan=found.nans, inf=found.infinities))
        self._body.addLayout(form)
        if any(found.histogram):
            self._body.addWidget(Histogram(found.histogram, found.min or 0.0, found.max or 0.0))
        preview = QPlainTextEdit(", ".join(_value(v) for v in found.preview))
        preview.setReadOnly(True)
        preview.setMaximumHeight(84)
        preview.setAccessibleName(self.tr("First values"))
        self._body.addWidget(preview)

    def _ask_export(self) -> None:
        name = "".join(c if c.isalnum() or c in "._-" else "_" for c in self._name)[:80] or "tensor"
        path, _ = QFileDialog.getSaveFileName(
            self, self.tr("Export constant"), f"{name}.npy", "NumPy (*.npy)"
        )
        if path:
            read_tensor(self._session, self._tensor, lambda _outcome: None, export_path=path)


class Histogram(QWidget):
    """Bars with the range under them."""

    def __init__(self, counts: tuple[int, ...], low: float, high: float) -> None:
        super().__init__()
        self._counts, self._low, self._high = counts, low, high
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName(self.tr("Histogram"))

    def sizeHint(self) -> QSize:
        """A wide, low picture."""
        return QSize(400, 120)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draws the bars; heights are the square root of counts, so that tails can be seen."""
        colors = theme.current().colors
        painter = QPainter(self)
        tall = self.height() - 20
        largest = max(self._counts) ** 0.5
        wide = self.width() / len(self._counts)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colors.accent))
        for i, n in enumerate(self._counts):
            if n:
                height = max(1.0, tall * n**0.5 / largest)
                painter.drawRect(QRectF(i * wide, tall - height, max(1.0, wide - 1), height))
        painter.setPen(QColor(colors.quiet))
        line = QRectF(0, tall, self.width(), 20)
        painter.drawText(
            line, int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter), f"{self._low:.4g}"
        )
        painter.drawText(
            line, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), f"{self._high:.4g}"
        )
        middle = self.tr("height ∝ √count")
        painter.drawText(line, int(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignVCenter), middle)


def _value(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
