"""Light edits: what each leaves, and that a wrong one changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from studio.errors import InputError
from studio.recipes.edit_records import (
    CutOut,
    Edit,
    FreezeDim,
    RemoveNode,
    RenameNode,
    RenameTensor,
    SetAttribute,
)
from studio.recipes.edits import apply_edits

N = helper.make_node
Editor = Callable[..., onnx.ModelProto]


@pytest.fixture
def edited(tmp_path: Path) -> Editor:
    """Applies edits to x → Conv c → Relu r → Dropout d → Softmax s → y, and gives the result."""
    graph = helper.make_graph(
        [
            N("Conv", ["x", "w"], ["c"], name="conv", pads=[1, 1, 1, 1]),
            N("Relu", ["c"], ["r"], name="relu"),
            N("Dropout", ["r"], ["d"]),
            N("Softmax", ["d"], ["y"], name="softmax", axis=1),
        ],
        "tiny",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3, 8, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 4, 8, 8])],
        [numpy_helper.from_array(np.ones((4, 3, 3, 3), np.float32), "w")],
    )
    source = tmp_path / "source.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10), source)

    def run(*edits: Edit) -> onnx.ModelProto:
        out = tmp_path / "out.onnx"
        apply_edits(source, edits, out)
        return onnx.load(out)

    return run


def ops(model: onnx.ModelProto) -> list[str]:
    return [n.op_type for n in model.graph.node]


def test_a_node_and_a_tensor_are_renamed(edited: Editor) -> None:
    model = edited(RenameNode(node="relu", name="activation"), RenameTensor(tensor="y", name="probabilities"))
    assert [n.name for n in model.graph.node][1] == "activation"
    assert model.graph.output[0].name == "probabilities"


def test_a_nameless_node_is_named_by_what_it_makes_and_removed(edited: Editor) -> None:
    model = edited(RemoveNode(node="d"))
    assert ops(model) == ["Conv", "Relu", "Softmax"]
    assert model.graph.node[2].input[0] == "r"


def test_removing_the_last_node_keeps_the_output_name(edited: Editor) -> None:
    model = edited(RemoveNode(node="softmax"))
    assert model.graph.output[0].name == "y"
    assert "Softmax" not in ops(model)


def test_a_node_that_changes_the_shape_cannot_be_taken_out(edited: Editor) -> None:
    with pytest.raises(InputError, match="turns"):
        edited(RemoveNode(node="conv"))


def test_an_attribute_is_set_and_taken_away(edited: Editor) -> None:
    model = edited(SetAttribute(node="softmax", attribute="axis", value=-1))
    assert model.graph.node[-1].attribute[0].i == -1
    model = edited(SetAttribute(node="softmax", attribute="axis"))
    assert not model.graph.node[-1].attribute


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (SetAttribute(node="softmax", attribute="axes", value=1), "has no attribute axes"),
        (SetAttribute(node="softmax", attribute="axis", value="one"), "wants int"),
        (SetAttribute(node="conv", attribute="pads", value=[1]), "no valid model"),
        (RenameNode(node="nobody", name="x"), "no node nobody"),
        (RenameNode(node="relu", name="conv"), "cannot be called"),
        (RenameTensor(tensor="r", name="c"), "cannot be called"),
        (RenameTensor(tensor="zz", name="q"), "no tensor zz"),
        (CutOut(inputs=("r",), outputs=("c",)), ""),
        (CutOut(), "Nothing was chosen"),
        (FreezeDim(dim="M", size=1), "Open dims: N"),
    ],
)
def test_a_wrong_edit_is_refused_in_words_and_nothing_is_written(
    edited: Editor, tmp_path: Path, edit: Edit, said: str
) -> None:
    with pytest.raises(InputError) as refused:
        edited(edit)
    assert said in str(refused.value)
    assert not (tmp_path / "out.onnx").exists()


def test_a_part_is_cut_out_as_its_own_model(edited: Editor) -> None:
    model = edited(CutOut(inputs=("c",), outputs=("d",)))
    assert ops(model) == ["Relu", "Dropout"]
    assert [v.name for v in model.graph.input] == ["c"]


def test_a_dim_is_frozen_in_inputs_and_outputs(edited: Editor) -> None:
    model = edited(FreezeDim(dim="N", size=2))
    assert model.graph.input[0].type.tensor_type.shape.dim[0].dim_value == 2
    assert model.graph.output[0].type.tensor_type.shape.dim[0].dim_value == 2
