"""Attention recognised in its parts as exporters write them, proven equal, and left alone where it is not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from studio.errors import UnsupportedError
from studio.recipes.fixes import FixOptions, FixOutcome, apply_fix

N = helper.make_node
HEADS = {"q": [2, 3, 5, 8], "k": [2, 3, 7, 8], "v": [2, 3, 7, 4]}


def attention(
    folder: Path,
    before: list[onnx.NodeProto],
    inputs: dict[str, list[int]],
    *,
    softmax_axis: int = -1,
    opset: int = 23,
    also: tuple[str, ...] = (),
    after: tuple[onnx.NodeProto, ...] = (),
    weights: str = "p",
    **constants: object,
) -> Path:
    """A model of `before`, which makes the scores `s`, then softmax and the product by v."""
    nodes = [
        *before,
        N("Softmax", ["s"], ["p"], axis=softmax_axis),
        *after,
        N("MatMul", [weights, "v"], ["y"], name="by_v"),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in inputs.items()],
        [helper.make_value_info(n, helper.make_tensor_type_proto(1, None)) for n in ("y", *also)],
        initializer=[numpy_helper.from_array(np.asarray(v, np.float32), n) for n, v in constants.items()],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    made = onnx.shape_inference.infer_shapes(made)
    del made.graph.value_info[:]
    path = folder / "in.onnx"
    onnx.save(made, path)
    return path


def fuse(path: Path) -> tuple[FixOutcome, list[str]]:
    outcome = apply_fix(
        path, "fuse-attention", path.with_name("out.onnx"), FixOptions(), targets=("ort/cpu",)
    )
    made = onnx.load(outcome.files[0])
    onnx.checker.check_model(made, full_check=True)
    return outcome, [n.op_type for n in made.graph.node]


TURN = N("Transpose", ["k"], ["kt"], perm=[0, 1, 3, 2])
CAUSAL = np.triu(np.full((5, 7), -np.inf), 1)


def test_scale_by_division_of_the_scores(tmp_path: Path) -> None:
    nodes = [TURN, N("MatMul", ["q", "kt"], ["m"]), N("Div", ["m", "root"], ["s"])]
    outcome, ops = fuse(attention(tmp_path, nodes, HEADS, root=3.0))
    assert ops == ["Attention"] and outcome.changed == ("by_v",)
    assert outcome.before["ort/cpu"].left == outcome.after[0]["ort/cpu"].left == 0


def test_scale_on_both_factors_as_torch_writes_it(tmp_path: Path) -> None:
    nodes = [
        N("Mul", ["q", "root"], ["qs"]),
        TURN,
        N("Mul", ["root", "kt"], ["ks"]),
        N("MatMul", ["qs", "ks"], ["s"]),
    ]
    _, ops = fuse(attention(tmp_path, nodes, HEADS, root=0.6))
    assert ops == ["Attention"]


def test_keys_split_and_turned_in_one_step_get_a_transpose_of_their_own(tmp_path: Path) -> None:
    nodes = [N("Transpose", ["k"], ["kt"], perm=[0, 2, 3, 1]), N("MatMul", ["q", "kt"], ["s"])]
    _, ops = fuse(attention(tmp_path, nodes, {**HEADS, "k": [2, 7, 3, 8]}))
    assert ops == ["Transpose", "Attention"]


def test_queries_keys_and_values_packed_in_five_dims_and_what_is_left_of_a_dropout(tmp_path: Path) -> None:
    nodes = [
        N("Split", ["qkv"], ["q5", "k5", "v5"], axis=0, num_outputs=3),
        *(N("Squeeze", [f"{n}5", "first"], [n]) for n in "qkv"),
        N("Mul", ["q", "root"], ["scaled"]),
        N("Identity", ["scaled"], ["qs"]),
        TURN,
        N("MatMul", ["qs", "kt"], ["m"]),
        N("Identity", ["m"], ["s"]),
    ]
    first = N("Constant", [], ["first"], value_ints=[0])
    left = (N("Identity", ["p"], ["d"]), N("Identity", ["d"], ["w"]))
    path = attention(tmp_path, [first, *nodes], {"qkv": [3, 2, 3, 5, 8]}, after=left, weights="w", root=0.4)
    outcome, ops = fuse(path)
    assert ops.count("Attention") == 1 and not {"Softmax", "MatMul", "Identity"} & set(ops)
    assert outcome.proof.holds
    seen = attention(tmp_path, [first, *nodes], {"qkv": [3, 2, 3, 5, 8]}, also=("d",), after=left,
                     weights="w", root=0.4)  # fmt: skip
    with pytest.raises(UnsupportedError, match="no subgraph that computes Attention"):
        fuse(seen)  # the weights are an output: they must stay


@pytest.mark.parametrize("shape", [[5, 7], [2, 1, 5, 7], [2, 1, 1, 7], [7], [1, 1, 5, 1]])
@pytest.mark.parametrize("is_first", [False, True])
def test_a_mask_is_taken_and_widened_to_the_queries(tmp_path: Path, shape: list[int], is_first: bool) -> None:
    pair = ["mask", "m"] if is_first else ["m", "mask"]
    nodes = [TURN, N("MatMul", ["q", "kt"], ["m"]), N("Add", pair, ["s"])]
    _, ops = fuse(attention(tmp_path, nodes, {**HEADS, "mask": shape}))
    assert ops == (["Attention"] if shape[-2:] == [5, 7] else ["Expand", "Attention"])


def test_the_guard_against_empty_rows_goes_where_no_row_is_empty(tmp_path: Path) -> None:
    guard = (N("IsNaN", ["p"], ["bad"]), N("Where", ["bad", "zero", "p"], ["w"]))
    nodes = [TURN, N("MatMul", ["q", "kt"], ["m"]), N("Add", ["m", "mask"], ["s"])]
    path = attention(tmp_path, nodes, HEADS, after=guard, weights="w", zero=0.0, mask=CAUSAL)
    assert fuse(path)[1] == ["Attention"]
    empty = CAUSAL.copy()
    empty[2] = -np.inf
    path = attention(tmp_path, nodes, HEADS, after=guard, weights="w", zero=0.0, mask=empty)
    with pytest.raises(UnsupportedError, match="no subgraph that computes Attention"):
        fuse(path)


PRODUCT = N("MatMul", ["q", "kt"], ["m"])


@pytest.mark.parametrize(
    ("nodes", "options"),
    [
        ([TURN, PRODUCT, N("Mul", ["m", "c"], ["s"])], {"c": -1.0}),
        ([TURN, PRODUCT, N("Mul", ["m", "c"], ["s"])], {"c": 0.0}),
        ([TURN, PRODUCT, N("Div", ["c", "m"], ["s"])], {"c": 2.0}),
        ([TURN, PRODUCT, N("Mul", ["m", "c"], ["s"])], {"c": np.arange(1.0, 8.0)}),
        (
            [TURN, PRODUCT, N("Add", ["m", "k7"], ["a"]), N("Mul", ["a", "c"], ["s"])],
            {"c": 2.0, "k7": CAUSAL},
        ),
        ([TURN, PRODUCT, N("Mul", ["m", "c"], ["s"])], {"c": 2.0, "softmax_axis": 2}),
        ([TURN, PRODUCT, N("Mul", ["m", "c"], ["s"])], {"c": 2.0, "also": ("p",)}),
        ([TURN, PRODUCT, N("Mul", ["m", "c"], ["s"])], {"c": 2.0, "opset": 22}),
    ],
    ids=["negative", "zero", "divisor", "per column", "mask first", "axis", "weights returned", "opset"],
)
def test_what_is_no_attention_is_left_alone(
    tmp_path: Path, nodes: list[onnx.NodeProto], options: dict
) -> None:
    path = attention(tmp_path, nodes, HEADS, **options)
    with pytest.raises(UnsupportedError, match=r"nothing to fix|needs opset 23"):
        fuse(path)
    assert [p.name for p in tmp_path.iterdir()] == ["in.onnx"]


def test_heads_left_to_broadcasting_are_left_alone(tmp_path: Path) -> None:
    nodes = [TURN, N("MatMul", ["q", "kt"], ["s"])]
    with pytest.raises(UnsupportedError, match="nothing to fix"):
        fuse(attention(tmp_path, nodes, {**HEADS, "k": [2, 1, 7, 8]}))


def test_a_layer_of_torch_is_fused(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    layer = torch.nn.TransformerEncoderLayer(32, 4, 64, batch_first=True).eval()
    path = tmp_path / "in.onnx"
    example = (torch.randn(2, 6, 32),)
    torch.onnx.export(layer, example, path, dynamo=True, opset_version=18, verbose=False, external_data=False)
    apply_fix(path, "opset-up", path, FixOptions(opset=23))
    outcome, ops = fuse(path)
    assert ops.count("Attention") == 1 and "Softmax" not in ops
    assert outcome.proof.samples > 0 and outcome.proof.holds
