"""AboutDialog: what this is, which version, under which licence, what it is made of."""

from __future__ import annotations

import platform
from importlib import metadata

from PySide6.QtCore import Qt, qVersion
from PySide6.QtWidgets import QFormLayout, QHBoxLayout, QVBoxLayout, QWidget

from studio import __version__
from studio.ui.widgets.dialog import Dialog
from studio.ui.widgets.icon_label import IconLabel
from studio.ui.widgets.parts import button, copy_text, label

_PARTS = ("torch", "onnx", "onnxruntime", "ai-edge-litert", "executorch", "netron", "adbutils", "pyqtgraph")


class AboutDialog(Dialog):
    """Versions can be copied, for an issue."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("About Deployment Studio"))
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 24, 24, 16)
        column.setSpacing(10)
        head = QHBoxLayout()
        head.setSpacing(14)
        picture = IconLabel("app", "accent", 40)
        picture.setFixedSize(40, 40)
        head.addWidget(picture)
        words = QVBoxLayout()
        words.addWidget(label("Deployment Studio", "title"))
        words.addWidget(label(__version__, "quiet", selectable=True))
        head.addLayout(words, 1)
        column.addLayout(head)
        what = self.tr(
            "Takes a trained PyTorch or ONNX model to an Android phone, and shows what will happen there. "
            "Nothing is sent anywhere: no telemetry, no update check."
        )
        column.addWidget(label(what, wrap=True))
        form = QFormLayout()
        form.setHorizontalSpacing(16)
        self._rows = versions()
        for name, version in self._rows:
            text = label(version, selectable=True)
            text.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            form.addRow(label(name, "quiet"), text)
        column.addLayout(form)
        licence = self.tr("Apache License 2.0. Licences of others: THIRD_PARTY_NOTICES.md.")
        column.addWidget(label(licence, "small", wrap=True))
        row = QHBoxLayout()
        row.addWidget(button(self.tr("Copy versions"), self._copy, role="link"))
        row.addStretch(1)
        close = button(self.tr("Close"), self.accept)
        close.setDefault(True)
        row.addWidget(close)
        column.addLayout(row)
        self.setMinimumWidth(420)

    def _copy(self) -> None:
        copy_text("\n".join(f"{name} {version}" for name, version in self._rows))


def versions() -> list[tuple[str, str]]:
    """(name, version) of the interpreter, Qt and the installed tool chains; nothing is imported."""
    rows = [("Python", platform.python_version()), ("Qt", str(qVersion()))]
    for name in _PARTS:
        try:
            rows.append((name, metadata.version(name)))
        except metadata.PackageNotFoundError:
            rows.append((name, "–"))
    return rows
