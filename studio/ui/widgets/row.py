"""Row: a line of a list that can be clicked: icon, title, a value at the right, a quiet second line."""

from __future__ import annotations

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from studio.ui import theme
from studio.ui.icons import paint_icon

_PAD = 8
_ICON = 14
_TEXT_X = _PAD + _ICON + 10
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class Row(QAbstractButton):
    """See the module. Height follows whether there is a second line; texts end in … where needed."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._icon, self._icon_color = "", "text"
        self._title = self._value = self._note = ""
        self._value_color = "quiet"
        self._is_selected = False
        self._is_compact = False
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)

    def show_texts(
        self,
        title: str,
        *,
        note: str = "",
        value: str = "",
        value_color: str = "quiet",
        icon: str = "",
        icon_color: str = "text",
        tip: str = "",
    ) -> None:
        """What the row says; colours are fields of `theme.Colors`."""
        self._title, self._note, self._value = title, note, value
        self._value_color = value_color
        self._icon, self._icon_color = icon, icon_color
        self.setAccessibleName(" ".join(t for t in (title, value) if t))
        self.setAccessibleDescription(note)
        self.setToolTip(tip or note)
        self.updateGeometry()
        self.update()

    def set_compact(self, is_compact: bool) -> None:
        """Leaves the second line out (it stays in the tool tip)."""
        if is_compact != self._is_compact:
            self._is_compact = is_compact
            self.updateGeometry()
            self.update()

    def set_selected(self, is_selected: bool) -> None:
        """Marks the row as the one that is looked at."""
        self._is_selected = is_selected
        self.update()

    @property
    def title(self) -> str:
        return self._title

    def sizeHint(self) -> QSize:
        """Room for one or two lines."""
        title = QFontMetrics(self.font()).height()
        note = QFontMetrics(_note_font(self.font())).height() + 2 if self._shows_note else 0
        return QSize(160, title + note + 12)

    def full_height(self) -> int:
        """The height with the second line."""
        note = QFontMetrics(_note_font(self.font())).height() + 2 if self._note else 0
        return QFontMetrics(self.font()).height() + note + 12

    @property
    def _shows_note(self) -> bool:
        return bool(self._note) and not self._is_compact

    def minimumSizeHint(self) -> QSize:
        """Any width will do: texts are elided."""
        return QSize(60, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draws the row."""
        colors = theme.current().colors
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.setPen(QPen(QColor(colors.accent)) if self.hasFocus() else Qt.PenStyle.NoPen)
        background = colors.selection if self._is_selected else colors.hover if self.underMouse() else ""
        painter.setBrush(QColor(background) if background else Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(box, 6, 6)

        metrics = QFontMetrics(self.font())
        line = QRect(_TEXT_X, 6, self.width() - _TEXT_X - _PAD, metrics.height())
        if self._icon:
            icon_box = QRectF(_PAD, line.center().y() - _ICON / 2 + 0.5, _ICON, _ICON)
            paint_icon(painter, self._icon, icon_box, self._icon_color)
        value_width = metrics.horizontalAdvance(self._value)
        if self._value:
            painter.setPen(QColor(colors.ink(self._value_color)))
            painter.drawText(line, int(_RIGHT), self._value)
        room = line.width() - (value_width + 8 if self._value else 0)
        painter.setPen(QColor(colors.text if self.isEnabled() else colors.quiet))
        title = metrics.elidedText(self._title, Qt.TextElideMode.ElideRight, room)
        painter.drawText(line, int(_LEFT), title)
        if self._shows_note:
            font = _note_font(self.font())
            painter.setFont(font)
            painter.setPen(QColor(colors.ink("quiet")))
            note_metrics = QFontMetrics(font)
            note_line = QRect(line.left(), line.bottom() + 3, line.width(), note_metrics.height())
            note = note_metrics.elidedText(self._note, Qt.TextElideMode.ElideRight, note_line.width())
            painter.drawText(note_line, int(_LEFT), note)


def _note_font(base: QFont) -> QFont:
    font = QFont(base)
    font.setPixelSize(11)
    return font
