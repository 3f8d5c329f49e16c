"""SettingsDialog: theme, language, editor, adb, folders with vendor tools."""

from __future__ import annotations

from msgspec.structs import replace
from PySide6.QtWidgets import (
    QComboBox,
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QVBoxLayout,
    QWidget,
)

from studio.ui.session import Session
from studio.ui.theme import ThemeChoice
from studio.ui.translations import LANGUAGES
from studio.ui.widgets.dialog import Dialog
from studio.ui.widgets.parts import button, label


class SettingsDialog(Dialog):
    """Takes effect with OK; theme and language at once, tools with the next job."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Settings"))
        self._session = session
        preferences = session.preferences
        self._theme = QComboBox()
        for choice, title in (
            (ThemeChoice.SYSTEM, self.tr("as the system")),
            (ThemeChoice.LIGHT, self.tr("light")),
            (ThemeChoice.DARK, self.tr("dark")),
        ):
            self._theme.addItem(title, choice)
        self._theme.setCurrentIndex(self._theme.findData(preferences.theme))
        self._language = QComboBox()
        self._language.addItem(self.tr("as the system"), "system")
        for code, title in LANGUAGES.items():
            self._language.addItem(title, code)
        self._language.setCurrentIndex(max(0, self._language.findData(preferences.language)))
        self._editor = QLineEdit(preferences.editor)
        self._editor.setPlaceholderText("code -g {file}:{line}")
        self._adb = QLineEdit(preferences.adb)
        self._adb.setAccessibleName("adb")
        self._adb.setPlaceholderText(self.tr("found on PATH, else the one of adbutils"))
        self._folders = QPlainTextEdit("\n".join(preferences.tool_folders))
        self._folders.setPlaceholderText(self.tr("one folder per line, e.g. of QAIRT, omg or ncc-tflite"))
        self._folders.setFixedHeight(84)
        self._folders.setTabChangesFocus(True)
        form = QFormLayout()
        form.setVerticalSpacing(10)
        form.setHorizontalSpacing(16)
        form.addRow(self.tr("&Theme"), self._theme)
        form.addRow(self.tr("&Language"), self._language)
        form.addRow(self.tr("&Editor"), self._editor)
        form.addRow("", label(self.tr("Opens the Python line of a node."), "small"))
        form.addRow(self.tr("&adb"), self._with_browse(self._adb))
        form.addRow(self.tr("&Vendor tools"), self._folders)
        form.addRow("", button(self.tr("Add folder…"), self._add_folder, role="link"))
        buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel
        )
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 20, 20, 16)
        column.setSpacing(16)
        column.addLayout(form)
        column.addWidget(buttons)
        self.setMinimumWidth(560)
        self.accepted.connect(self._apply)

    def _with_browse(self, field: QLineEdit) -> QWidget:
        row = QWidget()
        line = QHBoxLayout(row)
        line.setContentsMargins(0, 0, 0, 0)
        line.addWidget(field, 1)

        def browse() -> None:
            path, _ = QFileDialog.getOpenFileName(self, self.tr("Choose adb"))
            if path:
                field.setText(path)

        line.addWidget(button(self.tr("Browse…"), browse))
        return row

    def _add_folder(self) -> None:
        path = QFileDialog.getExistingDirectory(self, self.tr("Folder with vendor tools"))
        if path:
            self._folders.appendPlainText(path)

    def _apply(self) -> None:
        folders = tuple(f.strip() for f in self._folders.toPlainText().splitlines() if f.strip())
        self._session.set_preferences(
            replace(
                self._session.preferences,
                theme=ThemeChoice(self._theme.currentData()),
                language=self._language.currentData(),
                editor=self._editor.text().strip(),
                adb=self._adb.text().strip(),
                tool_folders=folders,
            )
        )
