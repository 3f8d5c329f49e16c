"""Light edits of a graph as plain data: what an edit step of a recipe holds.

Nodes are named by their name or, where that is missing or doubled, by a tensor that they make.
"""

from __future__ import annotations

from studio.records import Record

AttributeSetting = int | float | str | list[int | float | str]  # one list: msgspec takes no union of lists


class RenameNode(Record, tag="rename_node", tag_field="edit"):
    """Gives a node another name."""

    node: str
    name: str


class RenameTensor(Record, tag="rename_tensor", tag_field="edit"):
    """Gives a tensor another name, inputs and outputs of the model included."""

    tensor: str
    name: str


class RemoveNode(Record, tag="remove_node", tag_field="edit"):
    """Takes a node out; what read its output reads its first input."""

    node: str


class SetAttribute(Record, tag="set_attribute", tag_field="edit"):
    """Sets an attribute; `value` None takes it away, so that the default holds."""

    node: str
    attribute: str
    value: AttributeSetting | None = None


class CutOut(Record, tag="cut_out", tag_field="edit"):
    """Keeps only what lies between these tensors; empty `inputs` = the model's own."""

    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()


class FreezeDim(Record, tag="freeze_dim", tag_field="edit"):
    """Gives a symbolic dim of the inputs a number."""

    dim: str
    size: int


Edit = RenameNode | RenameTensor | RemoveNode | SetAttribute | CutOut | FreezeDim
