"""Fixes and edits of files that no exporter writes: words, never a crash, and nothing half-written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from studio.errors import StudioError
from studio.recipes.edit_records import CutOut, Edit, FreezeDim, RemoveNode, RenameTensor, SetAttribute
from studio.recipes.edits import apply_edits
from studio.recipes.fixes import FIXES, FixOptions, apply_fix
from tests.worker.fix_corpus import array, build, model

N = helper.make_node
Model = onnx.ModelProto


def plain(*nodes: onnx.NodeProto, constants: tuple[TensorProto, ...] = ()) -> Model:
    """x [1, 3, 8, 8] → nodes → y, nothing checked."""
    graph = helper.make_graph(
        list(nodes),
        "hostile",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 8, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        initializer=constants,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)


def cycle() -> Model:
    return plain(N("Add", ["x", "b"], ["a"]), N("HardSwish", ["a"], ["b"]), N("Relu", ["b"], ["y"]))


def absurd_rank() -> Model:
    made = model([N("Sigmoid", ["x"], ["y"])], {"x": [1] * 60}, ["y"])
    made.graph.input[0].type.tensor_type.shape.dim[3].dim_value = 2**40
    return made


def open_everywhere() -> Model:
    return model([N("Sigmoid", ["x"], ["y"])], {"x": [f"d{i}" for i in range(12)]}, ["y"])


def damaged_weight() -> Model:
    weight = array("w", 4, 3, 3, 3)
    weight.raw_data = weight.raw_data[:10]
    return plain(N("Conv", ["x", "w"], ["y"]), constants=(weight,))


def impossible_weight() -> Model:
    weight = array("w", 4, 3, 3, 3)
    weight.dims[:] = [2**31, 2**31, -1]
    return plain(N("Conv", ["x", "w"], ["y"]), constants=(weight,))


def nested() -> Model:
    """If in Loop in If, each reading what is made outside."""
    value = helper.make_tensor_value_info
    leaf = helper.make_graph([N("Gelu", ["x"], ["l"])], "leaf", [], [value("l", 1, None)])
    body = helper.make_graph(
        [N("If", ["go"], ["b"], then_branch=leaf, else_branch=leaf), N("Identity", ["go"], ["go2"])],
        "body",
        [value("i", 7, []), value("go", 9, [])],
        [value("go2", 9, []), value("b", 1, None)],
    )
    outer = helper.make_graph([N("Loop", ["n", "c"], ["o"], body=body)], "outer", [], [value("o", 1, None)])
    return plain(N("If", ["c"], ["y"], then_branch=outer, else_branch=outer))


def recursive_function() -> Model:
    made = plain(N("F", ["x"], ["y"], domain="x.y"))
    made.opset_import.append(helper.make_opsetid("x.y", 1))
    body = [N("F", ["a"], ["b"], domain="x.y")]
    made.functions.append(helper.make_function("x.y", "F", ["a"], ["b"], body, list(made.opset_import)))
    return made


def no_opset() -> Model:
    made = plain(N("Conv", ["x", "w"], ["y"]), constants=(array("w", 4, 3, 3, 3),))
    made.opset_import[0].version = 0
    return made


def no_outputs_at_all() -> Model:
    made = build("hardswish")
    del made.graph.output[:]
    for node in made.graph.node:
        del node.output[:]
    return made


HOSTILE: dict[str, Callable[[], Model]] = {
    "cycle": cycle,
    "missing-input": lambda: plain(N("Conv", ["x", "nobody"], ["y"])),
    "too-few-inputs": lambda: plain(N("Conv", [], ["y"]), N("Einsum", [], ["z"]), N("Concat", [], ["q"])),
    "no-outputs": lambda: plain(N("Conv", ["x", "x"], []), N("HardSwish", ["x"], ["y"])),
    "no-outputs-at-all": no_outputs_at_all,
    "made-twice": lambda: plain(N("Relu", ["x"], ["y"]), N("Abs", ["x"], ["y"])),
    "unknown-domain": lambda: plain(N("Conv", ["x"], ["y"], domain="who.knows")),
    "unknown-operator": lambda: plain(N("Nope", ["x"], ["y"], axis=2**62)),
    "absurd-rank": absurd_rank,
    "absurd-attributes": lambda: plain(N("Transpose", ["x"], ["y"], perm=[2**40, -7, 0, 0, 3, 99])),
    "open-everywhere": open_everywhere,
    "damaged-weight": damaged_weight,
    "impossible-weight": impossible_weight,
    "nested": nested,
    "recursive-function": recursive_function,
    "no-opset": no_opset,
}
EDITS: tuple[Edit, ...] = (
    RemoveNode(node="y"),
    RemoveNode(node=""),
    RenameTensor(tensor="x", name="z"),
    SetAttribute(node="y", attribute="axis", value=1),
    CutOut(inputs=("x",), outputs=("y",)),
    FreezeDim(dim="d3", size=2**40),
)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_in_words_or_rewritten_whole(name: str, tmp_path: Path) -> None:
    source, out = tmp_path / "in.onnx", tmp_path / "out.onnx"
    source.write_bytes(HOSTILE[name]().SerializeToString())
    before = source.read_bytes()

    def work(run: Callable[[], object]) -> None:
        try:
            run()
        except StudioError as refused:
            text = str(refused)
            assert text.strip() and "\n" not in text and len(text) < 700
            assert [p.name for p in tmp_path.iterdir()] == ["in.onnx"], "nothing is written when refused"
        for made in tmp_path.glob("out*.onnx"):
            onnx.load(made)
            made.unlink()
        assert source.read_bytes() == before

    for fix in FIXES:
        options = FixOptions(target="ort/qnn", soc="SM8650")
        work(lambda: apply_fix(source, fix, out, options, targets=("ort/qnn",)))  # noqa: B023
    for edit in EDITS:
        work(lambda: apply_edits(source, (edit,), out))  # noqa: B023
