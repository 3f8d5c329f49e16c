"""TFLite and ORT files: what their own libraries wrote, and what is left when bytes are changed."""

from __future__ import annotations

from pathlib import Path

import flatbuffers
import numpy as np
import onnx
import pytest
from ai_edge_litert import schema_py_generated as tfl
from onnx import TensorProto, helper, numpy_helper

from studio.errors import InputError
from studio.graph import SubgraphRef, TensorKind, node_costs, open_graph
from studio.graph.weights import read_tensor
from studio.support.lowered_file import lowered_targets


def tfl_tensor(
    name: str, shape: list[int], buffer: int = 0, type_: int = tfl.TensorType.FLOAT32
) -> tfl.TensorT:
    tensor = tfl.TensorT()
    tensor.name, tensor.shape, tensor.buffer, tensor.type = name.encode(), shape, buffer, type_
    return tensor


def tfl_code(builtin: int, version: int = 1, custom: bytes | None = None) -> tfl.OperatorCodeT:
    code = tfl.OperatorCodeT()
    code.builtinCode, code.deprecatedBuiltinCode = builtin, min(builtin, 127)
    code.version, code.customCode = version, custom
    return code


def tfl_op(code: int, inputs: list[int], outputs: list[int]) -> tfl.OperatorT:
    operator = tfl.OperatorT()
    operator.opcodeIndex, operator.inputs, operator.outputs = code, inputs, outputs
    return operator


def tflite_file(path: Path) -> Path:
    """conv2d (quantised weight, SAME, RELU6) → custom operator; IF with two more subgraphs."""
    weight = np.arange(4 * 3 * 3 * 2, dtype=np.int8)
    buffers = [tfl.BufferT(), tfl.BufferT()]
    buffers[1].data = list(weight.view(np.uint8))
    quantized = tfl_tensor("block/conv/w", [4, 3, 3, 2], 1, tfl.TensorType.INT8)
    quantized.quantization = tfl.QuantizationParametersT()
    quantized.quantization.scale, quantized.quantization.zeroPoint = [0.1, 0.2, 0.3, 0.4], [0, 0, 0, 0]
    conv = tfl_op(0, [0, 1, -1], [2])
    conv.builtinOptionsType = tfl.BuiltinOptions.Conv2DOptions
    conv.builtinOptions = tfl.Conv2DOptionsT()
    conv.builtinOptions.padding = tfl.Padding.SAME
    conv.builtinOptions.strideW = conv.builtinOptions.strideH = 2
    conv.builtinOptions.fusedActivationFunction = tfl.ActivationFunctionType.RELU6
    choose = tfl_op(2, [4, 3], [5])
    choose.builtinOptionsType = tfl.BuiltinOptions.IfOptions
    choose.builtinOptions = tfl.IfOptionsT()
    choose.builtinOptions.thenSubgraphIndex, choose.builtinOptions.elseSubgraphIndex = 1, 2
    main = tfl.SubGraphT()
    main.name = b"main"
    main.tensors = [
        tfl_tensor("x", [1, 8, 8, 2]), quantized, tfl_tensor("block/conv/Conv2D", [1, 4, 4, 4]),
        tfl_tensor("m", [1, 4, 4, 4]), tfl_tensor("c", [], type_=tfl.TensorType.BOOL), tfl_tensor("y", [1]),
    ]  # fmt: skip
    main.tensors[0].shapeSignature = [-1, 8, 8, 2]
    main.inputs, main.outputs = [0, 4], [5]
    main.operators = [conv, tfl_op(1, [2], [3]), choose]
    bodies = []
    for name in (b"then", b"else"):
        body = tfl.SubGraphT()
        body.name, body.inputs, body.outputs = name, [0], [1]
        body.tensors = [tfl_tensor("a", [1, 4, 4, 4]), tfl_tensor("b", [1])]
        body.operators = [tfl_op(3, [0], [1])]
        bodies.append(body)
    model = tfl.ModelT()
    model.version, model.description = 3, b"by hand"
    model.operatorCodes = [
        tfl_code(tfl.BuiltinOperator.CONV_2D, 5),
        tfl_code(tfl.BuiltinOperator.CUSTOM, custom=b"Magic"),
        tfl_code(tfl.BuiltinOperator.IF),
        tfl_code(tfl.BuiltinOperator.GELU, 2),
    ]
    model.subgraphs, model.buffers = [main, *bodies], buffers
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    path.write_bytes(bytes(builder.Output()))
    return path


def test_tflite_operators_versions_options_and_subgraphs(tmp_path: Path) -> None:
    graph = open_graph(tflite_file(tmp_path / "m.tflite"))
    assert graph.node_op == ["CONV_2D", "Magic", "IF", "GELU", "GELU"]
    assert graph.node_domain == ["", "custom", "", "", ""]
    assert graph.node_version.tolist() == [5, 1, 1, 2, 2]
    options = graph.node_attributes[0]
    assert (options["padding"], options["fused_activation_function"]) == ("SAME", "RELU6")
    assert options["stride_w"] == 2
    assert graph.node_attributes[2]["then_subgraph_index"] == SubgraphRef(subgraph=1)
    assert [(s.name, s.parent_node) for s in graph.subgraphs] == [("main", -1), ("then", 2), ("else", 2)]
    assert graph.inputs_of(0)[2] == -1
    assert graph.tensor_shape[graph.main_inputs()[0]] == (None, 8, 8, 2)
    assert graph.scope_path(int(graph.node_scope[0])) == "block/conv"


@pytest.mark.parametrize("tail", [b"", b"\1"])  # older stamps end with how the byte code is packed
def test_litert_stamp_says_the_npu_a_file_was_compiled_for(tmp_path: Path, tail: bytes) -> None:
    stamp, meta, model = tfl.BufferT(), tfl.MetadataT(), tfl.ModelT()
    stamp.data = list(b"Qualcomm".ljust(125, b"\0") + b"SM8650".ljust(125, b"\0") + tail)
    meta.name, meta.buffer = b"LiteRtStamp", 1
    model.version, model.buffers, model.metadata = 3, [tfl.BufferT(), stamp], [meta]
    model.operatorCodes = [tfl_code(tfl.BuiltinOperator.CUSTOM, custom=b"DISPATCH_OP")]
    graph = tfl.SubGraphT()
    graph.tensors = [tfl_tensor("x", [1]), tfl_tensor("y", [1])]
    graph.inputs, graph.outputs, graph.operators = [0], [1], [tfl_op(0, [0], [1])]
    model.subgraphs = [graph]
    builder = flatbuffers.Builder(64)
    builder.Finish(model.Pack(builder), b"TFL3")
    path = tmp_path / "npu.tflite"
    path.write_bytes(bytes(builder.Output()))
    read = open_graph(path)
    assert read.metadata["LiteRtStamp"] == "Qualcomm SM8650"
    assert (read.node_op, read.node_domain) == (["DISPATCH_OP"], ["custom"])
    assert lowered_targets(path, "tflite") == ("litert/npu-qualcomm",)


def test_tflite_weights_quantization_and_macs(tmp_path: Path) -> None:
    graph = open_graph(tflite_file(tmp_path / "m.tflite"))
    weight = graph.tensor_name.index("block/conv/w")
    assert graph.tensor_kind[weight] == TensorKind.CONSTANT
    assert graph.tensor_quantization[weight].axis == 0
    assert graph.tensor_quantization[weight].scale == pytest.approx((0.1, 0.2, 0.3, 0.4))
    expected = np.arange(72, dtype=np.int8).reshape(4, 3, 3, 2)
    np.testing.assert_array_equal(read_tensor(graph, weight), expected)
    assert node_costs(graph).macs[:2].tolist() == [4 * 4 * 4 * 3 * 3 * 2, -1]


def ort_file(path: Path) -> Path:
    import onnxruntime as ort

    weight = numpy_helper.from_array(np.arange(48 * 48, dtype=np.float32).reshape(48, 48), "w")
    body = helper.make_graph(
        [helper.make_node("Neg", ["m"], ["t"])], "then", [],
        [helper.make_tensor_value_info("t", TensorProto.FLOAT, None)],
    )  # fmt: skip
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["m"], name="product"),
        helper.make_node("If", ["c"], ["y"], then_branch=body, else_branch=body),
    ]
    inputs = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 48]),
        helper.make_tensor_value_info("c", TensorProto.BOOL, []),
    ]
    graph = helper.make_graph(
        nodes, "g", inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 48])], [weight]
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, str(path.with_suffix(".onnx")))
    options = ort.SessionOptions()
    options.optimized_model_filepath = str(path)
    options.add_session_config_entry("session.save_model_format", "ORT")
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_BASIC
    ort.InferenceSession(str(path.with_suffix(".onnx")), options, providers=["CPUExecutionProvider"])
    return path


def test_ort_file_reads_as_the_graph_it_was_made_from(tmp_path: Path) -> None:
    graph = open_graph(ort_file(tmp_path / "m.ort"))
    assert graph.format == "ort" and graph.opsets == {"": 17}
    assert [graph.node_op[i] for i in graph.nodes_in(0)] == ["MatMul", "If"]
    assert [s.parent_node for s in graph.subgraphs] == [-1, 1, 1]
    weight = graph.tensor_name.index("w")
    expected = np.arange(48 * 48, dtype=np.float32).reshape(48, 48)
    np.testing.assert_array_equal(read_tensor(graph, weight), expected)
    assert node_costs(graph).total_macs == 48 * 48
    assert graph.tensor_shape[graph.tensor_name.index("m")] == ("N", 48)


@pytest.mark.parametrize("make", [tflite_file, ort_file])
def test_changed_bytes_end_in_a_graph_or_one_sentence(tmp_path: Path, make: object) -> None:
    import random

    data = make(tmp_path / "good").read_bytes()  # type: ignore[operator]
    path = tmp_path / "bad"
    refused = 0
    for seed in range(150):
        rng, changed = random.Random(seed), bytearray(data)
        for _ in range(rng.choice([1, 2, 8])):
            at = rng.randrange(min(len(changed), 1500))
            changed[at : at + 4] = rng.choice([b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", rng.randbytes(4)])
        path.write_bytes(changed[: rng.choice([len(changed), rng.randrange(8, len(changed))])])
        try:
            node_costs(open_graph(path))
        except InputError as error:
            refused += 1
            assert len(error.message) < 600
    assert refused > 20
