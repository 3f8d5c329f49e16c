"""Small questions: save before leaving, the address of a phone."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QInputDialog, QMessageBox, QWidget

from studio.ui.texts import fill


def _tr(text: str) -> str:
    return QCoreApplication.translate("questions", text)


def ask_to_save(parent: QWidget, name: str) -> str:
    """ "save", "discard" or "cancel"."""
    box = QMessageBox(parent)
    box.setWindowTitle(_tr("Unsaved changes"))
    box.setText(fill(_tr("Save the changes to “{name}”?"), name=name))
    box.setInformativeText(_tr("What is not saved is lost. Artifacts and runs are kept in any case."))
    save = box.addButton(_tr("Save"), QMessageBox.ButtonRole.AcceptRole)
    discard = box.addButton(_tr("Discard"), QMessageBox.ButtonRole.DestructiveRole)
    box.addButton(_tr("Cancel"), QMessageBox.ButtonRole.RejectRole)
    box.setDefaultButton(save)
    box.exec()
    clicked = box.clickedButton()
    return "save" if clicked is save else "discard" if clicked is discard else "cancel"


def ask_for_address(parent: QWidget) -> str:
    """`host:port`, "" when it was cancelled."""
    text, is_given = QInputDialog.getText(
        parent,
        _tr("Connect over the network"),
        _tr("On the phone, under Developer options → Wireless debugging, you find its address.\nAddress:"),
        text="192.168.0.10:5555",
    )
    return text.strip() if is_given else ""
