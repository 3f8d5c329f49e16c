"""PythonSourceDialog: which function of a Python file makes the model, with which weights and inputs."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import (
    QComboBox,
    QDialogButtonBox,
    QFormLayout,
    QPlainTextEdit,
    QVBoxLayout,
    QWidget,
)

from studio.errors import StudioError
from studio.project import Project
from studio.ui.model_source import factories_in, parse_inputs, python_project, weights_beside
from studio.ui.widgets.dialog import Dialog
from studio.ui.widgets.parts import label


class PythonSourceDialog(Dialog):
    """The file is parsed, not run. Raises InputError when it is not Python."""

    def __init__(self, path: Path, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._path = path
        self._project: Project | None = None
        self.setWindowTitle(self.tr("Python source"))
        self._factory = QComboBox()
        self._factory.setEditable(True)
        self._factory.addItems(factories_in(path))
        self._weights = QComboBox()
        self._weights.setEditable(True)
        self._weights.addItems(["", *weights_beside(path)])
        if self._weights.count() == 2:
            self._weights.setCurrentIndex(1)
        self._inputs = QPlainTextEdit("image float32 1x3x224x224")
        self._inputs.setFixedHeight(72)
        self._inputs.setTabChangesFocus(True)
        form = QFormLayout()
        form.setVerticalSpacing(10)
        form.setHorizontalSpacing(16)
        form.addRow(self.tr("&Function"), self._factory)
        form.addRow("", label(self.tr("Takes no arguments and returns a torch.nn.Module."), "small"))
        form.addRow(self.tr("&Weights"), self._weights)
        form.addRow(
            "", label(self.tr("State dict in the same folder; empty: the function loads it."), "small")
        )
        form.addRow(self.tr("&Inputs"), self._inputs)
        form.addRow("", label(self.tr("One per line: name, type, shape."), "small"))
        self._problem = label("", "bad", wrap=True)
        self._problem.hide()
        buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Open | QDialogButtonBox.StandardButton.Cancel
        )
        buttons.accepted.connect(self._try)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 14)
        column.setSpacing(10)
        column.addWidget(label(path.name, "title"))
        column.addLayout(form)
        column.addWidget(self._problem)
        column.addWidget(buttons)
        self.setMinimumWidth(480)

    def project(self) -> Project:
        """The project of what was entered; only after the dialog was accepted."""
        assert self._project is not None
        return self._project

    def _try(self) -> None:
        try:
            inputs = parse_inputs(self._inputs.toPlainText())
            factory = self._factory.currentText().strip()
            self._project = python_project(self._path, factory, self._weights.currentText().strip(), inputs)
        except StudioError as error:
            self._problem.setText(str(error))
            self._problem.show()
            return
        self.accept()
