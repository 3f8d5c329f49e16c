"""ONNX files: structure, names, constants, scopes, quantization, external data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from studio.errors import InputError
from studio.graph import SubgraphRef, TensorKind, TensorRef, open_graph
from studio.graph.graph import Graph
from studio.graph.weights import read_tensor

FLOAT = TensorProto.FLOAT


def info(name: str, shape: list[object] | None, kind: int = FLOAT) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, shape)


def save(
    path: Path,
    nodes: list[onnx.NodeProto],
    inputs: list[onnx.ValueInfoProto],
    outputs: list[onnx.ValueInfoProto],
    constants: list[onnx.TensorProto] = [],  # noqa: B006
    **options: object,
) -> Path:
    graph = helper.make_graph(nodes, "g", inputs, outputs, constants)
    options.setdefault("opset_imports", [helper.make_opsetid("", 17)])
    onnx.save_model(helper.make_model(graph, **options), str(path))
    return path


def array(name: str, value: object, dtype: type = np.float32) -> onnx.TensorProto:
    return numpy_helper.from_array(np.array(value, dtype), name)


def tensor(graph: Graph, name: str) -> int:
    return graph.tensor_name.index(name)


def test_conv_graph_has_names_types_shapes_and_edges(tmp_path: Path) -> None:
    weight = numpy_helper.from_array(np.ones((4, 3, 3, 3), np.float32), "w")
    path = save(
        tmp_path / "m.onnx",
        [
            helper.make_node("Conv", ["x", "w"], ["y"], name="first", pads=[1, 1, 1, 1]),
            helper.make_node("Relu", ["y"], ["z"]),
        ],
        [info("x", ["N", 3, 8, 8])],
        [info("z", None)],
        [weight],
    )
    graph = open_graph(path)
    assert graph.node_op == ["Conv", "Relu"]
    assert graph.label(0) == "first" and graph.label(1) == "Relu#1"
    assert graph.opsets == {"": 17}
    assert graph.node_version.tolist() == [11, 14]
    assert graph.tensor_shape[tensor(graph, "y")] == ("N", 4, 8, 8)
    assert graph.tensor_kind[tensor(graph, "x")] == TensorKind.INPUT
    assert [graph.tensor_name[t] for t in graph.main_inputs()] == ["x"]
    assert [graph.tensor_name[t] for t in graph.main_outputs()] == ["z"]
    assert graph.node_attributes[0]["pads"] == [1, 1, 1, 1]
    source, target, over = graph.edges
    assert (source.tolist(), target.tolist()) == ([0], [1])
    assert graph.tensor_name[over[0]] == "y"


def test_initializers_that_are_also_inputs_are_constants(tmp_path: Path) -> None:
    path = save(
        tmp_path / "old.onnx",
        [helper.make_node("Add", ["x", "b"], ["y"])],
        [info("x", [2]), info("b", [2])],
        [info("y", [2])],
        [array("b", [1, 2])],
        ir_version=3,
    )
    graph = open_graph(path)
    assert [graph.tensor_name[t] for t in graph.main_inputs()] == ["x"]
    assert graph.tensor_value[tensor(graph, "b")] == [1.0, 2.0]


def test_constant_nodes_make_constants_with_values(tmp_path: Path) -> None:
    path = save(
        tmp_path / "c.onnx",
        [
            helper.make_node("Constant", [], ["c"], value=array("", [2, 3], np.int64)),
            helper.make_node("Constant", [], ["f"], value_float=0.5),
            helper.make_node("Reshape", ["x", "c"], ["y"]),
            helper.make_node("Mul", ["y", "f"], ["z"]),
        ],
        [info("x", [6])],
        [info("z", None)],
    )
    graph = open_graph(path)
    assert graph.tensor_kind[tensor(graph, "c")] == TensorKind.CONSTANT
    assert graph.tensor_value[tensor(graph, "c")] == [2, 3]
    assert graph.tensor_value[tensor(graph, "f")] == [0.5]
    assert graph.node_attributes[0]["value"] == TensorRef(tensor=tensor(graph, "c"))
    assert graph.tensor_shape[tensor(graph, "y")] == (2, 3)


def test_optional_input_left_out_is_minus_one(tmp_path: Path) -> None:
    node = helper.make_node("Clip", ["x", "", "hi"], ["y"])
    path = save(tmp_path / "o.onnx", [node], [info("x", [2])], [info("y", [2])], [array("hi", 6)])
    graph = open_graph(path)
    assert graph.inputs_of(0)[1] == -1


def test_if_branches_are_subgraphs_that_see_outer_names(tmp_path: Path) -> None:
    then = helper.make_graph([helper.make_node("Relu", ["x"], ["t"])], "then", [], [info("t", [2])])
    other = helper.make_graph([helper.make_node("Neg", ["x"], ["e"])], "else", [], [info("e", [2])])
    node = helper.make_node("If", ["c"], ["y"], then_branch=then, else_branch=other)
    path = save(
        tmp_path / "if.onnx", [node], [info("x", [2]), info("c", [], TensorProto.BOOL)], [info("y", [2])]
    )
    graph = open_graph(path)
    reference = graph.node_attributes[0]["then_branch"]
    assert isinstance(reference, SubgraphRef)
    body = graph.subgraphs[reference.subgraph]
    assert (body.name, body.parent_node, body.attribute) == ("then", 0, "then_branch")
    relu = next(graph.nodes_in(reference.subgraph))
    assert graph.node_op[relu] == "Relu"
    assert graph.inputs_of(relu)[0] == tensor(graph, "x")


def test_local_function_is_one_subgraph_for_all_its_calls(tmp_path: Path) -> None:
    body = [helper.make_node("Mul", ["a", "a"], ["b"])]
    function = helper.make_function("own", "Square", ["a"], ["b"], body, [helper.make_opsetid("", 17)])
    path = save(
        tmp_path / "f.onnx",
        [
            helper.make_node("Square", ["x"], ["y"], domain="own"),
            helper.make_node("Square", ["y"], ["z"], domain="own"),
        ],
        [info("x", [2])],
        [info("z", [2])],
        functions=[function],
        opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("own", 1)],
    )
    graph = open_graph(path)
    assert [s.name for s in graph.subgraphs] == ["g", "own::Square"]
    assert graph.subgraphs[1].parent_node == 0
    calls = [graph.node_attributes[i]["function"] for i in graph.nodes_in(0)]
    assert calls == [SubgraphRef(subgraph=1)] * 2
    assert [graph.node_op[i] for i in graph.nodes_in(1)] == ["Mul"]


def test_unknown_operators_and_domains_are_drawn(tmp_path: Path) -> None:
    nodes = [helper.make_node("Magic", ["x"], ["y"], domain="com.example", power=3)]
    path = save(tmp_path / "u.onnx", nodes, [info("x", [2])], [info("y", None)])
    graph = open_graph(path)
    assert (graph.node_op, graph.node_domain) == (["Magic"], ["com.example"])
    assert graph.node_attributes[0] == {"power": 3}
    assert graph.node_version.tolist() == [0]


def test_qdq_puts_quantization_on_both_sides(tmp_path: Path) -> None:
    path = save(
        tmp_path / "q.onnx",
        [
            helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
            helper.make_node("DequantizeLinear", ["q", "s", "z"], ["y"]),
            helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["wf"], axis=0),
            helper.make_node("MatMul", ["y", "wf"], ["o"]),
        ],
        [info("x", [1, 2])],
        [info("o", None)],
        [
            array("s", 0.5), array("z", 3, np.int8), array("w", [[1, 2], [3, 4]], np.int8),
            array("ws", [0.1, 0.2]), array("wz", [0, 0], np.int8),
        ],
    )  # fmt: skip
    graph = open_graph(path)
    found = graph.tensor_quantization[tensor(graph, "q")]
    assert (found.scale, found.zero_point, found.axis) == ((0.5,), (3,), None)
    assert graph.tensor_quantization[tensor(graph, "x")] == found
    weight = graph.tensor_quantization[tensor(graph, "w")]
    assert weight.axis == 0 and weight.zero_point == (0, 0)


def test_scopes_and_source_lines_come_from_torch_metadata(tmp_path: Path) -> None:
    node = helper.make_node("Relu", ["x"], ["y"], name="node_relu")
    for key, value in {
        "pkg.torch.onnx.name_scopes": "['', 'features', 'features.0', 'relu']",
        "pkg.torch.onnx.class_hierarchy": "['m.Net', 'torch.nn.Sequential', 'm.Block', 'aten.relu.default']",
        "pkg.torch.onnx.stack_trace": (
            'File "/home/me/net.py", line 9, in forward\n  x\n'
            'File "/x/site-packages/torch/nn/modules/activation.py", line 144, in forward'
        ),
    }.items():
        node.metadata_props.add(key=key, value=value)
    graph = open_graph(save(tmp_path / "t.onnx", [node], [info("x", [2])], [info("y", [2])]))
    assert graph.scope_path(int(graph.node_scope[0])) == "features/0"
    assert graph.scope_type[int(graph.node_scope[0])] == "Block"
    origin = graph.node_provenance[0]
    assert (origin.module, origin.file, origin.line) == ("features.0", "/home/me/net.py", 9)


def test_scopes_come_from_path_like_names(tmp_path: Path) -> None:
    nodes = [helper.make_node("Relu", ["x"], ["y"], name="/features/features.0/conv/Relu")]
    path = save(tmp_path / "p.onnx", nodes, [info("x", [2])], [info("y", [2])], producer_name="pytorch")
    graph = open_graph(path)
    assert graph.scope_path(int(graph.node_scope[0])) == "features/0/conv"
    assert graph.node_provenance[0].module == "features.0.conv"


def test_large_weights_stay_in_the_file_until_asked_for(tmp_path: Path) -> None:
    weight = np.arange(50 * 50, dtype=np.float32).reshape(50, 50)
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    constants = [numpy_helper.from_array(weight, "w")]
    graph = open_graph(save(tmp_path / "w.onnx", [node], [info("x", [1, 50])], [info("y", None)], constants))
    where = graph.tensor_data[tensor(graph, "w")]
    assert where.path == "" and where.length == weight.nbytes
    assert tensor(graph, "w") not in graph.tensor_value
    np.testing.assert_array_equal(read_tensor(graph, tensor(graph, "w")), weight)


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (TensorProto.INT64, list(range(-1500, 1500))),
        (TensorProto.INT32, list(range(-1500, 1500))),
        (TensorProto.INT8, [(i % 255) - 127 for i in range(3000)]),
        (TensorProto.FLOAT16, [i / 8 for i in range(3000)]),
        (TensorProto.DOUBLE, [i / 3 for i in range(3000)]),
        (TensorProto.BFLOAT16, [float(i % 200) for i in range(3000)]),
        (TensorProto.INT4, [(i % 15) - 7 for i in range(3000)]),
        (TensorProto.UINT4, [i % 16 for i in range(3000)]),
    ],
)
@pytest.mark.parametrize("size", [3000, 7])
def test_every_way_of_storing_values_is_read_like_onnx_does(
    tmp_path: Path, kind: int, values: list[float], size: int
) -> None:
    constant = helper.make_tensor("w", kind, [size], values[:size])  # typed fields, not raw_data
    node = helper.make_node("Identity", ["w"], ["y"])
    graph = open_graph(save(tmp_path / "v.onnx", [node], [], [info("y", None, kind)], [constant]))
    expected = numpy_helper.to_array(constant)
    found = read_tensor(graph, tensor(graph, "w"))
    np.testing.assert_array_equal(found.astype(np.float64), expected.astype(np.float64))


def external(folder: Path, location: str) -> Path:
    """A model whose weight says it is in `location`."""
    weight = numpy_helper.from_array(np.ones((64, 64), np.float32), "w")
    weight.ClearField("raw_data")
    weight.data_location = TensorProto.EXTERNAL
    for key, value in (("location", location), ("offset", "0"), ("length", str(64 * 64 * 4))):
        weight.external_data.add(key=key, value=value)
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    graph = helper.make_graph([node], "g", [info("x", [1, 64])], [info("y", [1, 64])], [weight])
    path = folder / "m.onnx"
    path.write_bytes(helper.make_model(graph).SerializeToString())
    return path


def test_external_data_opens_unread_and_is_read_on_demand(tmp_path: Path) -> None:
    (tmp_path / "w.bin").write_bytes(np.full(64 * 64, 2, np.float32).tobytes())
    graph = open_graph(external(tmp_path, "w.bin"))
    assert graph.tensor_data[tensor(graph, "w")].path == "w.bin"
    assert read_tensor(graph, tensor(graph, "w"))[0, 0] == 2


def test_missing_external_data_is_one_sentence_with_tensor_and_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"“w”.*“w\.bin”.*missing"):
        open_graph(external(tmp_path, "w.bin"))
    graph = open_graph(tmp_path / "m.onnx", check_external=False)
    assert any("missing" in note for note in graph.notes)


def test_short_external_data_is_refused(tmp_path: Path) -> None:
    (tmp_path / "w.bin").write_bytes(b"\0" * 100)
    with pytest.raises(InputError, match="ends before"):
        open_graph(external(tmp_path, "w.bin"))


@pytest.mark.parametrize(
    "location", ["../secret.bin", "/etc/passwd", "a/../../secret.bin", "..\\secret.bin", "C:w"]
)
def test_external_data_outside_the_folder_is_refused(tmp_path: Path, location: str) -> None:
    (tmp_path / "secret.bin").write_bytes(b"\0" * 64 * 64 * 4)
    folder = tmp_path / "model"
    folder.mkdir()
    with pytest.raises(InputError, match="outside the model's folder"):
        open_graph(external(folder, location))


def test_external_data_behind_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret.bin").write_bytes(b"\0" * 64 * 64 * 4)
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "w.bin").symlink_to(tmp_path / "secret.bin")
    with pytest.raises(InputError, match="outside the model's folder"):
        open_graph(external(folder, "w.bin"))


def test_open_dims_can_be_set_and_shapes_follow(tmp_path: Path) -> None:
    node = helper.make_node("MaxPool", ["x"], ["y"], kernel_shape=[2, 2], strides=[2, 2])
    path = save(tmp_path / "d.onnx", [node], [info("x", ["N", 3, "H", None])], [info("y", None)])
    graph = open_graph(path, dims={"N": 2, "H": 8, "x:3": 6})
    assert graph.tensor_shape[tensor(graph, "y")] == (2, 3, 4, 3)
    with pytest.raises(InputError, match="no open dim called W"):
        open_graph(path, dims={"W": 3})


def test_training_information_is_ignored_and_sparse_constants_have_their_dense_shape(tmp_path: Path) -> None:
    node = helper.make_node("Identity", ["x"], ["y"])
    model = helper.make_model(helper.make_graph([node], "g", [info("x", [2])], [info("y", [2])]))
    sparse = model.graph.sparse_initializer.add()
    sparse.values.CopyFrom(array("sp", [1.0]))
    sparse.indices.CopyFrom(array("", [3], np.int64))
    sparse.dims.append(100)
    model.training_info.add().algorithm.name = "algorithm"
    path = tmp_path / "s.onnx"
    path.write_bytes(model.SerializeToString())
    graph = open_graph(path)
    assert graph.tensor_shape[tensor(graph, "sp")] == (100,)
    assert graph.notes == ["Training information in the file is ignored."]
    assert graph.node_count == 1


def test_the_result_of_an_integer_operator_has_its_scale_and_zero_point(tmp_path: Path) -> None:
    values = {
        "xs": np.float32(0.1), "xz": np.uint8(3), "w": np.ones((1, 1, 1, 1), np.int8), "ws": np.float32(0.2),
        "wz": np.int8(0), "ys": np.float32(0.25), "yz": np.uint8(7),
    }  # fmt: skip
    tensors = [numpy_helper.from_array(np.asarray(value), name) for name, value in values.items()]
    node = helper.make_node("QLinearConv", ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz"], ["y"])
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        [node],
        "g",
        [info("x", TensorProto.UINT8, [1, 1, 2, 2])],
        [info("y", TensorProto.UINT8, None)],
        tensors,
    )
    path = tmp_path / "q.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)
    read = open_graph(path)
    found = read.tensor_quantization[read.tensor_name.index("y")]
    assert (found.scale, found.zero_point, found.axis) == ((0.25,), (7,), None)
