"""Every fix on a small model where it applies: what it leaves, that it proves equal, that it can refuse."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from studio.errors import InputError, UnsupportedError
from studio.recipes.fixes import FIXES, FixOptions, FixOutcome, apply_fix
from studio.recipes.fixes.fix import Rewrite, rewriter_of
from studio.recipes.fixes.onnx_edit import OnnxEdit
from studio.recipes.fixes.prove import difference
from tests.worker.fix_corpus import half

Fixed = tuple[FixOutcome, list[onnx.ModelProto]]
RNG = np.random.default_rng(3)


def weights(name: str, *shape: int) -> onnx.TensorProto:
    return numpy_helper.from_array(RNG.standard_normal(shape).astype(np.float32), name)


def const(name: str, value: object, dtype: type = np.float32) -> onnx.TensorProto:
    return numpy_helper.from_array(np.array(value, dtype), name)


def model(
    nodes: list[onnx.NodeProto],
    inputs: dict[str, list[int | str]],
    outputs: list[str],
    constants: list[onnx.TensorProto] | None = None,
    opset: int = 18,
) -> onnx.ModelProto:
    for i, node in enumerate(nodes):
        node.name = node.name or f"{node.op_type.lower()}_{i}"
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in inputs.items()],
        [helper.make_value_info(n, helper.make_tensor_type_proto(1, None)) for n in outputs],
        initializer=constants or [],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    inferred = onnx.shape_inference.infer_shapes(made)
    del inferred.graph.value_info[:]
    return inferred


@pytest.fixture
def fix(tmp_path: Path) -> Callable[..., tuple[FixOutcome, list[onnx.ModelProto]]]:
    def run(
        made: onnx.ModelProto, fix_id: str, **options: object
    ) -> tuple[FixOutcome, list[onnx.ModelProto]]:
        source = tmp_path / "source.onnx"
        onnx.save(made, source)
        outcome = apply_fix(source, fix_id, tmp_path / "out.onnx", FixOptions(**options))
        results = [onnx.load(f) for f in outcome.files]
        for result in results:
            onnx.checker.check_model(result, full_check=True)
        return outcome, results

    return run


def ops(made: onnx.ModelProto) -> list[str]:
    return [n.op_type for n in made.graph.node]


N = helper.make_node


def test_every_fix_in_the_table_has_its_function() -> None:
    for fix in FIXES.values():
        assert callable(rewriter_of(fix)), fix.id


def test_freeze_makes_one_model_per_bucket_and_folds_shape_arithmetic(fix) -> None:
    nodes = [
        N("Shape", ["x"], ["s"]),
        N("Gather", ["s", "zero"], ["n"]),
        N("Unsqueeze", ["n", "axis"], ["n1"]),
        N("Concat", ["n1", "minus"], ["t"], axis=0),
        N("Reshape", ["x", "t"], ["y"]),
    ]
    constants = [const("zero", 0, np.int64), const("axis", [0], np.int64), const("minus", [-1], np.int64)]
    made = model(nodes, {"x": ["N", 3, 4]}, ["y"], constants)
    outcome, results = fix(made, "freeze-dims", dims={"N": (1, 4)})
    assert [Path(f).name for f in outcome.files] == ["out-N1.onnx", "out-N4.onnx"]
    assert all(ops(r) == ["Reshape"] for r in results)
    dims = [d.dim_value for d in results[1].graph.output[0].type.tensor_type.shape.dim]
    assert dims == [4, 12]


def test_freeze_without_a_value_names_the_dim(fix) -> None:
    made = model([N("Relu", ["x"], ["y"])], {"x": ["N", "T"]}, ["y"])
    with pytest.raises(InputError, match="T has no value"):
        fix(made, "freeze-dims", dims={"N": (1,)})


def test_opset_goes_up_and_down(fix) -> None:
    made = model([N("Relu", ["x"], ["y"])], {"x": [1, 4]}, ["y"], opset=18)
    _, (up,) = fix(made, "opset-up", opset=21)
    _, (down,) = fix(made, "opset-down", opset=13)
    assert (up.opset_import[0].version, down.opset_import[0].version) == (21, 13)


def bn(x: str, y: str) -> tuple[onnx.NodeProto, list[onnx.TensorProto]]:
    names = ["scale", "bias", "mean", "var"]
    values = [RNG.uniform(0.5, 2, 6).astype(np.float32) for _ in names]
    return N("BatchNormalization", [x, *names], [y]), [
        numpy_helper.from_array(v, n) for v, n in zip(values, names)
    ]


def test_batchnorm_folds_into_conv(fix) -> None:
    norm, constants = bn("c", "y")
    made = model(
        [N("Conv", ["x", "w", "b"], ["c"]), norm],
        {"x": [1, 3, 8, 8]},
        ["y"],
        [weights("w", 6, 3, 3, 3), weights("b", 6), *constants],
    )
    _, (result,) = fix(made, "fold-batchnorm")
    assert ops(result) == ["Conv"]


def test_batchnorm_folds_into_a_grouped_transposed_convolution(fix) -> None:
    norm, constants = bn("c", "y")
    conv = N("ConvTranspose", ["x", "w"], ["c"], group=2)
    made = model([conv, norm], {"x": [1, 4, 5, 5]}, ["y"], [weights("w", 4, 3, 2, 2), *constants])
    _, (result,) = fix(made, "fold-batchnorm")
    assert ops(result) == ["ConvTranspose"]


def test_batchnorm_whose_input_is_read_twice_becomes_mul_and_add(fix) -> None:
    norm, constants = bn("c", "d")
    made = model(
        [N("Conv", ["x", "w"], ["c"]), norm, N("Add", ["c", "d"], ["y"])],
        {"x": [1, 3, 8, 8]},
        ["y"],
        [weights("w", 6, 3, 3, 3), *constants],
    )
    _, (result,) = fix(made, "fold-batchnorm")
    assert sorted(ops(result)) == ["Add", "Add", "Conv", "Mul"]


def test_a_chain_of_conv1d_becomes_2d_with_one_squeeze_and_one_unsqueeze(fix) -> None:
    nodes = []
    for i in range(4):
        nodes += [
            N("Conv", [f"x{i}", f"w{i}"], [f"c{i}"], pads=[1, 1], strides=[1 + i % 2]),
            N("Relu", [f"c{i}"], [f"x{i + 1}"]),
        ]
    made = model(nodes, {"x0": [1, 16, 32]}, ["x4"], [weights(f"w{i}", 16, 16, 3) for i in range(4)])
    _, (result,) = fix(made, "conv1d-to-conv2d")
    found = ops(result)
    assert found.count("Conv") == 4
    assert found.count("Unsqueeze") == 1
    assert found.count("Squeeze") <= 1 and found[-1] in ("Squeeze", "Relu")


def test_convtranspose_weights_are_quantized_along_axis_1(fix) -> None:
    q = RNG.integers(-127, 127, (3, 8, 3, 3)).astype(np.int8)
    scale = RNG.uniform(0.01, 0.03, 3).astype(np.float32)
    nodes = [
        N("DequantizeLinear", ["q", "s", "z"], ["w"], axis=0),
        N("ConvTranspose", ["x", "w"], ["y"], strides=[1, 1], pads=[1, 1, 1, 1]),
    ]
    made = model(
        nodes,
        {"x": [1, 3, 16, 16]},
        ["y"],
        [numpy_helper.from_array(q, "q"), numpy_helper.from_array(scale, "s"), const("z", [0] * 3, np.int8)],
    )
    _, (result,) = fix(made, "convtranspose-axis")
    axis = next(a.i for n in result.graph.node if n.op_type == "DequantizeLinear" for a in n.attribute)
    assert axis == 1


@pytest.mark.parametrize(
    ("fix_id", "node", "opset", "gone"),
    [
        ("decompose-hardswish", N("HardSwish", ["x"], ["y"]), 18, "HardSwish"),
        ("decompose-hardsigmoid", N("HardSigmoid", ["x"], ["y"]), 18, "HardSigmoid"),
        ("decompose-gelu", N("Gelu", ["x"], ["y"]), 20, "Gelu"),
        ("decompose-silu", N("Swish", ["x"], ["y"]), 24, "Swish"),
        ("decompose-layernorm", N("LayerNormalization", ["x", "g", "b"], ["y"]), 18, "LayerNormalization"),
    ],
)
def test_a_fused_operator_is_written_out(
    fix, fix_id: str, node: onnx.NodeProto, opset: int, gone: str
) -> None:
    made = model([node], {"x": [2, 3, 8]}, ["y"], [weights("g", 8), weights("b", 8)], opset=opset)
    _, (result,) = fix(made, fix_id)
    assert gone not in ops(result)
    assert len(ops(result)) > 1


def test_attention_of_opset_23_becomes_matmul_and_softmax(fix) -> None:
    node = N("Attention", ["q", "k", "v"], ["y"], q_num_heads=4, kv_num_heads=4, is_causal=1)
    made = model([node], {n: [1, 8, 64] for n in "qkv"}, ["y"], opset=23)
    _, (result,) = fix(made, "decompose-attention")
    assert "Attention" not in ops(result)
    assert ops(result).count("MatMul") == 2 and "Softmax" in ops(result)


def test_hardswish_is_recognised_in_both_spellings(fix) -> None:
    one = [N("HardSigmoid", ["x"], ["g"], alpha=1 / 6, beta=0.5), N("Mul", ["x", "g"], ["y"])]
    _, (result,) = fix(model(one, {"x": [1, 8]}, ["y"]), "fuse-hardswish")
    assert ops(result) == ["HardSwish"]
    two = [
        N("Add", ["x", "three"], ["a"]),
        N("Clip", ["a", "zero", "six"], ["c"]),
        N("Mul", ["x", "c"], ["m"]),
        N("Div", ["m", "six"], ["y"]),
    ]
    constants = [const("three", 3.0), const("zero", 0.0), const("six", 6.0)]
    _, (result,) = fix(model(two, {"x": [1, 8]}, ["y"], constants), "fuse-hardswish")
    assert ops(result) == ["HardSwish"]


@pytest.mark.parametrize("order", [("x", "p", "half"), ("x", "half", "p"), ("half", "p", "x")])
def test_gelu_is_recognised_in_every_order_of_its_factors(fix, order: tuple[str, str, str]) -> None:
    first, second, last = order
    nodes = [
        N("Div", ["x", "root"], ["d"]),
        N("Erf", ["d"], ["e"]),
        N("Add", ["e", "one"], ["p"]),
        N("Mul", [first, second], ["m"]),
        N("Mul", ["m", last], ["y"]),
    ]
    constants = [const("root", 2**0.5), const("one", 1.0), const("half", 0.5)]
    _, (result,) = fix(model(nodes, {"x": [2, 8]}, ["y"], constants, opset=20), "fuse-gelu")
    assert ops(result) == ["Gelu"]


@pytest.mark.parametrize("cube", ["pow", "products"])
@pytest.mark.parametrize("is_half", [False, True])
def test_the_tanh_gelu_is_recognised_as_exporters_write_it(fix, cube: str, is_half: bool) -> None:
    power = [N("Pow", ["x", "three"], ["x3"])]
    products = [N("Mul", ["x", "x"], ["x2"]), N("Mul", ["x2", "x"], ["x3"])]
    nodes = [
        *(power if cube == "pow" else products),
        N("Mul", ["x3", "bend"], ["b"]),
        N("Add", ["x", "b"], ["a"]),
        N("Mul", ["a", "root"], ["r"]),
        N("Tanh", ["r"], ["t"]),
        N("Add", ["t", "one"], ["p"]),
        N("Mul", ["x", "half"], ["h"]),
        N("Mul", ["h", "p"], ["y"]),
    ]
    values = {"three": 3.0, "bend": 0.044715, "root": (2 / np.pi) ** 0.5, "one": 1.0, "half": 0.5}
    made = model(nodes, {"x": [2, 8]}, ["y"], [const(n, v) for n, v in values.items()], opset=20)
    outcome, (result,) = fix(half(made) if is_half else made, "fuse-gelu")
    assert ops(result) == ["Gelu"] and result.graph.node[0].attribute[0].s == b"tanh"
    assert outcome.proof.tolerance == (8 * 2.0**-11 if is_half else 1e-4)


def layernorm_nodes() -> list[onnx.NodeProto]:
    return [
        N("ReduceMean", ["x", "axes"], ["mu"]),
        N("Sub", ["x", "mu"], ["c"]),
        N("Pow", ["c", "two"], ["sq"]),
        N("ReduceMean", ["sq", "axes"], ["var"]),
        N("Add", ["var", "eps"], ["ve"]),
        N("Sqrt", ["ve"], ["sd"]),
        N("Div", ["c", "sd"], ["n"]),
        N("Mul", ["n", "g"], ["ng"]),
        N("Add", ["ng", "b"], ["y"]),
    ]


LAYERNORM_CONSTANTS = [const("axes", [-1], np.int64), const("two", 2.0), const("eps", 1e-5)]


def test_layernorm_is_recognised(fix) -> None:
    constants = [*LAYERNORM_CONSTANTS, weights("g", 8), weights("b", 8)]
    _, (result,) = fix(model(layernorm_nodes(), {"x": [2, 4, 8]}, ["y"], constants), "fuse-layernorm")
    assert ops(result) == ["LayerNormalization"]


def test_a_layernorm_whose_inside_is_returned_too_stays(fix) -> None:
    constants = [*LAYERNORM_CONSTANTS, weights("g", 8), weights("b", 8)]
    with pytest.raises(UnsupportedError, match="nothing to fix"):
        fix(model(layernorm_nodes(), {"x": [2, 4, 8]}, ["y", "sd"], constants), "fuse-layernorm")


def test_silu_is_fused(fix) -> None:
    nodes = [N("Sigmoid", ["x"], ["g"]), N("Mul", ["x", "g"], ["y"])]
    _, (result,) = fix(model(nodes, {"x": [1, 8]}, ["y"], opset=24), "fuse-silu")
    assert ops(result) == ["Swish"]


def resize(mode: str, coordinates: str, scales: list[float], **attributes: object) -> onnx.ModelProto:
    node = N(
        "Resize",
        ["x", "", "s"],
        ["y"],
        mode=mode,
        coordinate_transformation_mode=coordinates,
        **attributes,
    )
    return model([node], {"x": [1, 2, 4, 4]}, ["y"], [const("s", scales)])


def test_pytorch_half_pixel_becomes_half_pixel(fix) -> None:
    _, (result,) = fix(resize("linear", "pytorch_half_pixel", [1, 1, 2, 2]), "resize-half-pixel")
    assert b"half_pixel" in [a.s for a in result.graph.node[0].attribute]


def test_pytorch_half_pixel_to_one_pixel_is_left_alone(fix) -> None:
    with pytest.raises(UnsupportedError):
        fix(resize("linear", "pytorch_half_pixel", [1, 1, 0.25, 0.25]), "resize-half-pixel")


def test_nearest_by_a_whole_factor_becomes_asymmetric(fix) -> None:
    outcome, _ = fix(resize("nearest", "half_pixel", [1, 1, 3, 3]), "resize-asymmetric")
    assert outcome.proof.max_abs_error == 0.0
    with pytest.raises(UnsupportedError):
        fix(resize("nearest", "half_pixel", [1, 1, 1.5, 1.5]), "resize-asymmetric")


def test_a_5d_detection_head_is_taken_as_4d(fix) -> None:
    nodes = [
        N("Reshape", ["x", "to5"], ["r"]),
        N("Sigmoid", ["r"], ["s"]),
        N("Mul", ["s", "two"], ["m"]),
        N("Transpose", ["m"], ["y"], perm=[0, 1, 3, 4, 2]),
    ]
    constants = [const("to5", [1, 3, 6, 4, 4], np.int64), const("two", 2.0)]
    made = model(nodes, {"x": [1, 18, 4, 4]}, ["y"], constants)
    outcome, (result,) = fix(made, "rank5-to-4")
    inferred = onnx.shape_inference.infer_shapes(result)
    ranks = {v.name: len(v.type.tensor_type.shape.dim) for v in inferred.graph.value_info}
    working = [n for n in result.graph.node if n.op_type in ("Sigmoid", "Mul", "Transpose")]
    assert len(working) == 3 and len(outcome.changed) == 3
    assert all(ranks.get(name, 4) <= 4 for n in working for name in [*n.input, *n.output])


def test_infinite_masks_are_clamped_and_softmax_agrees(fix) -> None:
    mask = np.triu(np.full((4, 4), -np.inf, np.float32), 1)
    nodes = [N("Add", ["x", "mask"], ["a"]), N("Softmax", ["a"], ["y"], axis=-1)]
    made = model(nodes, {"x": [1, 4, 4]}, ["y"], [numpy_helper.from_array(mask, "mask")])
    _, (result,) = fix(made, "clamp-inf-masks")
    assert numpy_helper.to_array(result.graph.initializer[0]).min() == -65504


def test_dynamic_quantization_becomes_static(fix, tmp_path: Path) -> None:
    nodes = [
        N("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
        N("DequantizeLinear", ["q", "s", "z"], ["y"]),
    ]
    np.savez(tmp_path / "real.npz", x=RNG.uniform(-2, 3, (8, 1, 16)).astype(np.float32))
    made = model(nodes, {"x": [1, 16]}, ["y"])
    _, (result,) = fix(made, "dynamic-quantize-to-static", inputs_path=str(tmp_path / "real.npz"))
    assert ops(result) == ["QuantizeLinear", "DequantizeLinear"]


def test_boxes_and_scores_are_returned_apart(fix) -> None:
    nodes = [
        N("Mul", ["boxes", "big"], ["b"]),
        N("Sigmoid", ["scores"], ["s"]),
        N("Concat", ["b", "s"], ["y"], axis=1),
    ]
    made = model(nodes, {"boxes": [1, 4, 100], "scores": [1, 80, 100]}, ["y"], [const("big", 640.0)])
    _, (result,) = fix(made, "split-concat")
    assert [o.name for o in result.graph.output] == ["b", "s"]


@pytest.mark.parametrize("keep", [0, 1])
def test_reduce_mean_becomes_a_pool(fix, keep: int) -> None:
    node = N("ReduceMean", ["x", "axes"], ["y"], keepdims=keep)
    made = model([node], {"x": ["N", 4, 6, 6]}, ["y"], [const("axes", [2, 3], np.int64)])
    _, (result,) = fix(made, "reducemean-to-gap")
    assert ops(result) == (["GlobalAveragePool"] if keep else ["GlobalAveragePool", "Flatten"])


@pytest.mark.parametrize(
    ("equation", "a", "b"),
    [
        ("bij,bjk->bik", [2, 3, 4], [2, 4, 5]),
        ("bhqd,bhkd->bhqk", [1, 2, 3, 4], [1, 2, 5, 4]),
        ("bqhd,bkhd->bhqk", [1, 3, 2, 4], [1, 5, 2, 4]),
        ("nct,tvw->ncvw", [2, 3, 4], [4, 5, 6]),
        ("abcd,cd->ab", [2, 3, 4, 5], [4, 5]),
        ("ij,jk->ki", [2, 3], [3, 4]),
    ],
)
def test_einsum_becomes_matmul(fix, equation: str, a: list[int], b: list[int]) -> None:
    made = model([N("Einsum", ["a", "b"], ["y"], equation=equation)], {"a": a, "b": b}, ["y"])
    _, (result,) = fix(made, "einsum-to-matmul")
    assert "Einsum" not in ops(result) and "MatMul" in ops(result)


def test_a_diagonal_einsum_is_left_alone(fix) -> None:
    made = model([N("Einsum", ["a", "b"], ["y"], equation="ii,ij->j")], {"a": [3, 3], "b": [3, 4]}, ["y"])
    with pytest.raises(UnsupportedError):
        fix(made, "einsum-to-matmul")


def test_slices_on_different_axes_become_one(fix) -> None:
    nodes = [
        N("Slice", ["x", "one", "five", "ax1"], ["s1"]),
        N("Slice", ["s1", "one", "five", "ax2"], ["s2"]),
        N("Identity", ["s2"], ["i"]),
        N("Relu", ["i"], ["y"]),
    ]
    constants = [const(n, v, np.int64) for n, v in (("one", [1]), ("five", [5]), ("ax1", [1]), ("ax2", [2]))]
    _, (result,) = fix(model(nodes, {"x": [1, 8, 8]}, ["y"], constants), "fold-chains")
    assert ops(result) == ["Slice", "Relu"]


def test_the_topk_tail_is_cut_off_and_chained_it_equals_the_whole(fix) -> None:
    nodes = [
        N("MatMul", ["x", "w"], ["m"]),
        N("Relu", ["m"], ["r"]),
        N("TopK", ["r", "k"], ["v", "i"], axis=-1),
    ]
    made = model(nodes, {"x": [1, 8]}, ["v"], [weights("w", 8, 20), const("k", [5], np.int64)])
    outcome, (network, tail) = fix(made, "cut-tail")
    assert (ops(network), ops(tail)) == (["MatMul", "Relu"], ["TopK"])
    assert [Path(f).name for f in outcome.files] == ["out-network.onnx", "out-postprocessing.onnx"]


def test_nodes_in_the_middle_are_not_split_off(fix) -> None:
    names = [f"x{i}" for i in range(10)]
    nodes = [N("Relu", [a], [b], name=f"relu{i}") for i, (a, b) in enumerate(itertools.pairwise(names))]
    with pytest.raises(UnsupportedError, match="middle"):
        fix(model(nodes, {"x0": [4]}, ["x9"]), "split-unsupported", nodes=("relu4",))
    _, (first, second) = fix(model(nodes, {"x0": [4]}, ["x9"]), "split-unsupported", nodes=("relu8",))
    assert (len(first.graph.node), len(second.graph.node)) == (8, 1)


def test_a_head_is_cut_off_with_what_bodies_read(fix) -> None:
    body = helper.make_graph(
        [helper.make_node("Identity", ["m"], ["b"])], "body", [], [helper.make_empty_tensor_value_info("b")]
    )
    nodes = [
        helper.make_node("Not", ["flag"], ["c"], name="not"),
        helper.make_node("Abs", ["x0"], ["m"], name="abs"),
        helper.make_node("If", ["c"], ["x1"], name="if", then_branch=body, else_branch=body),
        *(helper.make_node("Relu", [f"x{i}"], [f"x{i + 1}"], name=f"relu{i}") for i in range(1, 9)),
    ]
    made = model(nodes, {"x0": [4], "flag": []}, ["x9"])
    made.graph.input[1].type.tensor_type.elem_type = onnx.TensorProto.BOOL
    _, (first, _) = fix(made, "split-unsupported", nodes=("if",))
    assert [n.op_type for n in first.graph.node] == ["Not", "Abs", "If"]


def test_a_rewrite_that_is_not_equal_is_refused_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = model([N("Softmax", ["a"], ["y"]), N("Add", ["x", "m"], ["a"])][::-1], {"x": [1, 4]}, ["y"],
                 [const("m", [0.0, 5.0, -1e9, 0.0])])  # fmt: skip
    onnx.save(made, tmp_path / "in.onnx")
    with pytest.raises(UnsupportedError, match="refused"):
        apply_fix(tmp_path / "in.onnx", "clamp-inf-masks", tmp_path / "out.onnx", FixOptions(limit=1.0))
    assert not (tmp_path / "out.onnx").exists()


@pytest.mark.parametrize(
    "fix_id", [i for i in FIXES if i not in ("freeze-dims", "split-unsupported", "opset-up", "opset-down")]
)
def test_a_model_with_nothing_to_fix_is_refused_in_words(fix, fix_id: str) -> None:
    made = model([N("Flatten", ["x"], ["y"])], {"x": [1, 4]}, ["y"], opset=24)
    with pytest.raises(UnsupportedError, match="nothing to fix"):
        fix(made, fix_id)


def test_what_is_not_a_model_is_refused(tmp_path: Path) -> None:
    bad = tmp_path / "bad.onnx"
    bad.write_bytes(b"\x08\x07hello, this is no model")
    with pytest.raises(InputError):
        apply_fix(bad, "fold-chains", tmp_path / "out.onnx", FixOptions())


def test_nan_equals_nan_and_shapes_must_agree() -> None:
    assert difference(np.array([np.nan, 1.0]), np.array([np.nan, 1.0])) == (0.0, 0.0)
    assert difference(np.zeros(2), np.zeros(3))[0] == float("inf")
    assert difference(np.array([1.0]), np.array([np.nan]))[0] == float("inf")


def double_norm(opset: int) -> onnx.ModelProto:
    """A normalisation in double precision: what has no kernel in ONNX Runtime is run by onnx's reference."""
    norm, constants = bn("c", "y")
    made = model(
        [N("Conv", ["x", "w"], ["c"]), norm],
        {"x": [2, 3, 6, 6]},
        ["y"],
        [weights("w", 6, 3, 3, 3), *constants],
        opset=opset,
    )
    for tensor in made.graph.initializer:
        tensor.CopyFrom(
            numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float64), tensor.name)
        )
    for value in [*made.graph.input, *made.graph.output]:
        value.type.tensor_type.elem_type = TensorProto.DOUBLE
    return made


@pytest.mark.parametrize("opset", [7, 9, 13, 18])
def test_double_normalisation_folds_in_every_opset(fix, opset: int) -> None:
    outcome, (result,) = fix(double_norm(opset), "fold-batchnorm")
    assert ops(result) == ["Conv"] and outcome.proof.max_relative_error < 1e-9


@pytest.mark.parametrize("opset", [9, 18])
def test_double_normalisation_folded_wrongly_is_refused(
    fix, opset: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from studio.recipes.fixes import batchnorm

    right = batchnorm.fold

    def wrong(edit: OnnxEdit, options: FixOptions) -> Rewrite:
        done = right(edit, options)
        for tensor in done.models[0][1].graph.initializer:
            tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor) * 1.01, tensor.name))
        return done

    monkeypatch.setattr(batchnorm, "fold", wrong)
    with pytest.raises(UnsupportedError, match="was refused"):
        fix(double_norm(opset), "fold-batchnorm")


def test_raw_heads_are_advised_only_where_nothing_is_learned_behind_the_five_dims(fix) -> None:
    heads = [N("Transpose", ["x"], ["t"], perm=[0, 1, 3, 4, 2]), N("Sigmoid", ["t"], ["y"])]
    outcome, _ = fix(model(heads, {"x": [1, 3, 6, 4, 4]}, ["y"]), "rank5-to-4")
    assert outcome.torch_advice.startswith("Return the raw heads")
    inside = [
        N("Transpose", ["x"], ["t"], perm=[0, 1, 3, 4, 2]),
        N("Reshape", ["t", "flat"], ["r"]),
        N("MatMul", ["r", "w"], ["y"]),
    ]
    constants = [const("flat", [1, 48, 6], np.int64), weights("w", 6, 5)]
    outcome, _ = fix(model(inside, {"x": [1, 3, 6, 4, 4]}, ["y"], constants), "rank5-to-4")
    assert outcome.torch_advice.startswith("Merge two dims")
