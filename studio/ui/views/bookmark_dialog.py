"""BookmarkDialog: the project's bookmarks: go there, rename, delete."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from studio.project import edit
from studio.project.project import Bookmark
from studio.ui.session import Session
from studio.ui.texts import fill
from studio.ui.widgets.dialog import Dialog
from studio.ui.widgets.parts import button, label

_NAME = Qt.ItemDataRole.UserRole


class BookmarkDialog(Dialog):
    """A list that follows the project; F2 renames, Delete deletes, Enter goes there."""

    chosen = Signal(object)
    """The Bookmark to go to."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.setWindowTitle(self.tr("Bookmarks"))
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 14)
        column.setSpacing(10)
        column.addWidget(label(self.tr("Bookmarks"), "title"))
        self._empty = label(
            self.tr("None yet. Select a node and add one with Ctrl+B; the project keeps it."),
            "quiet",
            wrap=True,
        )
        column.addWidget(self._empty)
        self.list = QListWidget()
        self.list.setAccessibleName(self.tr("Bookmarks"))
        self.list.setEditTriggers(QListWidget.EditTrigger.EditKeyPressed)
        self.list.itemChanged.connect(self._rename)
        self.list.itemActivated.connect(self._go)
        column.addWidget(self.list, 1)
        column.addStretch(0)  # without a list the words stay together at the top
        row = QHBoxLayout()
        self._buttons = (
            button(self.tr("Rename"), lambda: self.list.editItem(self.list.currentItem())),
            button(self.tr("Delete"), self.delete),
            button(self.tr("Go there"), lambda: self._go(self.list.currentItem()), role="primary"),
        )
        row.addWidget(self._buttons[0])
        row.addWidget(self._buttons[1])
        row.addStretch(1)
        row.addWidget(button(self.tr("Close"), self.reject))
        row.addWidget(self._buttons[2])
        column.addLayout(row)
        self.resize(440, 360)
        session.project_changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Lists the bookmarks of the project."""
        project = self._session.project
        row = max(self.list.currentRow(), 0)
        self.list.blockSignals(True)
        self.list.clear()
        for bookmark in project.bookmarks if project else ():
            item = QListWidgetItem(bookmark.name, self.list)
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsEditable)
            item.setData(_NAME, bookmark.name)
            item.setToolTip(f"{bookmark.stage} · {bookmark.node}")
        self.list.setCurrentRow(min(row, self.list.count() - 1))
        self.list.blockSignals(False)
        has_some = self.list.count() > 0
        self._empty.setVisible(not has_some)
        self.list.setVisible(has_some)
        for made in self._buttons:
            made.setEnabled(has_some)

    def delete(self) -> None:
        """Takes the chosen bookmark out of the project."""
        item = self.list.currentItem()
        if item is not None:
            name = item.data(_NAME)
            said = fill(self.tr("Delete bookmark {name}"), name=name)
            self._session.edit(lambda p: edit.remove_bookmark(p, name), said)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Delete deletes."""
        if event.key() == Qt.Key.Key_Delete:
            self.delete()
        else:
            super().keyPressEvent(event)

    def _rename(self, item: QListWidgetItem) -> None:
        before, after = item.data(_NAME), item.text().strip()
        if before == after:
            return
        said = fill(self.tr("Rename bookmark {name}"), name=before)
        if not self._session.edit(lambda p: edit.rename_bookmark(p, before, after), said):
            self.refresh()

    def _go(self, item: QListWidgetItem | None) -> None:
        found = self._bookmark(item)
        if found is not None:
            self.accept()
            self.chosen.emit(found)

    def _bookmark(self, item: QListWidgetItem | None) -> Bookmark | None:
        project = self._session.project
        name = item.data(_NAME) if item is not None else ""
        return next((b for b in (project.bookmarks if project else ()) if b.name == name), None)
