"""The list of devices: who is there, in what state, and what to do about a bad one."""

from __future__ import annotations

import re

from PySide6.QtCore import (
    QModelIndex,
    QPersistentModelIndex,
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
    SignalInstance,
)
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPainterPath, QPen
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from studio.devices import DeviceInfo, DeviceKind, DeviceState
from studio.ui import theme
from studio.ui.domain_texts import translate_sentence
from studio.ui.session import Session
from studio.ui.texts import QT_TRANSLATE_NOOP, fill, translate

_INFO = Qt.ItemDataRole.UserRole
_HEAT = Qt.ItemDataRole.UserRole + 1
_ROW_HEIGHT = 44
_ABOVE, _GAP, _BELOW = 6, 4, 6
_NOISE = re.compile(r"\((?:R|TM)\)|\b(?:Processor|CPU)\b.*", re.IGNORECASE)  # of a computer's own name


class DeviceList(QWidget):
    """Devices as rows of two lines; `device_selected` tells the chosen one's id."""

    device_selected = Signal(str)
    connect_requested = Signal()

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._heading = QLabel(self.tr("DEVICES"))
        self._heading.setObjectName("Heading")
        self._connect = self._button("+", self.tr("Connect a phone over Wi-Fi…"), self.connect_requested)
        self._list = QListWidget()
        self._list.setItemDelegate(_Row(self._list))
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.setFrameShape(QFrame.Shape.NoFrame)
        self._list.setAccessibleName(self.tr("Devices"))
        self._list.currentItemChanged.connect(self._on_current)
        head = QHBoxLayout()
        head.addWidget(self._heading)
        head.addStretch(1)
        head.addWidget(self._connect)
        body = QVBoxLayout(self)
        body.setContentsMargins(14, _ABOVE, 8, _BELOW)
        body.setSpacing(_GAP)
        body.addLayout(head)
        body.addWidget(self._list, 1)
        session.devices_changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Shows the devices that the session knows; the selection stays where it can."""
        chosen = self.current_id()
        devices = self._session.devices
        self._list.blockSignals(True)
        self._list.clear()
        for info in devices:
            item = QListWidgetItem(translate_sentence(info.name))
            item.setData(_INFO, info)
            item.setToolTip(self._tip(info))
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{info.name}, {self._state_text(info)}")
            self._list.addItem(item)
        rows = [info.id for info in devices]
        self._list.blockSignals(False)
        if rows:
            self._list.setCurrentRow(rows.index(chosen) if chosen in rows else 0)

    def height_of(self, rows: int) -> int:
        """The height that shows the heading and so many devices."""
        inside = self._connect.sizeHint().height() + _GAP + rows * _ROW_HEIGHT
        return _ABOVE + inside + _BELOW

    def count(self) -> int:
        """How many devices are listed."""
        return self._list.count()

    def has_phone(self) -> bool:
        """Whether anything but this computer is there."""
        return any(info.kind is not DeviceKind.THIS_COMPUTER for info in self._session.devices)

    def current(self) -> DeviceInfo | None:
        """The chosen device."""
        item = self._list.currentItem()
        return item.data(_INFO) if item else None

    def current_id(self) -> str:
        """The chosen device's id, "" when there is none."""
        info = self.current()
        return info.id if info else ""

    def select(self, device_id: str) -> None:
        """Chooses a device by id."""
        for row in range(self._list.count()):
            if self._list.item(row).data(_INFO).id == device_id:
                self._list.setCurrentRow(row)

    def show_temperature(self, device_id: str, celsius: float | None) -> None:
        """Writes the newest temperature at a device's row."""
        for row in range(self._list.count()):
            item = self._list.item(row)
            if item.data(_INFO).id == device_id and item.data(_HEAT) != celsius:
                item.setData(_HEAT, celsius)

    def _button(self, text: str, tip: str, signal: SignalInstance) -> QToolButton:
        button = QToolButton()
        button.setText(text)
        button.setToolTip(tip)
        button.setAccessibleName(tip)
        button.clicked.connect(signal)
        return button

    def _on_current(self, item: QListWidgetItem | None) -> None:
        if item is not None:
            self.device_selected.emit(item.data(_INFO).id)

    def _tip(self, info: DeviceInfo) -> str:
        facts = [info.name, info.id, info.soc_marketing or info.soc, info.os_version, info.abi]
        return "\n".join(
            [fact for fact in facts if fact]
            + ([translate_sentence(info.state_hint)] if info.state_hint else [])
        )

    def _state_text(self, info: DeviceInfo) -> str:
        return state_word(info.state)


STATE_WORDS = {
    DeviceState.READY: QT_TRANSLATE_NOOP("DeviceList", "ready"),
    DeviceState.UNAUTHORIZED: QT_TRANSLATE_NOOP("DeviceList", "unauthorized"),
    DeviceState.AUTHORIZING: QT_TRANSLATE_NOOP("DeviceList", "authorizing"),
    DeviceState.OFFLINE: QT_TRANSLATE_NOOP("DeviceList", "offline"),
    DeviceState.NO_PERMISSIONS: QT_TRANSLATE_NOOP("DeviceList", "no permissions"),
    DeviceState.RECOVERY: QT_TRANSLATE_NOOP("DeviceList", "recovery"),
    DeviceState.SIDELOAD: QT_TRANSLATE_NOOP("DeviceList", "sideload"),
    DeviceState.BOOTLOADER: QT_TRANSLATE_NOOP("DeviceList", "bootloader"),
    DeviceState.CONNECTING: QT_TRANSLATE_NOOP("DeviceList", "connecting"),
    DeviceState.UNKNOWN: QT_TRANSLATE_NOOP("DeviceList", "unknown"),
}


def state_word(state: DeviceState) -> str:
    """The state of a device in the language of the window."""
    return translate("DeviceList", STATE_WORDS[state])


class _Row(QStyledItemDelegate):
    """Name and state on the first line, what it is (or what to do) on the second."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """Two lines."""
        return QSize(120, _ROW_HEIGHT)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Paints a row."""
        info: DeviceInfo = index.data(_INFO)
        heat: float | None = index.data(_HEAT)
        colors = theme.current().colors
        rect: QRect = option.rect.adjusted(0, 1, -2, -1)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        state = option.state
        if state & QStyle.StateFlag.State_Selected:
            # Whoever walks by keyboard sees where the keys go.
            focus = state & QStyle.StateFlag.State_HasFocus
            painter.setPen(QPen(QColor(colors.accent)) if focus else Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colors.selection))
            painter.drawRoundedRect(rect, 6, 6)
        _paint_icon(painter, info, QRectF(rect.left() + 8, rect.top() + 7, 14, 14))

        right, right_color = self._right(info, heat)
        small = QFont(option.font)
        small.setPixelSize(11)
        painter.setFont(small)
        right_width = QFontMetrics(small).horizontalAdvance(right)
        painter.setPen(QColor(right_color))
        first = QRect(rect.left() + 30, rect.top() + 4, rect.width() - 38, 18)
        flags = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(first, flags | Qt.AlignmentFlag.AlignRight, right)
        second = QRect(first.left(), first.bottom() + 1, first.width(), 16)
        painter.setPen(QColor(colors.ink("quiet")))
        what = self._second_line(info)
        elide = Qt.TextElideMode.ElideRight
        painter.drawText(second, flags, QFontMetrics(small).elidedText(what, elide, second.width()))
        painter.setFont(option.font)
        painter.setPen(QColor(colors.text))
        room = first.width() - right_width - 8
        painter.drawText(
            first, flags, QFontMetrics(option.font).elidedText(translate_sentence(info.name), elide, room)
        )
        painter.restore()

    def _right(self, info: DeviceInfo, heat: float | None) -> tuple[str, str]:
        colors = theme.current().colors
        if info.state is not DeviceState.READY:
            return state_word(info.state), colors.ink("falls_back")
        if info.is_simulated:
            return self.tr("simulated"), colors.ink("unknown")
        if heat is not None:
            return f"{heat:.0f} °C", colors.ink("quiet")
        return state_word(info.state), colors.ink("runs")

    def _second_line(self, info: DeviceInfo) -> str:
        if info.state is not DeviceState.READY:
            return translate_sentence(info.state_hint)
        count = info.cpu_count or 0
        cores = fill(self.tr("{n} cores"), n=count) if count > 1 else self.tr("1 core") if count else ""
        soc = _NOISE.sub("", info.soc_marketing or info.soc).strip()
        facts = [soc, info.os_version, info.abi, cores]
        return " · ".join(fact for fact in facts if fact)


def _paint_icon(painter: QPainter, info: DeviceInfo, box: QRectF) -> None:
    """A screen for this computer, a phone otherwise; filled when ready, dotted when simulated."""
    colors = theme.current().colors
    ready = info.state is DeviceState.READY
    pen = QPen(QColor(colors.accent if ready else colors.unknown), 1.4)
    if info.is_simulated:
        pen.setStyle(Qt.PenStyle.DotLine)
    painter.setPen(pen)
    painter.setBrush(theme.with_alpha(colors.accent, 0.25) if ready else Qt.BrushStyle.NoBrush)
    path = QPainterPath()
    if info.kind is DeviceKind.THIS_COMPUTER:
        path.addRoundedRect(box.adjusted(0, 1, 0, -4), 2, 2)
        painter.drawPath(path)
        painter.drawLine(QPointF(box.left() + 4, box.bottom()), QPointF(box.right() - 4, box.bottom()))
    else:
        path.addRoundedRect(box.adjusted(3, 0, -3, 0), 2, 2)
        painter.drawPath(path)


class Hairline(QFrame):
    """A line of one pixel between two parts."""

    def __init__(self, *, vertical: bool = True, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("Hairline")
        if vertical:
            self.setFixedWidth(1)
        else:
            self.setFixedHeight(1)
