"""Our readers against the libraries whose formats they read: operators, tensors, shapes and types alike.

ONNX has a test of its own (`test_onnx_corpus.py`).
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn

from studio.graph import Graph, open_graph
from studio.graph.weights import read_tensor

X = torch.zeros(1, 3, 16, 16)


class Net(nn.Module):
    """Convolution, normalisation, skip, pooling, reshape, product, gate."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.depthwise = nn.Conv2d(8, 8, 3, padding=1, groups=8)
        self.head = nn.Linear(8, 5)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = torch.relu(self.norm(self.stem(x)))
        y = y + torch.sigmoid(self.depthwise(y)) * y
        pooled = y.mean((2, 3))
        return torch.softmax(self.head(pooled), -1), pooled


@pytest.fixture(scope="module")
def net() -> Net:
    torch.manual_seed(0)
    return Net().eval()


def types_of(graph: Graph, tensors: tuple[int, ...]) -> list[tuple[tuple[object, ...], str]]:
    found = []
    for tensor in tensors:
        shape = graph.tensor_shape[tensor]
        assert shape is not None
        found.append((shape, graph.tensor_dtype[tensor]))
    return found


def test_exported_program_has_the_nodes_and_shapes_of_torch(net: Net, tmp_path: Path) -> None:
    path = tmp_path / "net.pt2"
    torch.export.save(torch.export.export(net, (X,)), str(path))
    program = torch.export.load(str(path))
    graph = open_graph(path)
    calls = [node for node in program.graph.nodes if node.op == "call_function"]
    assert graph.node_op == [str(node.target) for node in calls]
    for index, node in enumerate(calls):
        value = node.meta["val"]
        values = list(value) if isinstance(value, (tuple, list)) else [value]
        found = types_of(graph, tuple(graph.outputs_of(index).tolist()))
        assert found == [(tuple(v.shape), str(v.dtype).removeprefix("torch.")) for v in values], node


def kinds_in(block: Any) -> Iterator[str]:
    """Operators of a TorchScript block and of the blocks inside it."""
    for node in block.nodes():
        yield node.kind()
        for inner in node.blocks():
            yield from kinds_in(inner)


@pytest.mark.parametrize("kind", ["traced", "scripted"])
def test_torchscript_has_the_operators_of_torch(net: Net, tmp_path: Path, kind: str) -> None:
    path = tmp_path / "net.pt"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = torch.jit.trace(net, X) if kind == "traced" else torch.jit.script(net)
    module.save(str(path))
    theirs = torch.jit.load(str(path)).inlined_graph
    wanted = Counter(kind for kind in kinds_in(theirs) if kind.startswith("aten::"))
    graph = open_graph(path)
    found = Counter(op.partition(".")[0] for op in graph.node_op if op.startswith("aten::"))
    assert found == wanted and wanted["aten::softmax"] == 1


def test_executorch_program_has_the_instructions_and_inputs_of_executorch(net: Net, tmp_path: Path) -> None:
    pytest.importorskip("executorch.exir")
    from executorch.exir import to_edge
    from executorch.exir._serialize import _deserialize_pte_binary
    from executorch.exir.schema import KernelCall

    path = tmp_path / "net.pte"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path.write_bytes(to_edge(torch.export.export(net, (X,))).to_executorch().buffer)
    read = _deserialize_pte_binary(path.read_bytes())
    plan = getattr(read, "program", read).execution_plan[0]
    wanted = []
    for instruction in plan.chains[0].instructions:
        assert isinstance(instruction.instr_args, KernelCall)
        operator = plan.operators[instruction.instr_args.op_index]
        wanted.append(
            operator.name.replace("::", ".") + (f".{operator.overload}" if operator.overload else "")
        )
    graph = open_graph(path)
    assert graph.node_op == wanted
    for ours, theirs in ((graph.main_inputs(), plan.inputs), (graph.main_outputs(), plan.outputs)):
        shapes = [tuple(plan.values[value].val.sizes) for value in theirs]
        assert [shape for shape, _ in types_of(graph, ours)] == shapes


def test_tflite_has_the_operators_and_tensors_of_its_interpreter(net: Net, tmp_path: Path) -> None:
    litert_torch = pytest.importorskip("litert_torch")
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    path = tmp_path / "net.tflite"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        litert_torch.convert(net, (X,)).export(str(path))
    interpreter = Interpreter(
        str(path), experimental_op_resolver_type=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    )
    interpreter.allocate_tensors()
    graph = open_graph(path)
    operators = interpreter._get_ops_details()
    assert [graph.node_op[i] for i in graph.nodes_in(0)] == [o["op_name"] for o in operators]
    details = {int(detail["index"]): detail for detail in interpreter.get_tensor_details()}
    for node, operator in zip(graph.nodes_in(0), operators):
        for ours, theirs in (
            (graph.inputs_of(node), operator["inputs"]),
            (graph.outputs_of(node), operator["outputs"]),
        ):
            for tensor, index in zip(ours.tolist(), theirs):
                if index < 0:
                    assert tensor == -1
                    continue
                detail = details[int(index)]
                assert graph.tensor_name[tensor] == detail["name"]
                shape = tuple(detail["shape"].tolist())
                assert types_of(graph, (tensor,)) == [(shape, np.dtype(detail["dtype"]).name)]
    for ours, theirs in (
        (graph.main_inputs(), interpreter.get_input_details()),
        (graph.main_outputs(), interpreter.get_output_details()),
    ):
        assert [graph.tensor_name[t] for t in ours] == [d["name"] for d in theirs]


def test_ort_file_has_the_nodes_and_types_of_the_onnx_file_saved_beside_it(tmp_path: Path) -> None:
    """One session configuration, written once as ONNX and once as ORT; and what ORT says of the second."""
    import onnxruntime as ort

    weight = numpy_helper.from_array(np.ones((4, 3, 3, 3), np.float32), "w")
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1], name="conv"),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("GlobalAveragePool", ["r"], ["p"]),
        helper.make_node("Flatten", ["p"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes, "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3, 8, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 4])],
        [weight],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    saved: dict[str, Path] = {}
    for kind in ("ONNX", "ORT"):
        options = ort.SessionOptions()
        saved[kind] = tmp_path / f"saved.{kind.lower()}"
        options.optimized_model_filepath = str(saved[kind])
        options.add_session_config_entry("session.save_model_format", kind)
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_BASIC
        ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    ours = open_graph(saved["ORT"])
    wanted = onnx.load(str(saved["ONNX"])).graph.node
    assert [(op, name) for op, name in zip(ours.node_op, ours.node_name)] == [
        (n.op_type, n.name) for n in wanted
    ]
    session = ort.InferenceSession(str(saved["ORT"]), providers=["CPUExecutionProvider"])
    for ids, theirs in (
        (ours.main_inputs(), session.get_inputs()),
        (ours.main_outputs(), session.get_outputs()),
    ):
        assert [ours.tensor_name[t] for t in ids] == [t.name for t in theirs]
        assert types_of(ours, ids) == [(tuple(t.shape), "float32") for t in theirs]


def test_gguf_has_the_tensors_of_the_gguf_package(tmp_path: Path) -> None:
    gguf = pytest.importorskip("gguf")
    path = tmp_path / "m.gguf"
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_tensor("w", np.arange(64, dtype=np.float32).reshape(2, 32))
    writer.add_tensor("h", np.ones((3, 4), np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    graph = open_graph(path)
    for index, theirs in enumerate(gguf.GGUFReader(str(path)).tensors):
        assert graph.tensor_name[index] == theirs.name
        assert graph.tensor_shape[index] == tuple(reversed(theirs.shape.tolist()))
        assert int(graph.tensor_bytes[index]) == theirs.n_bytes


def test_safetensors_have_the_tensors_of_their_package(tmp_path: Path) -> None:
    from safetensors import safe_open
    from safetensors.torch import save_file

    path = tmp_path / "m.safetensors"
    save_file(
        {"a": torch.arange(6.0).reshape(2, 3), "b": torch.ones(4, dtype=torch.bfloat16),
         "c": torch.tensor([True, False]), "d": torch.zeros(0, 5, dtype=torch.int16)},
        str(path),
    )  # fmt: skip
    graph = open_graph(path)
    with safe_open(str(path), "pt") as theirs:
        assert sorted(graph.tensor_name) == sorted(theirs.keys())
        for index, name in enumerate(graph.tensor_name):
            tensor = theirs.get_tensor(name)
            found = types_of(graph, (index,))
            assert found == [(tuple(tensor.shape), str(tensor.dtype).removeprefix("torch."))]
            values = read_tensor(graph, index).astype(np.float64)
            np.testing.assert_array_equal(values, tensor.to(torch.float64).numpy())


def test_onnx_external_functions_and_sparse_are_what_onnx_says(tmp_path: Path) -> None:
    """One model with all three: nodes of functions, values of external and of sparse constants."""
    rng = np.random.default_rng(0)
    weight = rng.standard_normal((64, 32)).astype(np.float32)
    sparse = helper.make_sparse_tensor(
        numpy_helper.from_array(np.array([2.0, 3.0], np.float32), "s"),
        numpy_helper.from_array(np.array([1, 40], np.int64), "at"),
        [32, 2],
    )
    twice = helper.make_function(
        "own", "Twice", ["a"], ["z"], [helper.make_node("Add", ["a", "a"], ["z"])],
        [helper.make_opsetid("", 17)],
    )  # fmt: skip
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["m"]), helper.make_node("Twice", ["m"], ["y"], domain="own"),
         helper.make_node("Identity", ["s"], ["t"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 64])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 32]),
         helper.make_tensor_value_info("t", TensorProto.FLOAT, [32, 2])],
        [numpy_helper.from_array(weight, "w")],
        sparse_initializer=[sparse],
    )  # fmt: skip
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    model = helper.make_model(graph, opset_imports=imports, functions=[twice], ir_version=8)
    path = tmp_path / "m.onnx"
    onnx.save(model, str(path), save_as_external_data=True, location="m.data", size_threshold=0)
    ours, theirs = open_graph(path), onnx.load(str(path))
    assert ours.node_count == len(theirs.graph.node) + len(theirs.functions[0].node)
    weight_id, sparse_id = ours.tensor_name.index("w"), ours.tensor_name.index("s")
    assert ours.tensor_data[weight_id].path == "m.data"
    np.testing.assert_array_equal(
        read_tensor(ours, weight_id), numpy_helper.to_array(theirs.graph.initializer[0])
    )
    dense = np.zeros(64, np.float32)
    dense[[1, 40]] = [2.0, 3.0]
    np.testing.assert_array_equal(read_tensor(ours, sparse_id), dense.reshape(32, 2))
