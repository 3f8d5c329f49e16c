"""StartPage: what to do when nothing is open: drop a file, open one, take a recent one, try the sample."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from studio.ui.preferences import existing_recent
from studio.ui.session import Session
from studio.ui.texts import fill
from studio.ui.widgets.parts import button, heading, label
from studio.ui.widgets.row import Row

_MOST_RECENT = 5


class StartPage(QWidget):
    """The empty state of the whole window."""

    open_requested = Signal()
    sample_requested = Signal()
    path_chosen = Signal(str)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.setObjectName("Canvas")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAcceptDrops(True)
        column = QVBoxLayout()
        column.setSpacing(8)
        outer = QHBoxLayout(self)
        outer.setContentsMargins(32, 16, 32, 16)
        outer.addStretch(1)
        outer.addLayout(column, 6)
        outer.addStretch(1)
        column.addStretch(1)
        title = self.tr("Take a model to the phone, and know what will happen there")
        column.addWidget(label(title, "display", wrap=True))
        intro = self.tr(
            "See which operators every accelerator takes and why not the others, quantize and convert, "
            "measure on real devices. Everything stays on this computer."
        )
        column.addWidget(label(intro, "quiet", wrap=True))
        column.addSpacing(8)
        column.addWidget(self._make_drop_area())
        column.addSpacing(8)
        self._recent_heading = heading(self.tr("Recent"))
        column.addWidget(self._recent_heading)
        self._recent = QVBoxLayout()
        self._recent.setSpacing(2)
        column.addLayout(self._recent)
        column.addStretch(2)
        session.preferences_changed.connect(self.refresh)
        self.refresh()

    def _make_drop_area(self) -> QWidget:
        self._area = QFrame()
        self._area.setObjectName("DropArea")
        self._area.setMinimumHeight(140)
        inside = QVBoxLayout(self._area)
        inside.setContentsMargins(24, 16, 24, 16)
        inside.setSpacing(10)
        inside.addStretch(1)
        formats = self.tr("ONNX, PyTorch (.pt2, TorchScript, Python), TFLite, ExecuTorch, .ort, .studio")
        for text, role in ((self.tr("Drop a model or a project here"), "title"), (formats, "quiet")):
            line = label(text, role, wrap=True)
            line.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            inside.addWidget(line)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addStretch(1)
        row.addWidget(button(self.tr("Open…"), self.open_requested.emit, role="primary", icon_name="open"))
        row.addWidget(button(self.tr("Try the sample"), self.sample_requested.emit, icon_name="sample"))
        row.addStretch(1)
        inside.addLayout(row)
        inside.addStretch(1)
        return self._area

    def refresh(self) -> None:
        """Shows the recent files that are still there."""
        while (item := self._recent.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.hide()
                old.deleteLater()
        paths = existing_recent(self._session.preferences)[:_MOST_RECENT]
        self._recent_heading.setVisible(bool(paths))
        for path in paths:
            self._recent.addWidget(self._row_of(path))

    def _row_of(self, path: Path) -> Row:
        row = Row()
        row.show_texts(
            path.name,
            note=str(path.parent).replace(str(Path.home()), "~", 1),
            icon="app" if path.suffix == ".studio" else "file",
            icon_color="accent",
            tip=fill(self.tr("Open {path}"), path=path),
        )
        row.clicked.connect(lambda: self.path_chosen.emit(str(path)))
        return row

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Lights up for files."""
        if event.mimeData().hasUrls():
            event.acceptProposedAction()
            self._light(True)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        """Goes out again."""
        self._light(False)

    def dropEvent(self, event: QDropEvent) -> None:
        """Opens the first file."""
        self._light(False)
        for url in event.mimeData().urls():
            if url.isLocalFile():
                event.acceptProposedAction()
                self.path_chosen.emit(url.toLocalFile())
                return

    def _light(self, is_over: bool) -> None:
        self._area.setProperty("over", is_over)
        self._area.style().unpolish(self._area)
        self._area.style().polish(self._area)
