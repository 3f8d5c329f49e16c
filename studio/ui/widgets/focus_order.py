"""The widgets that Tab goes to, in the order in which they are read: by layouts, not by when they were made.

Qt goes by the time of making: chips, rows and lists that are made anew with every project came last, and
buttons below a form came before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QComboBox,
    QDockWidget,
    QLayout,
    QLineEdit,
    QRadioButton,
    QScrollArea,
    QSplitter,
    QStackedWidget,
    QTabBar,
    QWidget,
)

_WHOLE = (QAbstractButton, QAbstractItemView, QAbstractSpinBox, QComboBox, QLineEdit, QTabBar)
"""Widgets whose parts are their own affair."""
_ROW = 24  # px: what was placed by hand within so much counts as side by side


def tab_stops(widget: QWidget | None) -> Iterator[QWidget]:
    """The widgets in `widget`, itself included, that Tab stops at now, in the order of the layouts."""
    if widget is None or not widget.isVisible():
        return
    if _is_stop(widget):
        yield widget
    if not isinstance(widget, _WHOLE):
        for child in _children(widget):
            yield from tab_stops(child)


def move_focus(places: Iterable[QWidget | None], *, forward: bool) -> bool:
    """Gives the focus to the next stop in these places, round and round; False when there is none."""
    stops = list(dict.fromkeys(stop for place in places for stop in tab_stops(place)))
    if not stops:
        return False
    now: QWidget | None = stops[0].window().focusWidget()
    while now is not None and now not in stops:
        now = now.parentWidget()  # inside a stop, or clicked where Tab does not stop
    at = stops.index(now) if now is not None else (-1 if forward else 0)
    reason = Qt.FocusReason.TabFocusReason if forward else Qt.FocusReason.BacktabFocusReason
    stops[(at + (1 if forward else -1)) % len(stops)].setFocus(reason)
    return True


def _children(widget: QWidget) -> list[QWidget]:
    """Those in its layout or its compartments first, in their order; then what was put in by hand."""
    first: list[QWidget] = []
    if isinstance(widget, QScrollArea | QStackedWidget):
        shown = widget.widget() if isinstance(widget, QScrollArea) else widget.currentWidget()
        return [shown] if shown is not None else []
    if isinstance(widget, QSplitter):
        first = [part for i in range(widget.count()) if (part := widget.widget(i)) is not None]
    elif isinstance(widget, QDockWidget):
        first = [part for part in (widget.titleBarWidget(), widget.widget()) if part is not None]
    else:
        layout = widget.layout()
        if layout is not None:
            first = list(_laid_out(layout))
    others = widget.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly)
    by_hand = [w for w in others if w not in first and not w.isWindow()]
    return first + sorted(by_hand, key=lambda w: (w.geometry().center().y() // _ROW, w.x()))


def _is_stop(widget: QWidget) -> bool:
    can = widget.isEnabled() and widget.focusPolicy() & Qt.FocusPolicy.TabFocus
    if not can or widget.focusProxy() is not None:
        return False
    owner = widget.parentWidget()
    if isinstance(widget, QRadioButton) and not widget.isChecked() and owner is not None:
        beside = owner.findChildren(QRadioButton, options=Qt.FindChildOption.FindDirectChildrenOnly)
        return not any(other.isChecked() for other in beside)  # those that exclude each other are one stop
    return True


def _laid_out(layout: QLayout) -> Iterator[QWidget]:
    for index in range(layout.count()):
        item = layout.itemAt(index)
        if item is None:
            continue
        inner, widget = item.layout(), item.widget()
        if widget is not None:
            yield widget
        elif inner is not None:
            yield from _laid_out(inner)
