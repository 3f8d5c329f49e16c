"""Dialogs of light edits: rename, set an attribute, cut out, give dims a size. Each answers with edits."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from PySide6.QtWidgets import QComboBox, QFormLayout, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from studio.errors import InputError
from studio.graph import Graph
from studio.graph.op_docs import OpDoc
from studio.graph.references import reference_of
from studio.recipes.edit_records import CutOut, Edit, FreezeDim, RenameNode, RenameTensor, SetAttribute
from studio.ui.domain_texts import translate_sentence
from studio.ui.node_facts import attributes_of
from studio.ui.texts import translate
from studio.ui.widgets.dialog import Dialog
from studio.ui.widgets.parts import button, label


class EditDialog(Dialog):
    """A form, a place for what is wrong, *Apply*. Subclasses fill the form and answer with edits."""

    def __init__(
        self, title: str, meaning: str, on_edits: Callable[[tuple[Edit, ...]], object], parent: QWidget | None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self._on_edits = on_edits
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 14)
        column.setSpacing(10)
        column.addWidget(label(title, "title", wrap=True))
        column.addWidget(label(meaning, "quiet", wrap=True))
        self.form = QFormLayout()
        self.form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        column.addLayout(self.form)
        self._wrong = label("", "bad", wrap=True, selectable=True)
        self._wrong.hide()
        column.addWidget(self._wrong)
        column.addWidget(label(self.tr("This becomes a step of the recipe; undo takes it back."), "small"))
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(button(self.tr("Cancel"), self.reject))
        self.apply = button(self.tr("Apply"), self.accept, role="primary")
        self.apply.setDefault(True)
        row.addWidget(self.apply)
        column.addLayout(row)
        self.setMinimumWidth(460)

    def edits(self) -> tuple[Edit, ...]:
        """The edits that the form says. Raises InputError."""
        raise NotImplementedError

    def accept(self) -> None:
        """Hands the edits over, or says what is wrong with them."""
        try:
            edits = self.edits()
        except InputError as error:
            said = f"{translate_sentence(error.message)} {translate_sentence(error.hint)}"
            self.say(said.strip())
            return
        super().accept()
        if edits:
            self._on_edits(edits)

    def say(self, words: str) -> None:
        """Says what is wrong."""
        self._wrong.setText(words)
        self._wrong.show()

    def add_field(self, title: str, text: str, hint: str = "") -> QLineEdit:
        """One more line of the form."""
        field = QLineEdit(text)
        field.setPlaceholderText(hint)
        field.setAccessibleName(title)
        self.form.addRow(title, field)
        if self.form.rowCount() == 1:
            field.setFocus()
        return field


class RenameDialog(EditDialog):
    """Another name for a node or a tensor."""

    def __init__(
        self,
        graph: Graph,
        node: int | None,
        tensor: int | None,
        on_edits: Callable[[tuple[Edit, ...]], object],
        parent: QWidget | None = None,
    ) -> None:
        self._node = reference_of(graph, node) if node is not None else ""
        self._tensor = graph.tensor_name[tensor] if tensor is not None else ""
        title = (
            translate("EditDialog", "Rename the node")
            if node is not None
            else translate("EditDialog", "Rename the tensor")
        )
        super().__init__(title, self._node or self._tensor, on_edits, parent)
        before = graph.node_name[node] if node is not None else self._tensor
        self.name = self.add_field(self.tr("Name"), before)
        self.name.selectAll()

    def edits(self) -> tuple[Edit, ...]:
        """A rename, or nothing when the name is the same."""
        name = self.name.text().strip()
        if not name:
            raise InputError("A name cannot be empty.", hint="Type a name.")
        if name in (self._node, self._tensor):
            return ()
        if self._node:
            return (RenameNode(node=self._node, name=name),)
        return (RenameTensor(tensor=self._tensor, name=name),)


class AttributeDialog(EditDialog):
    """Another value for one of a node's attributes."""

    def __init__(
        self,
        graph: Graph,
        node: int,
        doc: OpDoc | None,
        on_edits: Callable[[tuple[Edit, ...]], object],
        parent: QWidget | None = None,
    ) -> None:
        self._reference = reference_of(graph, node)
        super().__init__(
            translate("EditDialog", "Set an attribute"),
            f"{graph.node_op[node]}  {graph.label(node)}",
            on_edits,
            parent,
        )
        self._given = dict(graph.node_attributes[node])
        self.attribute = QComboBox()
        self.attribute.setAccessibleName(self.tr("Attribute"))
        for fact in attributes_of(graph, node, doc):
            self.attribute.addItem(fact.name, fact.value)
        self.form.addRow(self.tr("Attribute"), self.attribute)
        self.value = self.add_field(self.tr("Value"), "", self.tr("empty = the operator's default"))
        self.form.addRow("", label(self.tr("A number, a word, or a list: [1, 1, 2, 2]"), "small"))
        self.attribute.setFocus()
        self.attribute.currentTextChanged.connect(self._show_value)
        self._show_value(self.attribute.currentText())
        if not self.attribute.count():
            self.apply.setEnabled(False)
            self.say(translate("NodePages", "This operator has no attributes."))

    def _show_value(self, name: str) -> None:
        value = self._given.get(name)
        is_plain = isinstance(value, (int, float, list)) and not isinstance(value, bool)
        try:
            text = json.dumps(value) if is_plain else str(value if isinstance(value, str) else "")
        except TypeError:  # a list of subgraphs
            text = ""
        self.value.setText(text)

    def edits(self) -> tuple[Edit, ...]:
        """One attribute's new value; an empty field takes the attribute away."""
        text = self.value.text().strip()
        value = parse_value(text) if text else None
        return (SetAttribute(node=self._reference, attribute=self.attribute.currentText(), value=value),)


class CutDialog(EditDialog):
    """Which tensors the model begins and ends with."""

    def __init__(
        self,
        graph: Graph,
        inputs: Sequence[int],
        outputs: Sequence[int],
        on_edits: Callable[[tuple[Edit, ...]], object],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(
            translate("EditDialog", "Cut out as a model of its own"),
            translate(
                "EditDialog", "Keeps only what lies between these tensors; separate several by commas."
            ),
            on_edits,
            parent,
        )
        self._own = tuple(
            tuple(graph.tensor_name[t] for t in own) for own in (graph.main_inputs(), graph.main_outputs())
        )
        self.inputs = self.add_field(self.tr("Inputs"), ", ".join(graph.tensor_name[t] for t in inputs))
        self.outputs = self.add_field(self.tr("Outputs"), ", ".join(graph.tensor_name[t] for t in outputs))

    def edits(self) -> tuple[Edit, ...]:
        """The cut; a side that is the model's own is left to it."""
        sides = tuple(
            tuple(filter(None, (name.strip() for name in field.text().split(","))))
            for field in (self.inputs, self.outputs)
        )
        inputs, outputs = (() if side == own else side for side, own in zip(sides, self._own))
        if not inputs and not outputs:
            raise InputError("That is the whole model.", hint="Name other inputs or outputs.")
        return (CutOut(inputs=inputs, outputs=outputs),)


class FreezeDialog(EditDialog):
    """Numbers for the dims that the inputs leave open."""

    def __init__(
        self,
        dims: Sequence[str],
        on_edits: Callable[[tuple[Edit, ...]], object],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(
            translate("EditDialog", "Fix sizes of dims"),
            translate("EditDialog", "Many accelerators only take models whose sizes are all fixed."),
            on_edits,
            parent,
        )
        self.fields = {name: self.add_field(name, "", self.tr("leave open")) for name in dims}
        if not dims:
            self.form.addRow(label(self.tr("Every size of this model's inputs is fixed already."), wrap=True))
            self.apply.setEnabled(False)

    def edits(self) -> tuple[Edit, ...]:
        """One edit per dim that was given a number."""
        result = []
        for name, field in self.fields.items():
            text = field.text().strip()
            if text and not (text.isascii() and text.isdigit() and int(text) > 0):
                raise InputError(f"{text} is no size.", hint="Give a whole number from 1.")
            if text:
                result.append(FreezeDim(dim=name, size=int(text)))
        if not result:
            raise InputError("No dim was given a size.", hint="Type a number beside one.")
        return tuple(result)


def parse_value(text: str) -> int | float | str | list[int | float | str]:
    """A number, a list of numbers or words, else the text itself. Raises InputError."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    items = value if isinstance(value, list) else [value]
    if any(isinstance(item, bool) or not isinstance(item, (int, float, str)) for item in items):
        raise InputError(
            f"{text} is no value of an attribute.", hint="Give a number, a word or a list of them."
        )
    return value  # type: ignore[no-any-return]


def open_dims(graph: Graph) -> list[str]:
    """The dims that the main inputs leave open, as `FreezeDim` takes them."""
    names: dict[str, None] = {}
    for tensor in graph.main_inputs():
        for axis, dim in enumerate(graph.tensor_shape[tensor] or ()):
            if not isinstance(dim, int):
                names[dim or f"{graph.tensor_name[tensor]}:{axis}"] = None
    return list(names)
