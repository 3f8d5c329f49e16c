"""What goes wrong for people who deploy, rebuilt small: the verdict, the reason, the fix, and after.

Each case is a public thread; the thread is named at the test.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from studio.errors import InputError, UnsupportedError
from studio.graph import open_graph
from studio.graph.graph import Graph
from studio.recipes.fixes import FixOptions, apply_fix
from studio.support import Reason, TargetVerdicts, Verdict, judge
from studio.support.op_node import OpNode, OpTensor
from studio.support.rules import rule_for
from studio.support.ruling import Setting

RNG = np.random.default_rng(11)
N = helper.make_node
Make = Callable[..., Path]


def w(name: str, *shape: int) -> onnx.TensorProto:
    return numpy_helper.from_array(RNG.standard_normal(shape).astype(np.float32), name)


def const(name: str, value: object, dtype: type = np.float32) -> onnx.TensorProto:
    return numpy_helper.from_array(np.array(value, dtype), name)


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Writes a model of these nodes; inputs and outputs by name, shapes inferred."""

    def build(
        nodes: list[onnx.NodeProto],
        inputs: dict[str, list[int | str]],
        outputs: list[str],
        constants: list[onnx.TensorProto] | None = None,
        *,
        opset: int = 18,
        name: str = "pain.onnx",
    ) -> Path:
        for i, node in enumerate(nodes):
            node.name = node.name or f"{node.op_type}_{i}"
        graph = helper.make_graph(
            nodes,
            "pain",
            [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in inputs.items()],
            [helper.make_empty_tensor_value_info(n) for n in outputs],
            initializer=constants or [],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
        path = tmp_path / name
        onnx.save(onnx.shape_inference.infer_shapes(model, data_prop=True), str(path))
        return path

    return build


def judged(path: Path, target: str, op: str, **setting: object) -> tuple[Verdict, Reason]:
    """The verdict and reason of the first node of that operator."""
    graph = open_graph(path)
    found = judge(graph, [target], **setting)[target]  # type: ignore[arg-type]
    node = graph.node_op.index(op)
    return found.verdict(node), found.reason(node)


def counts(path: Path, target: str, **setting: object) -> tuple[Graph, TargetVerdicts]:
    graph = open_graph(path)
    return graph, judge(graph, [target], **setting)[target]  # type: ignore[arg-type]


def mend(path: Path, fix_id: str, **options: object) -> Path:
    """The first file that the fix wrote; it was proven equal, or the fix would have raised."""
    outcome = apply_fix(path, fix_id, path.with_name(f"{fix_id}.onnx"), FixOptions(**options))  # type: ignore[arg-type]
    assert outcome.proof.samples > 0 and outcome.changed
    return Path(outcome.files[0])


def image(make: Make, node: onnx.NodeProto, constants: list[onnx.TensorProto], channels: int = 8) -> Path:
    return make([node], {"x": [1, channels, 15, 15]}, ["y"], constants)


def test_upsampling_with_aligned_corners_on_the_gpu_delegate() -> None:
    """litert-torch #158: half_pixel_centers and align_corners both true fails to prepare."""
    x = OpTensor(dtype="float32", shape=(1, 8, 8, 3))
    size = OpTensor(dtype="int32", shape=(2,), is_constant=True, values=(16, 16))
    y = OpTensor(dtype="float32", shape=(1, 16, 16, 3))
    node = OpNode(
        op="RESIZE_BILINEAR",
        version=3,
        attributes={"align_corners": True, "half_pixel_centers": True},
        inputs=(x, size),
        outputs=(y,),
    )
    for target in ("litert/gpu", "litert/cpu"):
        ruling = rule_for(target).rule(node, Setting(target_id=target, graph_format="tflite"))
        assert ruling.verdict == (Verdict.FALLS_BACK if target == "litert/gpu" else Verdict.CONDITIONAL)
        assert "align" in ruling.text.lower()


@pytest.mark.parametrize("mode", ["pytorch_half_pixel", "half_pixel"])
def test_resize_modes_on_nnapi(make: Make, mode: str) -> None:
    """onnx-tensorflow #632: the coordinate mode decides; pytorch_half_pixel has an exact replacement."""
    node = N("Resize", ["x", "", "s"], ["y"], mode="linear", coordinate_transformation_mode=mode)
    path = make([node], {"x": [1, 3, 8, 8]}, ["y"], [const("s", [1, 1, 2, 2])])
    verdict, reason = judged(path, "ort/nnapi", "Resize", android_level=34)
    if mode == "half_pixel":
        assert verdict == Verdict.RUNS
        return
    assert verdict == Verdict.FALLS_BACK and "pytorch_half_pixel" in reason.text
    assert "resize-half-pixel" in reason.fixes
    assert judged(mend(path, "resize-half-pixel"), "ort/nnapi", "Resize", android_level=34)[0] == Verdict.RUNS


def test_an_operator_version_newer_than_the_runtime() -> None:
    """tensorflow #80736: FULLY_CONNECTED v12 on an older AAR."""
    x, weight = (
        OpTensor(dtype="float32", shape=(1, 4)),
        OpTensor(dtype="float32", shape=(4, 4), is_constant=True),
    )
    node = OpNode(op="FULLY_CONNECTED", version=99, inputs=(x, weight), outputs=(x,))
    ruling = rule_for("litert/cpu").rule(node, Setting(target_id="litert/cpu", graph_format="tflite"))
    assert (
        ruling.verdict not in (Verdict.RUNS,)
        and "version 99" in ruling.text
        and "newer LiteRT" in ruling.text
    )


def test_a_detection_head_of_rank_5_on_nnapi(make: Make) -> None:
    """onnxruntime #12979: Sigmoid on [1, 3, 20, 20, 85]."""
    path = make([N("Sigmoid", ["x"], ["y"])], {"x": [1, 3, 20, 20, 85]}, ["y"])
    verdict, reason = judged(path, "ort/nnapi", "Sigmoid")
    assert verdict == Verdict.FALLS_BACK and "ank 5" in reason.text and "rank5-to-4" in reason.fixes
    assert judged(mend(path, "rank5-to-4"), "ort/nnapi", "Sigmoid")[0] == Verdict.RUNS


def test_seventeen_partitions_become_one(make: Make) -> None:
    """onnxruntime #9054: the operator that cuts is named, with what fixing it would give."""
    nodes, last = [], "x"
    for i in range(4):
        nodes.append(N("Relu", [last], [f"a{i}"]))
        nodes.append(N("Erf", [f"a{i}"], [f"b{i}"]))
        last = f"b{i}"
    path = make([*nodes, N("Relu", [last], ["y"])], {"x": [1, 4]}, ["y"])
    _, found = counts(path, "ort/nnapi")
    assert len(found.partitions) == 5
    assert found.cuts["Erf_1"].startswith("5 → 1")


def test_dynamic_quantisation_on_qnn(make: Make) -> None:
    """onnxruntime #25334: accepted by the check, then error 6031 at run."""
    nodes = [
        N("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
        N("DequantizeLinear", ["q", "s", "z"], ["d"]),
        N("MatMul", ["d", "w"], ["y"]),
    ]
    path = make(nodes, {"x": [1, 8]}, ["y"], [w("w", 8, 4)])
    verdict, reason = judged(path, "ort/qnn", "DynamicQuantizeLinear", soc="SM8650")
    assert verdict == Verdict.FALLS_BACK and "6031" in reason.text
    assert "dynamic-quantize-to-static" in reason.fixes
    npz = path.with_name("in.npz")
    np.savez(npz, x=RNG.standard_normal((4, 1, 8)).astype(np.float32))
    with pytest.raises(InputError, match="real inputs"):
        mend(path, "dynamic-quantize-to-static")
    after = mend(path, "dynamic-quantize-to-static", inputs_path=str(npz))
    assert "DynamicQuantizeLinear" not in open_graph(after).node_op


@pytest.mark.parametrize("target", ["ort/qnn", "ort/nnapi"])
def test_attention_of_opset_23(make: Make, target: str) -> None:
    """onnxruntime-qnn #646: one Attention node; decomposed it is MatMul and Softmax."""
    node = N("Attention", ["q", "k", "v"], ["y"], q_num_heads=4, kv_num_heads=4, is_causal=1)
    shape: list[int | str] = [1, 8, 64]
    path = make([node], {"q": shape, "k": shape, "v": shape}, ["y"], opset=23)
    verdict, reason = judged(path, target, "Attention", soc="SM8650")
    assert verdict == Verdict.FALLS_BACK and "decompose-attention" in reason.fixes
    after = open_graph(mend(path, "decompose-attention"))
    assert "Attention" not in after.node_op and {"MatMul", "Softmax"} <= set(after.node_op)
    found = judge(after, [target], soc="SM8650")[target]
    product = found.verdict(after.node_op.index("MatMul"))
    assert product in (Verdict.RUNS, Verdict.CONDITIONAL), "the products are taken afterwards"


def test_a_product_of_two_computed_matrices_on_xnnpack(tmp_path: Path) -> None:
    """executorch #10297: XNNPACK wants one constant operand."""
    torch = pytest.importorskip("torch")

    class Net(torch.nn.Module):  # type: ignore[name-defined,misc]
        def forward(self, a: object, b: object) -> object:
            return torch.mm(torch.relu(a), torch.relu(b))

    path = tmp_path / "mm.pt2"
    torch.export.save(torch.export.export(Net(), (torch.ones(4, 8), torch.ones(8, 4))), str(path))
    verdict, reason = judged(path, "executorch/xnnpack", "aten.mm.default")
    assert verdict == Verdict.FALLS_BACK and "constant" in reason.text


def test_a_1d_convolution_on_qnn(make: Make) -> None:
    """executorch #12537: Conv1d goes with transposes around it; as Conv2d it does not."""
    path = make(
        [N("Conv", ["x", "w1"], ["a"], kernel_shape=[3]), N("Conv", ["a", "w2"], ["y"], kernel_shape=[3])],
        {"x": [1, 16, 32]}, ["y"], [w("w1", 16, 16, 3), w("w2", 16, 16, 3)],
    )  # fmt: skip
    verdict, reason = judged(path, "ort/qnn", "Conv", soc="SM8650")
    assert verdict == Verdict.CONDITIONAL and "1-D" in reason.text and "conv1d-to-conv2d" in reason.fixes
    assert judged(mend(path, "conv1d-to-conv2d"), "ort/qnn", "Conv", soc="SM8650")[0] == Verdict.RUNS


@pytest.mark.parametrize(
    "target",
    ["ort/qnn", "ort/nnapi", "executorch/qnn", "litert/npu-qualcomm", "litert/npu-mediatek", "litert/gpu"],
)
def test_dynamic_shapes_on_npus(make: Make, target: str) -> None:
    """onnxruntime #22439: an NPU wants numbers; frozen, the refusal is gone."""
    path = make(
        [N("Conv", ["x", "w"], ["y"], kernel_shape=[3, 3])],
        {"x": ["N", 3, "H", 16]},
        ["y"],
        [w("w", 4, 3, 3, 3)],
    )
    verdict, reason = judged(path, target, "Conv", soc="SM8650")
    assert verdict == Verdict.FALLS_BACK and "freeze-dims" in reason.fixes, reason.text
    after = mend(path, "freeze-dims", dims={"N": (1,), "H": (16,)})
    now, why = judged(after, target, "Conv", soc="SM8650")
    assert now in (Verdict.RUNS, Verdict.CONDITIONAL), why.text
    assert "freeze-dims" not in why.fixes


def quantized_transposed(make: Make, axis: int) -> Path:
    channels = 4 if axis == 1 else 3
    nodes = [
        N("QuantizeLinear", ["x", "s", "z"], ["xq"]),
        N("DequantizeLinear", ["xq", "s", "z"], ["xd"]),
        N("DequantizeLinear", ["wq", "ws", "wz"], ["wd"], axis=axis),
        N("ConvTranspose", ["xd", "wd"], ["c"], kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        N("QuantizeLinear", ["c", "s", "z"], ["yq"]),
        N("DequantizeLinear", ["yq", "s", "z"], ["y"]),
    ]
    constants = [
        const("s", 0.05), const("z", 128, np.uint8),
        numpy_helper.from_array(RNG.integers(-90, 90, (3, 4, 3, 3)).astype(np.int8), "wq"),
        const("ws", [0.01] * channels), const("wz", [0] * channels, np.int8),
    ]  # fmt: skip
    return make(nodes, {"x": [1, 3, 8, 8]}, ["y"], constants)


def test_a_transposed_convolution_quantised_along_the_wrong_axis(make: Make) -> None:
    """onnxruntime #19694: the channels of ConvTranspose weights are axis 1."""
    path = quantized_transposed(make, 0)
    verdict, reason = judged(path, "ort/qnn", "ConvTranspose", soc="SM8650")
    assert verdict == Verdict.CONDITIONAL and "axis 0" in reason.text and "convtranspose-axis" in reason.fixes
    now, why = judged(mend(path, "convtranspose-axis"), "ort/qnn", "ConvTranspose", soc="SM8650")
    assert now == Verdict.RUNS, why.text


def test_boxes_and_scores_in_one_quantised_concat(make: Make) -> None:
    """ultralytics #9473: 0 … 640 and 0 … 1 share one int8 scale; the mAP drops by seven points."""
    nodes = [
        N("Sigmoid", ["x"], ["p"]),
        N("Mul", ["x", "big"], ["b"]),
        N("Concat", ["b", "p"], ["y"], axis=1),
    ]
    path = make(nodes, {"x": [1, 4, 100]}, ["y"], [const("big", 640.0)])
    after = onnx.load(str(mend(path, "split-concat")))
    assert len(after.graph.output) == 2
    quantized = [
        N("DequantizeLinear", ["bq", "s", "z"], ["bd"]),
        N("DequantizeLinear", ["pq", "t", "z"], ["pd"]),
        N("Concat", ["bd", "pd"], ["c"], axis=1),
        N("QuantizeLinear", ["c", "s", "z"], ["yq"]),
        N("DequantizeLinear", ["yq", "s", "z"], ["y"]),
    ]
    before = [N("QuantizeLinear", ["b", "s", "z"], ["bq"]), N("QuantizeLinear", ["p", "t", "z"], ["pq"])]
    constants = [const("big", 640.0), const("s", 2.51), const("t", 0.0039), const("z", 0, np.uint8)]
    lint = make([*nodes[:2], *before, *quantized], {"x": [1, 4, 100]}, ["y"], constants, name="lint.onnx")
    for target in ("ort/qnn", "ort/nnapi"):
        verdict, reason = judged(lint, target, "Concat", soc="SM8650")
        assert verdict != Verdict.RUNS and "scale" in reason.text and "split-concat" in reason.fixes, target
    apart = onnx.load(str(mend(lint, "split-concat")))
    assert len(apart.graph.output) == 2 and "Concat" not in [n.op_type for n in apart.graph.node]


@pytest.mark.parametrize("target", ["ort/qnn", "executorch/qnn"])
@pytest.mark.parametrize("kind", ["pool", "transposed"])
def test_pooling_with_ceil_mode_and_dilated_transposed_convolution(
    make: Make, target: str, kind: str
) -> None:
    """executorch #13612 and #13611: wrong results, not an error."""
    if kind == "pool":
        node = N("AveragePool", ["x"], ["y"], kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1)
        path, word = image(make, node, []), "ceil_mode"
    else:
        node = N("ConvTranspose", ["x", "w"], ["y"], kernel_shape=[3, 3], dilations=[2, 2])
        path, word = image(make, node, [w("w", 8, 8, 3, 3)]), "dilat"
    verdict, reason = judged(path, target, node.op_type, soc="SM8650")
    assert verdict == Verdict.CONDITIONAL and word in reason.text and "wrong results" in reason.text


def test_infinite_masks_on_htp(make: Make) -> None:
    """executorch #18812: −inf becomes garbage in float16 on HTP."""
    mask = np.where(np.triu(np.ones((4, 4)), 1) > 0, -np.inf, 0)
    nodes = [N("Add", ["x", "m"], ["a"]), N("Softmax", ["a"], ["y"], axis=-1)]
    path = make(nodes, {"x": [1, 4, 4]}, ["y"], [const("m", mask)])
    for target in ("ort/qnn", "qualcomm/htp", "executorch/qnn"):
        verdict, reason = judged(path, target, "Add", soc="SM8650")
        assert verdict == Verdict.CONDITIONAL and "clamp-inf-masks" in reason.fixes, (target, reason.text)
    verdict, why = judged(mend(path, "clamp-inf-masks"), "ort/qnn", "Add", soc="SM8650")
    assert verdict == Verdict.RUNS, why.text


def test_a_v68_soc_refuses_float(make: Make) -> None:
    """executorch #15410: Hexagon v68 has no float16; the model must be quantised."""
    path = make(
        [N("Conv", ["x", "w"], ["y"], kernel_shape=[1, 1])], {"x": [1, 3, 8, 8]}, ["y"], [w("w", 4, 3, 1, 1)]
    )
    verdict, reason = judged(path, "ort/qnn", "Conv", soc="SM8350")
    assert verdict == Verdict.FALLS_BACK and "v68" in reason.text
    assert judged(path, "ort/qnn", "Conv", soc="SM8650")[0] == Verdict.RUNS


def test_the_gpu_delegate_leaves_the_tail(make: Make) -> None:
    """tensorflow #57907: CAST and ARG_MAX after a conv stack stay on the CPU, and each says why."""
    nodes = [
        N("Conv", ["x", "w"], ["a"], kernel_shape=[1, 1]),
        N("ArgMax", ["a"], ["i"], axis=1, keepdims=0),
        N("Cast", ["i"], ["y"], to=1),
    ]
    path = make(nodes, {"x": [1, 3, 8, 8]}, ["y"], [w("w", 4, 3, 1, 1)])
    graph, found = counts(path, "litert/gpu")
    for op in ("ArgMax", "Cast"):
        node = graph.node_op.index(op)
        assert found.verdict(node) not in (Verdict.RUNS,) and found.reason(node).text


def test_a_fix_that_does_not_apply_refuses(make: Make) -> None:
    path = make([N("Relu", ["x"], ["y"])], {"x": [1, 4]}, ["y"])
    with pytest.raises(UnsupportedError):
        mend(path, "clamp-inf-masks")
