"""Headings, quiet texts, hairlines, buttons: the words of the style sheet as functions."""

from __future__ import annotations

import re
from collections.abc import Callable

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import (
    QContextMenuEvent,
    QFontMetrics,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import QFrame, QLabel, QMenu, QPushButton, QSizePolicy, QToolButton, QWidget

from studio.ui.icons import icon
from studio.ui.texts import translate

_BREAK = "\u200b"  # zero-width space
_PLACES = re.compile(r"([/_(,:-]|(?<=\w)\.(?!\w{1,6}\b[^/\w]*$))")  # not in the ending of a file's name


def heading(text: str) -> QLabel:
    """A grey heading in capitals (scripts without capitals stay as they are)."""
    label = QLabel(text.upper())
    label.setObjectName("Heading")
    return label


def label(text: str, role: str = "", *, wrap: bool = False, selectable: bool = False) -> QLabel:
    """A text; `role` is one of the style sheet's: quiet, small, title, display, bad, warn, good."""
    result = WrappingLabel(text) if wrap else QLabel(text)
    result.setTextFormat(Qt.TextFormat.PlainText)
    if role:
        result.setProperty("role", role)
    result.setWordWrap(wrap)
    if selectable:
        result.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
    return result


def breakable(text: str) -> str:
    """The text with places inside its long words where a line may end (zero-width spaces)."""
    return re.sub(r"\S{20,}", lambda word: _PLACES.sub("\\1" + _BREAK, word.group()), text)


class WrappingLabel(QLabel):
    """A text whose long words may break; what is read or copied from it is the text as it was given."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.setText(text)

    def minimumSizeHint(self) -> QSize:
        """As narrow as may be, else the longest word of a stranger's model widens the whole panel.

        A minimum width would do that too, but Qt then guesses the height for that very width.
        """
        return QSize(1, super().minimumSizeHint().height())

    def setText(self, text: str) -> None:
        super().setText(breakable(text))

    def text(self) -> str:
        return super().text().replace(_BREAK, "")

    def selectedText(self) -> str:
        return super().selectedText().replace(_BREAK, "")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy) and self.hasSelectedText():
            self._copy()
            return
        super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if not self.textInteractionFlags() & Qt.TextInteractionFlag.TextSelectableByMouse:
            event.ignore()
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        copy = menu.addAction(translate("WrappingLabel", "Copy"), self._copy)
        copy.setEnabled(self.hasSelectedText())
        menu.addAction(translate("WrappingLabel", "Copy all"), lambda: _to_clipboard(self.text()))
        menu.popup(event.globalPos())

    def _copy(self) -> None:
        _to_clipboard(self.selectedText())


def _to_clipboard(text: str) -> None:
    QGuiApplication.clipboard().setText(text)


def hairline() -> QFrame:
    """A line of one pixel across."""
    line = QFrame()
    line.setObjectName("Hairline")
    line.setFixedHeight(1)
    return line


def button(
    text: str, run: Callable[[], object], *, role: str = "", icon_name: str = "", tip: str = ""
) -> QPushButton:
    """A button; `role` primary, flat or link."""
    result = QPushButton(text)
    if role:
        result.setProperty("role", role)
    if icon_name:
        result.setIcon(icon(icon_name, "on_accent" if role == "primary" else "text"))
        result.setIconSize(QSize(20, 16))
    if tip:
        result.setToolTip(tip)
    result.setAutoDefault(False)  # Enter belongs to the one button that was made the default
    result.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
    if role in ("link", "flat"):
        result.setCursor(Qt.CursorShape.PointingHandCursor)
    result.clicked.connect(lambda: run())
    return result


def icon_button(icon_name: str, name: str, run: Callable[[], object]) -> QToolButton:
    """A small button with a picture; `name` is its tool tip and what a screen reader says."""
    result = QToolButton()
    result.setIcon(icon(icon_name, "quiet"))
    result.setIconSize(QSize(14, 14))
    result.setToolTip(name)
    result.setAccessibleName(name)
    result.clicked.connect(lambda: run())
    return result


def set_role(widget: QWidget, role: str) -> None:
    """Changes the style sheet's role of a widget that is shown already."""
    if widget.property("role") != role:
        widget.setProperty("role", role)
        widget.style().unpolish(widget)
        widget.style().polish(widget)


def copy_text(text: str) -> None:
    """Puts a text on the clipboard."""
    QGuiApplication.clipboard().setText(text)


class ElidedLabel(QLabel):
    """One line that ends in … where it does not fit; the whole text is its tool tip."""

    def __init__(
        self, text: str = "", role: str = "", mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight
    ) -> None:
        super().__init__(text)
        self._mode = mode
        self.setTextFormat(Qt.TextFormat.PlainText)
        if role:
            self.setProperty("role", role)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        """Wide enough for the text, so that a layout without pressure shows all of it."""
        metrics = QFontMetrics(self.font())
        return QSize(metrics.horizontalAdvance(self.text()) + 2, metrics.height() + 2)

    def minimumSizeHint(self) -> QSize:
        """A few letters."""
        return QSize(24, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draws what fits."""
        painter = QPainter(self)
        metrics = QFontMetrics(self.font())
        shown = metrics.elidedText(self.text(), self._mode, self.width())
        tip = self.text() if shown != self.text() else ""
        if tip != self.toolTip():
            self.setToolTip(tip)
        painter.setPen(self.palette().color(self.foregroundRole()))
        painter.drawText(self.rect(), int(self.alignment() | Qt.AlignmentFlag.AlignVCenter), shown)
