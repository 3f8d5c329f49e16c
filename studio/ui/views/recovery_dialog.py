"""RecoveryDialog: the studio ended without saving; take up where it was?"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QHBoxLayout, QListWidget, QVBoxLayout, QWidget

from studio.ui.session import Session
from studio.ui.widgets.dialog import Dialog
from studio.ui.widgets.parts import button, label

if TYPE_CHECKING:
    from studio.project.recovery import Recovered


class RecoveryDialog(Dialog):
    """Lists what was not saved; one can be restored, all can be given up, or all left for later."""

    def __init__(self, session: Session, found: tuple[Recovered, ...], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Restore unsaved work"))
        self._session = session
        self._found = found
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 20, 20, 16)
        column.setSpacing(10)
        column.addWidget(label(self.tr("The studio ended before this was saved"), "title"))
        self._list = QListWidget()
        self._list.setAccessibleName(self.tr("Unsaved projects"))
        for recovered in found:
            where = recovered.project_path or recovered.folder
            self._list.addItem(f"{recovered.project.name}  ·  {local_time(recovered.saved_at)}  ·  {where}")
        self._list.setCurrentRow(0)
        self._list.itemDoubleClicked.connect(lambda _item: self.accept())
        column.addWidget(self._list)
        row = QHBoxLayout()
        row.addWidget(button(self.tr("Give all up"), self._give_up, role="link"))
        row.addStretch(1)
        row.addWidget(button(self.tr("Later"), self.reject))
        restore = button(self.tr("Restore"), self.accept, role="primary")
        restore.setDefault(True)
        row.addWidget(restore)
        column.addLayout(row)
        self.setMinimumWidth(560)
        self.accepted.connect(self._restore)

    def _restore(self) -> None:
        row = self._list.currentRow()
        if 0 <= row < len(self._found):
            self._session.recover(self._found[row])

    def _give_up(self) -> None:
        from studio.project.recovery import forget

        for recovered in self._found:
            forget(recovered)
        self.reject()


def local_time(saved_at: str) -> str:
    """ "2026-12-01 09:30" by the clock of this computer, from the file's time; as it is when it is none."""
    try:
        return datetime.fromisoformat(saved_at).astimezone().strftime("%Y-%m-%d %H:%M")
    except ValueError:
        return saved_at
