"""DataField: real inputs: a folder of pictures or an array file, what it holds, and whether that fits."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace
from PySide6.QtCore import QEvent, Signal
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from studio.errors import InputError
from studio.project import DataSet
from studio.project.places import relative_to_folder
from studio.recipes.data_summary import DataSummary, describe_data
from studio.ui.domain_texts import translate_sentence
from studio.ui.session import Session
from studio.ui.texts import fill, translate
from studio.ui.widgets.parts import button, label, set_role


class DataField(QWidget):
    """Edits one DataSet; `changed` carries the new one, None when it was emptied."""

    changed = Signal(object)
    looked_for_again = Signal()
    """The person comes back to the window, and what was wrong with the data may be mended by now."""

    def __init__(self, session: Session, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._data: DataSet | None = None
        self._described: tuple[DataSet | None, str] = (None, "")
        self.problem = ""
        """Why the data cannot be used; empty when it can, or when none is named."""
        self.summary: DataSummary | None = None
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(3)
        row = QHBoxLayout()
        row.setSpacing(6)
        self.path = QLineEdit()
        self.path.setAccessibleName(name)
        self.path.setMinimumWidth(90)
        self.path.setPlaceholderText(self.tr("pictures/ or data.npz, inside the project's folder"))
        self.path.editingFinished.connect(self._on_typed)
        row.addWidget(self.path, 1)
        for text, choose in (
            (self.tr("Folder…"), self._choose_folder),
            (self.tr("File…"), self._choose_file),
        ):
            browse = button(text, choose)
            browse.setAutoDefault(False)
            row.addWidget(browse)
        column.addLayout(row)
        self._says = label("", "small", wrap=True)
        column.addWidget(self._says)

    def show_data(self, data: DataSet | None) -> None:
        """Shows the data set and looks at what is there."""
        self._data = data
        if not self.path.hasFocus() or not self.path.isModified():
            self.path.setText(data.path if data else "")
        folder = str(self._session.folder)
        if self._described != (data, folder) or self.problem:
            self._described = (data, folder)
            self._describe(data)

    def event(self, event: QEvent) -> bool:
        """Looks again for data that was missing when the window is come back to."""
        if event.type() is QEvent.Type.WindowActivate and self.problem:
            self.looked_for_again.emit()
        return super().event(event)

    def _describe(self, data: DataSet | None) -> None:
        self.problem, self.summary = "", None
        if data is None or self._session.folder is None:
            self._say(self.tr("None named."), "small")
            return
        try:
            self.summary = describe_data(data, self._session.folder)
        except InputError as error:
            self.problem = translate_sentence(error.message)
            self._say(f"{self.problem} {translate_sentence(error.hint)}".strip(), "bad")
            return
        self._say(summary_text(self.summary), "small")

    def _say(self, text: str, role: str) -> None:
        self._says.setText(text)
        set_role(self._says, role)

    def _on_typed(self) -> None:
        self.path.setModified(False)
        self._take(self.path.text().strip())

    def _choose_folder(self) -> None:
        found = QFileDialog.getExistingDirectory(
            self, self.tr("Folder of pictures"), str(self._session.folder)
        )
        self._take_absolute(found)

    def _choose_file(self) -> None:
        filters = self.tr("Arrays (*.npz *.npy)")
        found, _ = QFileDialog.getOpenFileName(
            self, self.tr("Array file"), str(self._session.folder), filters
        )
        self._take_absolute(found)

    def _take_absolute(self, path: str) -> None:
        if path and self._session.folder is not None:
            with self._session.telling_failures():
                self._take(relative_to_folder(Path(path), self._session.folder))

    def _take(self, path: str) -> None:
        if path == (self._data.path if self._data else ""):
            return
        if not path:
            self.changed.emit(None)
        else:
            self.changed.emit(replace(self._data, path=path) if self._data else DataSet(path=path))


def summary_text(summary: DataSummary) -> str:
    """ "200 pictures, 32×32", "400 samples, uint8 32×32, with labels"."""
    size = "×".join(str(n) for n in summary.shape)
    if summary.kind == "pictures":
        text = fill(translate("DataField", "{n} pictures, the first is {size}"), n=summary.count, size=size)
    else:
        text = fill(
            translate("DataField", "{n} samples, {dtype} {size}"),
            n=summary.count,
            dtype=summary.dtype,
            size=size,
        )
    if summary.has_labels:
        text += ", " + translate("DataField", "with labels")
    return text
