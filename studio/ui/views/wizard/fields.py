"""Number boxes and lists as the wizard wants them: they shrink, and their text keeps off the edge."""

from __future__ import annotations

from typing import TypeVar

from PySide6.QtWidgets import QAbstractSpinBox, QComboBox, QDoubleSpinBox, QSizePolicy, QSpinBox

B = TypeVar("B", bound=QAbstractSpinBox)


def number_box(least: int, most: int) -> QSpinBox:
    """A box for a whole number."""
    box = QSpinBox()
    box.setRange(least, most)
    return _spaced(box)


def decimal_box(least: float, most: float, decimals: int) -> QDoubleSpinBox:
    """A box for a number with decimals."""
    box = QDoubleSpinBox()
    box.setDecimals(decimals)
    box.setRange(least, most)
    return _spaced(box)


def choice_box() -> QComboBox:
    """A list that may be narrower than its longest text."""
    combo = QComboBox()
    combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    combo.setMinimumContentsLength(12)
    combo.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
    return combo


def _spaced(box: B) -> B:
    box.lineEdit().setTextMargins(5, 0, 0, 0)
    return box
