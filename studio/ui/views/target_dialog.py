"""TargetDialog: which runtimes and accelerators the project is for; all are listed, none is hidden."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QComboBox,
    QDialogButtonBox,
    QFormLayout,
    QLineEdit,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from studio.project import edit
from studio.targets import TARGETS, Target
from studio.ui.session import Session
from studio.ui.texts import fill, translate
from studio.ui.views.target_bar import STATUS_WORDS
from studio.ui.widgets.dialog import Dialog
from studio.ui.widgets.parts import label

_FAMILIES = {
    "ort": "ONNX Runtime",
    "litert": "LiteRT",
    "executorch": "ExecuTorch",
    "pytorch-mobile": "PyTorch Mobile",
    "qualcomm": "Qualcomm",
    "huawei": "Huawei",
    "mediatek": "MediaTek",
    "mindspore-lite": "MindSpore Lite",
    "ncnn": "ncnn",
    "mnn": "MNN",
}


class TargetDialog(Dialog):
    """A tree of check boxes by runtime, a filter, and the SoC for targets that need one."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Targets"))
        self._session = session
        project = session.project
        chosen = project.targets if project else ()
        self._filter = QLineEdit()
        self._filter.setPlaceholderText(self.tr("Filter"))
        self._filter.setAccessibleName(self.tr("Filter"))
        self._filter.setClearButtonEnabled(True)
        self._filter.textChanged.connect(self._apply_filter)
        self._tree = QTreeWidget()
        self._tree.setColumnCount(2)
        self._tree.setHeaderHidden(True)
        self._tree.setRootIsDecorated(False)
        self._tree.setUniformRowHeights(True)
        self._tree.setAccessibleName(self.tr("Targets"))
        self._items: dict[str, QTreeWidgetItem] = {}
        for runtime, title in _FAMILIES.items():
            top = QTreeWidgetItem(self._tree, [title, ""])
            top.setFlags(Qt.ItemFlag.ItemIsEnabled)
            top.setSizeHint(0, QSize(0, 26))
            for target in TARGETS.values():
                if target.runtime == runtime:
                    self._add(top, target, target.id in chosen)
            top.setExpanded(True)
        self._tree.setColumnWidth(0, 260)
        self._soc = QComboBox()
        self._soc.setEditable(True)
        self._soc.addItem("", "")
        for code, title in known_socs():
            self._soc.addItem(f"{code} · {title}" if title else code, code)
        soc = project.soc if project else ""
        self._soc.setCurrentText(soc)
        self._soc.setCurrentIndex(self._soc.findData(soc))
        if soc and self._soc.currentIndex() < 0:
            self._soc.setEditText(soc)
        form = QFormLayout()
        form.addRow(self.tr("SoC"), self._soc)
        hint = self.tr("Marked targets depend on the chip, e.g. SM8650; without it they stay unknown.")
        buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel
        )
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 12)
        column.setSpacing(10)
        column.addWidget(self._filter)
        column.addWidget(self._tree, 1)
        column.addLayout(form)
        column.addWidget(label(hint, "small", wrap=True))
        column.addWidget(buttons)
        self.resize(520, 620)
        self.accepted.connect(self._take)

    @property
    def chosen(self) -> tuple[str, ...]:
        """Ids of the checked targets: those of the project in their order, then new ones."""
        checked = [t for t, item in self._items.items() if item.checkState(0) is Qt.CheckState.Checked]
        old = self._session.project.targets if self._session.project else ()
        return (*[t for t in old if t in checked], *[t for t in checked if t not in old])

    def _add(self, top: QTreeWidgetItem, target: Target, is_chosen: bool) -> None:
        notes = []
        if target.status:
            notes.append(translate("TargetBar", STATUS_WORDS[target.status]))
        if target.needs_soc:
            notes.append(self.tr("needs a SoC"))
        if not target.can_convert:
            notes.append(self.tr("prediction only"))
        item = QTreeWidgetItem(top, [target.title, " · ".join(notes)])
        item.setFlags(
            Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsUserCheckable | Qt.ItemFlag.ItemIsSelectable
        )
        item.setCheckState(0, Qt.CheckState.Checked if is_chosen else Qt.CheckState.Unchecked)
        item.setForeground(1, self.palette().placeholderText())
        if target.successor:
            tip = fill(self.tr("The studio proposes {target}."), target=TARGETS[target.successor].title)
            item.setToolTip(0, tip)
        self._items[target.id] = item

    def _apply_filter(self, text: str) -> None:
        for target_id, item in self._items.items():
            item.setHidden(text.lower() not in f"{target_id} {TARGETS[target_id].title}".lower())

    def _take(self) -> None:
        chosen, soc = self.chosen, self._soc.currentText().partition(" · ")[0].strip()
        self._session.edit(
            lambda p: edit.set_soc(edit.set_targets(p, chosen), soc), self.tr("Choose targets")
        )


def known_socs() -> list[tuple[str, str]]:
    """(code, marketing name) of the chips in the table."""
    from studio.devices.soc import soc_table

    return [(row.soc_models[0] if row.soc_models else row.code, row.marketing) for row in soc_table()]
