"""MACs that no other library counts: TFLite's recurrent layers, what ONNX Runtime writes, loops."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from studio.graph import Graph, node_costs, open_graph
from studio.graph.builder import GraphBuilder

FLOAT = TensorProto.FLOAT
Dims = tuple[int, ...] | None


def one_node(
    format_: str, op: str, inputs: list[Dims], output: Dims, domain: str = "", **attributes: object
) -> Graph:
    """A graph of one node; None is an input left out."""
    builder = GraphBuilder(format_)
    main = builder.subgraph("main")
    ids = [
        -1 if shape is None else builder.tensor(f"i{n}", "float32", shape) for n, shape in enumerate(inputs)
    ]
    made = builder.tensor("y", "float32", output)
    builder.node(op, ids, [made], domain=domain, attributes=attributes)  # type: ignore[arg-type]
    builder.close_subgraph(main, [t for t in ids if t >= 0], [made])
    return builder.finish()


IN, UNITS = (7, 5), (7, 7)  # weights of 7 units: of 5 inputs, and of themselves
LSTM: list[Dims] = [IN] * 4 + [UNITS] * 4
PEEPHOLES_AND_BIASES: list[Dims] = [None] * 3 + [(7,)] * 4


@pytest.mark.parametrize(
    ("op", "inputs", "macs"),
    [
        ("UNIDIRECTIONAL_SEQUENCE_LSTM", [(3, 2, 5), *LSTM, *PEEPHOLES_AND_BIASES, None, None], 6 * 4 * 84),
        ("UNIDIRECTIONAL_SEQUENCE_LSTM",  # coupled gates: no weights of the input gate; and a projection
         [(3, 2, 5), None, *LSTM[1:4], None, *LSTM[5:], *PEEPHOLES_AND_BIASES, (4, 7), None],
         6 * (3 * 84 + 28)),
        ("BIDIRECTIONAL_SEQUENCE_LSTM",
         [(3, 2, 5), *LSTM, *PEEPHOLES_AND_BIASES, None, None, *LSTM, *PEEPHOLES_AND_BIASES, None, None],
         6 * 8 * 84),
        ("LSTM", [(2, 5), *LSTM, *PEEPHOLES_AND_BIASES, None, None, (2, 7), (2, 7)], 2 * 4 * 84),
        ("LSTM", [(2, 5), (2, 7), (28, 12), (28,), (2, 7)], 2 * 28 * 12),
        ("UNIDIRECTIONAL_SEQUENCE_RNN", [(3, 2, 5), IN, UNITS, (7,), (2, 7)], 6 * 84),
        ("RNN", [(2, 5), IN, UNITS, (7,), (2, 7)], 2 * 84),
        ("BIDIRECTIONAL_SEQUENCE_RNN",
         [(3, 2, 5), IN, UNITS, (7,), (2, 7), IN, UNITS, (7,), (2, 7), None, None, None], 12 * 84),
        ("SVDF", [(2, 5), (8, 5), (8, 10), (4,), (2, 80)], 2 * (40 + 80)),
        ("CONV_3D_TRANSPOSE", [(5,), (2, 2, 2, 4, 3), (1, 3, 3, 3, 3)], 81 * 32),
    ],
)  # fmt: skip
def test_tflite_layers_follow_their_kernels(op: str, inputs: list[Dims], macs: int) -> None:
    costs = node_costs(one_node("tflite", op, inputs, (1,)))
    assert (costs.total_macs, costs.unknown_macs) == (macs, 0)


def test_stablehlo_products_follow_their_dimension_numbers() -> None:
    dot = one_node(
        "tflite", "STABLEHLO_DOT_GENERAL", [(2, 3, 4), (2, 4, 5)], (2, 3, 5), lhs_contracting_dimensions=[2]
    )
    assert node_costs(dot).total_macs == 2 * 3 * 5 * 4
    convolution = one_node(
        "tflite", "STABLEHLO_CONVOLUTION", [(1, 8, 8, 3), (3, 3, 3, 4)], (1, 6, 6, 4),
        kernel_output_feature_dimension=3,
    )  # fmt: skip
    assert node_costs(convolution).total_macs == 36 * 4 * 27


MICROSOFT = "com.microsoft"


@pytest.mark.parametrize(
    ("op", "inputs", "attributes", "macs"),
    [
        ("FusedMatMul", [(2, 4, 3), (2, 5, 4)], {"transA": 1, "transB": 1}, 2 * 3 * 4 * 5),
        ("FusedMatMul", [(2, 4, 3), (2, 5, 4)], {"transBatchA": 1}, -1),
        ("QGemm", [(3, 4), (), (), (5, 4)], {"transB": 1}, 3 * 4 * 5),
        ("MatMulNBits", [(2, 3, 64), (8, 2, 16)], {"K": 64, "N": 8}, 6 * 64 * 8),
        ("Attention", [(2, 5, 8), (8, 24)], {"num_heads": 2}, 10 * 8 * 24 + 2 * 5 * 5 * 16),
        ("Attention", [(2, 5, 8), (8, 20), None, None, (2, 2, 2, 3, 4)],
         {"num_heads": 2, "qkv_hidden_sizes": [8, 8, 4]}, 10 * 8 * 20 + 2 * 5 * 8 * 12),
        ("QAttention", [(1, 5, 8), (8, 24), (24,), (), ()], {"num_heads": 2}, 5 * 8 * 24 + 25 * 16),
        ("MultiHeadAttention", [(2, 5, 8), (2, 6, 8), (2, 6, 10)], {"num_heads": 2}, 2 * 5 * 6 * 18),
        ("MultiHeadAttention", [(2, 5, 2, 3, 4)], {"num_heads": 2}, 2 * 5 * 5 * 16),
        ("MultiHeadAttention", [(2, 5, 8), (2, 2, 6, 4), (2, 2, 6, 4)], {"num_heads": 2}, 2 * 5 * 6 * 16),
        ("GroupQueryAttention", [(1, 5, 8), (1, 5, 4), (1, 5, 4)],
         {"num_heads": 2, "kv_num_heads": 1}, 25 * 16),
        ("GroupQueryAttention", [(1, 5, 16), None, None], {"num_heads": 2, "kv_num_heads": 1}, 25 * 16),
        ("GroupQueryAttention", [(1, 1, 8), (1, 1, 4), (1, 1, 4), (1, 1, 64, 4)],
         {"num_heads": 2, "kv_num_heads": 1}, -1),  # how full the cache is, is not in the file
        ("DynamicQuantizeLSTM", [(3, 2, 5), (1, 5, 28), (1, 7, 28)], {}, 6 * 28 * 12),
        ("MoE", [(2, 3)], {}, -1),
        ("BiasGelu", [(2, 3), (3,)], {}, 0),
    ],
)  # fmt: skip
def test_operators_of_onnx_runtime(
    op: str, inputs: list[Dims], attributes: dict[str, object], macs: int
) -> None:
    assert node_costs(one_node("onnx", op, inputs, None, MICROSOFT, **attributes)).macs.tolist() == [macs]


@pytest.mark.parametrize(
    ("equation", "shapes", "macs"),
    [
        ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)], 2 * 3 * 4 * 5),
        ("...ij,...jk->...ik", [(2, 3, 4), (4, 5)], 2 * 3 * 4 * 5),
        ("ij,jk", [(3, 4), (4, 5)], 3 * 4 * 5),
        ("bi,bi->b", [(2, 3), (2, 3)], 2 * 3),
        ("i,j->ij", [(3,), (4,)], 0),
        ("ii->i", [(3, 3)], 0),
        ("ijz,jk->ik", [(3, 4, 9), (4, 5)], 3 * 4 * 5),  # z is summed before
        ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 5)], 2 * 3 * 4 + 2 * 4 * 5),
        ("ij,jk->ik", [(3, 4), (7, 5)], -1),
    ],
)  # fmt: skip
def test_einsum_counts_what_is_summed(equation: str, shapes: list[Dims], macs: int) -> None:
    assert node_costs(one_node("onnx", "Einsum", shapes, None, equation=equation)).macs.tolist() == [macs]


def test_delegates_take_the_macs_of_the_body_that_is_known() -> None:
    """A Vulkan blob may hold operators of its own; what it was made from is then the better source."""
    from studio.graph.graph import SubgraphRef

    builder = GraphBuilder("pte")
    main, blob, edge = (builder.subgraph(name) for name in ("main", "blob", "edge"))
    ids = [
        builder.tensor(name, "float32", shape)
        for name, shape in (("x", (2, 3)), ("w", (3, 4)), ("y", (2, 4)))
    ]
    bodies = {"graph": SubgraphRef(subgraph=blob), "edge": SubgraphRef(subgraph=edge)}
    builder.node("VulkanBackend", ids[:2], ids[2:], domain="delegate", attributes=bodies)
    builder.node("et_vk.linear_q4gsw.default", ids[:2], ids[2:], domain="vulkan", subgraph=blob)
    builder.node("aten.mm.default", ids[:2], ids[2:], subgraph=edge)
    builder.close_subgraph(main, ids[:2], ids[2:])
    assert node_costs(builder.finish()).macs.tolist() == [24, -1, 24]


@pytest.mark.parametrize("stops", [False, True])
def test_a_loop_counts_its_trips_only_when_it_runs_them_all(tmp_path: Path, stops: bool) -> None:
    def scalar(name: str, kind: int) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, kind, [])

    state = helper.make_tensor_value_info("s", FLOAT, [3, 3])
    going = [
        helper.make_node("ReduceSum", ["s"], ["sum"], keepdims=0),
        helper.make_node("Cast", ["sum"], ["on"], to=TensorProto.BOOL),
    ] if stops else [helper.make_node("Identity", ["go"], ["on"])]  # fmt: skip
    body = helper.make_graph(
        [helper.make_node("MatMul", ["s", "s"], ["t"]), *going], "body",
        [scalar("i", TensorProto.INT64), scalar("go", TensorProto.BOOL), state],
        [scalar("on", TensorProto.BOOL), helper.make_tensor_value_info("t", FLOAT, [3, 3])],
    )  # fmt: skip
    graph = helper.make_graph(
        [helper.make_node("Loop", ["n", "", "x"], ["y"], body=body)], "g",
        [helper.make_tensor_value_info("x", FLOAT, [3, 3])],
        [helper.make_tensor_value_info("y", FLOAT, [3, 3])],
        [numpy_helper.from_array(np.array(4, np.int64), "n")],
    )  # fmt: skip
    path = tmp_path / "l.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))
    assert node_costs(open_graph(path)).macs[0] == (-1 if stops else 4 * 27)


def test_shapes_are_followed_through_what_onnx_runtime_wrote(tmp_path: Path) -> None:
    """The optimized file has fused nodes and no shapes; its MACs are those of the file it was made from."""
    import onnxruntime as ort

    rng = np.random.default_rng(0)
    weights = {"w": (8, 3, 3, 3), "v": (8, 8, 3, 3), "k": (8, 6), "s": (6,), "b": (6,)}
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("Conv", ["r", "v"], ["d"], strides=[2, 2]),
        helper.make_node("LeakyRelu", ["d"], ["e"]),
        helper.make_node("GlobalAveragePool", ["e"], ["p"]),
        helper.make_node("Flatten", ["p"], ["f"]),
        helper.make_node("MatMul", ["f", "k"], ["m"]),
        helper.make_node("Transpose", ["m"], ["t"], perm=[1, 0]),
        helper.make_node("MatMul", ["m", "t"], ["a"]),
        helper.make_node("MatMul", ["a", "m"], ["n"]),
        helper.make_node("Add", ["n", "m"], ["sum"]),
        helper.make_node("LayerNormalization", ["sum", "s", "b"], ["l"]),
        helper.make_node("Gelu", ["l"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", FLOAT, [2, 3, 9, 9])],
        [helper.make_tensor_value_info("y", FLOAT, None)],
        [numpy_helper.from_array(rng.standard_normal(s).astype(np.float32), n) for n, s in weights.items()],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    source, made = tmp_path / "m.onnx", tmp_path / "optimized.onnx"
    source.write_bytes(model.SerializeToString())
    options = ort.SessionOptions()
    options.optimized_model_filepath = str(made)
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    ort.InferenceSession(str(source), options, providers=["CPUExecutionProvider"])
    optimized = open_graph(made)
    assert {"FusedConv", "FusedMatMul"} <= set(optimized.node_op)
    assert not onnx.load(str(made)).graph.value_info
    costs, wanted = node_costs(optimized), node_costs(open_graph(source))
    assert wanted.unknown_macs == costs.unknown_macs == costs.unknown_bytes == 0
    assert costs.total_macs == wanted.total_macs
    assert optimized.tensor_shape[optimized.main_outputs()[0]] == (2, 6)


def test_stand_ins_leave_the_nodes_as_they_are(tmp_path: Path) -> None:
    """The graph keeps each node, and its result has the shape that it must have."""
    quantized = ["q", "one", "zero"]
    cases: list[tuple[str, list[str], dict[str, object], tuple[int, ...]]] = [
        ("QLinearAdd", [*quantized, *quantized, "one", "zero"], {}, (2, 4, 4, 4)),
        ("QLinearConcat", ["one", "zero", *quantized, *quantized], {"axis": 1}, (2, 8, 4, 4)),
        ("QLinearAveragePool", [*quantized, "one", "zero"], {"kernel_shape": [2, 2]}, (2, 4, 3, 3)),
        ("QLinearGlobalAveragePool", [*quantized, "one", "zero"], {}, (2, 4, 1, 1)),
        ("DynamicQuantizeMatMul", ["x", "k", "one"], {}, (2, 5, 7)),
        ("MatMulNBits", ["x", "packed", "one"], {"K": 6, "N": 9, "block_size": 16}, (2, 5, 9)),
        ("Attention", ["x", "qkv", "bias"], {"num_heads": 2}, (2, 5, 6)),
        ("MultiHeadAttention", ["x", "x", "x"], {"num_heads": 2}, (2, 5, 6)),
        ("GroupQueryAttention", ["x", "x", "x"], {"num_heads": 2, "kv_num_heads": 2}, (2, 5, 6)),
        ("BiasGelu", ["x", "bias"], {}, (2, 5, 6)),
        ("SkipLayerNormalization", ["x", "x", "bias"], {}, (2, 5, 6)),
    ]
    constants = {
        "one": np.array(1, np.float32), "zero": np.array(0, np.uint8), "k": np.zeros((6, 7), np.uint8),
        "packed": np.zeros((9, 1, 8), np.uint8), "qkv": np.zeros((6, 18), np.float32),
        "bias": np.zeros(18, np.float32),
    }  # fmt: skip
    for op, inputs, attributes, shape in cases:
        node = helper.make_node(op, inputs, ["y"], domain=MICROSOFT, **attributes)
        graph = helper.make_graph(
            [node], "g",
            [helper.make_tensor_value_info("x", FLOAT, [2, 5, 6]),
             helper.make_tensor_value_info("q", TensorProto.UINT8, [2, 4, 4, 4])],
            [helper.make_tensor_value_info("y", TensorProto.UNDEFINED, None)],
            [numpy_helper.from_array(value, name) for name, value in constants.items()],
        )  # fmt: skip
        imports = [helper.make_opsetid("", 17), helper.make_opsetid(MICROSOFT, 1)]
        path = tmp_path / f"{op}.onnx"
        path.write_bytes(helper.make_model(graph, opset_imports=imports, ir_version=8).SerializeToString())
        opened = open_graph(path)
        assert (opened.node_op, opened.notes) == ([op], []), op
        assert opened.tensor_shape[opened.main_outputs()[0]] == shape, op
