"""PreprocessingField: from a picture to the model's input, one way for all who use the data."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFormLayout, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from studio.recipes.recipe import Preprocessing
from studio.ui.views.wizard.fields import choice_box, number_box
from studio.ui.widgets.parts import button, label

_CHANNELS = {"rgb": 3, "bgr": 3, "gray": 1}


class PreprocessingField(QWidget):
    """A line that sums it up, and the form behind it; `changed` carries the new Preprocessing."""

    changed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown = Preprocessing()
        self.problem = ""
        """What is wrong with the numbers; empty when nothing is."""
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        row = QHBoxLayout()
        row.setSpacing(8)
        self._summary = label("", wrap=True)
        row.addWidget(self._summary, 1)
        self._toggle = button(self.tr("Change…"), self._on_toggle, role="link")
        self._toggle.setAutoDefault(False)
        row.addWidget(self._toggle)
        column.addLayout(row)
        self._form = QWidget()
        form = QFormLayout(self._form)
        form.setContentsMargins(0, 0, 0, 0)
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        form.setVerticalSpacing(6)
        size = QHBoxLayout()
        self.height_box, self.width_box = number_box(0, 16384), number_box(0, 16384)
        for box, name in ((self.height_box, self.tr("Height")), (self.width_box, self.tr("Width"))):
            box.setSpecialValueText(self.tr("as it is"))
            box.setAccessibleName(name)
            box.editingFinished.connect(self._apply)
            size.addWidget(box, 1)
        size.insertWidget(1, label("×"))
        form.addRow(self.tr("Height × width"), size)
        self.color = choice_box()
        for value, text in (("rgb", "RGB"), ("bgr", "BGR"), ("gray", self.tr("grey"))):
            self.color.addItem(text, value)
        self.color.activated.connect(self._apply)
        form.addRow(self.tr("Colours"), self.color)
        self.mean, self.std = QLineEdit(), QLineEdit()
        for field, text in ((self.mean, self.tr("Mean")), (self.std, self.tr("Standard deviation"))):
            field.setPlaceholderText(self.tr("one number, or one per channel: 0.485 0.456 0.406"))
            field.editingFinished.connect(self._apply)
            form.addRow(text, field)
        self.layout_box = choice_box()
        self.layout_box.addItems(["NCHW", "NHWC"])
        self.layout_box.activated.connect(self._apply)
        form.addRow(self.tr("Layout"), self.layout_box)
        column.addWidget(self._form)
        self._form.hide()

    def show_preprocessing(self, how: Preprocessing) -> None:
        """Shows it in the line and in the form."""
        self._shown = how
        self.height_box.setValue(how.height)
        self.width_box.setValue(how.width)
        self.color.setCurrentIndex(self.color.findData(how.color))
        self.mean.setText(_text_of(how.mean))
        self.std.setText(_text_of(how.std))
        self.layout_box.setCurrentText(how.layout)
        self._summary.setText(self._sum_up(how))
        self.problem = self._find_problem(how)

    def _sum_up(self, how: Preprocessing) -> str:
        size = f"{how.height}×{how.width}" if how.height and how.width else self.tr("size as it is")
        parts = [size, self.color.currentText() or how.color, how.layout]
        if how.mean:
            parts.append(self.tr("mean") + " " + _text_of(how.mean))
        if how.std:
            parts.append(self.tr("std") + " " + _text_of(how.std))
        return " · ".join(parts)

    def _find_problem(self, how: Preprocessing) -> str:
        channels = _CHANNELS.get(how.color, 3)
        if any(len(v) not in (0, 1, channels) for v in (how.mean, how.std)):
            return self.tr("Mean and standard deviation want one number, or one per channel.")
        if 0.0 in how.std:
            return self.tr("A standard deviation of 0 divides by zero.")
        if bool(how.height) != bool(how.width):
            return self.tr("Set height and width together, or neither.")
        return ""

    def _on_toggle(self) -> None:
        is_open = self._form.isHidden()
        self._form.setVisible(is_open)
        self._toggle.setText(self.tr("Close") if is_open else self.tr("Change…"))

    def _apply(self, *_: object) -> None:
        try:
            mean = _typed(self.mean, self._shown.mean)
            std = _typed(self.std, self._shown.std)
        except ValueError:
            self.show_preprocessing(self._shown)  # back to the last numbers that were ones
            return
        made = Preprocessing(
            height=self.height_box.value(),
            width=self.width_box.value(),
            color=self.color.currentData(),
            mean=mean,
            std=std,
            layout=self.layout_box.currentText(),
            scale=self._shown.scale,
        )
        if made != self._shown:
            self.changed.emit(made)


def _text_of(numbers: tuple[float, ...]) -> str:
    return " ".join(f"{x:g}" for x in numbers)


def _typed(field: QLineEdit, shown: tuple[float, ...]) -> tuple[float, ...]:
    """The numbers in a field, spaces or commas between them; as they were, with all their digits, where the
    field was only left. Raises ValueError."""
    if field.text() == _text_of(shown):
        return shown
    return tuple(float(word) for word in field.text().replace(",", " ").split())
