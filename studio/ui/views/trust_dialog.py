"""TrustDialog: may Python in this folder run? The person sees which files that means."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QHBoxLayout, QListWidget, QVBoxLayout, QWidget

from studio.errors import StudioError
from studio.project.trust import python_files
from studio.ui.session import Session
from studio.ui.texts import fill
from studio.ui.widgets.dialog import Dialog
from studio.ui.widgets.parts import button, label


class TrustDialog(Dialog):
    """Yes is remembered for the folder as it is now; a changed file asks again."""

    def __init__(self, session: Session, folder: Path, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Trust this folder?"))
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 20, 20, 16)
        column.setSpacing(10)
        column.addWidget(label(self.tr("This project runs Python"), "title"))
        why = self.tr(
            "To export its source, Python files of this folder have to run, and they can do whatever you can "
            "do on this computer. Go on only when you know where they come from."
        )
        column.addWidget(label(why, wrap=True))
        column.addWidget(label(str(folder), "quiet", wrap=True, selectable=True))
        files = QListWidget()
        files.setAccessibleName(self.tr("Python files in the folder"))
        try:
            found = python_files(folder)
            files.addItems([str(path.relative_to(folder.resolve())) for path in found])
            count = fill(self.tr("{n} files can run:"), n=len(found))
        except StudioError as error:
            count = str(error)
        files.setMaximumHeight(150)
        column.addWidget(label(count, "quiet", wrap=True))
        column.addWidget(files)
        column.addWidget(label(self.tr("A changed file asks again."), "small"))
        row = QHBoxLayout()
        row.addStretch(1)
        no = button(self.tr("Do not run"), self.reject)
        no.setAutoDefault(True)
        no.setDefault(True)
        row.addWidget(no)
        yes = button(self.tr("Trust and run"), self.accept)
        yes.setAutoDefault(False)
        row.addWidget(yes)
        column.addLayout(row)
        self.setMinimumWidth(520)
        self.accepted.connect(session.trust)
        self.rejected.connect(session.distrust)
