"""CommandPalette: type a few letters of any action, press Enter."""

from __future__ import annotations

import re

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QVBoxLayout,
    QWidget,
)

from studio.ui.widgets.parts import label


class CommandPalette(QDialog):
    """A list of the actions that can be done now; the best match is chosen already."""

    def __init__(self, actions: list[QAction], parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup | Qt.WindowType.FramelessWindowHint)
        self.setWindowTitle(self.tr("Command palette"))
        self._actions = [a for a in actions if a.isEnabled() and a.text()]
        frame = QFrame()
        frame.setObjectName("Card")
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(frame)
        inside = QVBoxLayout(frame)
        inside.setContentsMargins(8, 8, 8, 8)
        inside.setSpacing(6)
        self._field = QLineEdit()
        self._field.setPlaceholderText(self.tr("Search commands"))
        self._field.setAccessibleName(self.tr("Search commands"))
        self._field.textChanged.connect(self.refresh)
        self._field.installEventFilter(self)
        self._list = QListWidget()
        self._list.setAccessibleName(self.tr("Commands"))
        self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.itemClicked.connect(lambda _item: self.accept())
        inside.addWidget(self._field)
        inside.addWidget(self._list)
        self.resize(min(560, parent.width() - 40), 360)
        self.move(parent.mapToGlobal(parent.rect().topLeft()).x() + (parent.width() - self.width()) // 2,
                  parent.mapToGlobal(parent.rect().topLeft()).y() + 60)  # fmt: skip
        self.accepted.connect(self._run)
        self._chosen: QAction | None = None
        self.refresh("")
        self._field.setFocus()

    def refresh(self, text: str) -> None:
        """Shows the actions whose words hold the letters, in their order."""
        self._list.clear()
        scored = [
            (s, i) for i, a in enumerate(self._actions) if (s := match(text, plain_text(a))) is not None
        ]
        for _score, index in sorted(scored):
            action = self._actions[index]
            item = QListWidgetItem(self._list)
            item.setData(Qt.ItemDataRole.UserRole, index)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, plain_text(action))
            row = self._row_of(action)
            item.setSizeHint(row.sizeHint() + QSize(0, 4))
            self._list.setItemWidget(item, row)
        self._list.setCurrentRow(0)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Lets the arrow keys walk the list while letters go to the field."""
        if isinstance(event, QKeyEvent) and event.type() is QEvent.Type.KeyPress:
            step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(Qt.Key(event.key()))
            if step is not None:
                count = max(self._list.count(), 1)
                self._list.setCurrentRow((self._list.currentRow() + step) % count)
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self.accept()
                return True
        return super().eventFilter(watched, event)

    def _row_of(self, action: QAction) -> QWidget:
        row = QWidget()
        line = QHBoxLayout(row)
        line.setContentsMargins(4, 4, 8, 4)
        line.addWidget(label(plain_text(action)))
        line.addStretch(1)
        keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        line.addWidget(label(keys, "small"))
        return row

    def _run(self) -> None:
        item = self._list.currentItem()
        if item is not None:
            self._actions[item.data(Qt.ItemDataRole.UserRole)].trigger()


def plain_text(action: QAction) -> str:
    """An action's text without its menu key: an & before a letter, in Chinese a letter in brackets."""
    text = re.sub(r"\(&\w\)", "", action.text())
    return text.replace("&&", "\0").replace("&", "").replace("\0", "&")


def match(wanted: str, text: str) -> tuple[int, int] | None:
    """How well the letters fit (smaller is better), None when they do not."""
    wanted, lower = wanted.strip().lower(), text.lower()
    if not wanted:
        return (0, 0)
    if (at := lower.find(wanted)) >= 0:
        return (0 if at == 0 or lower[at - 1] == " " else 1, at)
    position, first = -1, -1
    for letter in wanted.replace(" ", ""):
        position = lower.find(letter, position + 1)
        if position < 0:
            return None
        first = position if first < 0 else first
    return (2, position - first)
