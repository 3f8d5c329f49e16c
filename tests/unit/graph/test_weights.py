"""Values on demand: GGUF's blocks, sparse and packed tensors; and what cannot be decoded says so."""

from __future__ import annotations

import hashlib
import json
import struct
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from studio.errors import InputError
from studio.graph import Graph, open_graph
from studio.graph.gguf_blocks import BLOCKS
from studio.graph.weights import read_tensor

REFERENCE: dict[str, Any] = json.loads(Path(__file__).with_name("gguf_blocks.json").read_text())["blocks"]
"""Random blocks and what the gguf package makes of them; the file says how it was made."""


def gguf_file(path: Path, kind: int, dims: list[int], data: bytes) -> Graph:
    """A GGUF file of one tensor `w`; dims count from the fastest one."""
    head = b"GGUF" + struct.pack("<IQQ", 3, 1, 0)
    head += struct.pack("<Q", 1) + b"w" + struct.pack("<I", len(dims))
    head += b"".join(struct.pack("<Q", dim) for dim in dims) + struct.pack("<IQ", kind, 0)
    path.write_bytes(head + b"\0" * (-len(head) % 32) + data)
    return open_graph(path)


@pytest.mark.parametrize("name", REFERENCE)
def test_gguf_blocks_are_what_the_gguf_package_says(tmp_path: Path, name: str) -> None:
    reference = REFERENCE[name]
    elements = next(e for known, e, _ in BLOCKS.values() if known == name)
    graph = gguf_file(tmp_path / "m.gguf", reference["type"], [elements, 2], bytes.fromhex(reference["raw"]))
    values = read_tensor(graph, 0)
    assert (values.shape, values.dtype) == ((2, elements), np.float32)
    assert values.reshape(-1)[:4].tolist() == reference["first"]
    assert hashlib.sha256(values.astype("<f4").tobytes()).hexdigest() == reference["sha256"]


@pytest.mark.parametrize(
    ("name", "block", "values"),
    [  # types that the gguf package does not decode, by ggml-quants.c
        ("q8_1", np.float16(0.5).tobytes() + b"\0\0" + np.arange(-16, 16, dtype=np.int8).tobytes(),
         np.arange(-16, 16) / 2),
        ("q8_k", np.float32(0.5).tobytes() + np.arange(-128, 128, dtype=np.int8).tobytes() + bytes(32),
         np.arange(-128, 128) / 2),
        ("q1_0", np.float16(0.5).tobytes() + b"\x01" + b"\xff" * 15, [0.5] + [-0.5] * 7 + [0.5] * 120),
    ],
)  # fmt: skip
def test_gguf_blocks_by_definition(tmp_path: Path, name: str, block: bytes, values: Any) -> None:
    kind = next(k for k, (known, _, _) in BLOCKS.items() if known == name)
    graph = gguf_file(tmp_path / "m.gguf", kind, [len(values)], block)
    np.testing.assert_array_equal(read_tensor(graph, 0), np.array(values, np.float32))


def test_gguf_types_with_code_books_are_refused_in_words(tmp_path: Path) -> None:
    graph = gguf_file(tmp_path / "m.gguf", 16, [256], bytes(66))
    with pytest.raises(InputError, match="IQ2_XXS are places in code books"):
        read_tensor(graph, 0)


def sparse_of(indices: np.ndarray, dims: list[int], name: str = "w") -> onnx.SparseTensorProto:
    values = np.arange(1, len(indices) + 1, dtype=np.float32)
    return helper.make_sparse_tensor(
        numpy_helper.from_array(values, name),
        numpy_helper.from_array(indices.astype(np.int64), f"{name} at"),
        dims,
    )


@pytest.mark.parametrize("count", [3, 1500])
@pytest.mark.parametrize("form", ["linear", "coordinates", "node"])
def test_sparse_onnx_constants_are_read_dense(tmp_path: Path, count: int, form: str) -> None:
    rng = np.random.default_rng(0)
    linear = np.sort(rng.choice(60 * 70, count, replace=False))
    places = np.stack(np.unravel_index(linear, (60, 70)), axis=1) if form == "coordinates" else linear
    sparse = sparse_of(places, [60, 70], "w" if form != "node" else "")
    nodes = [helper.make_node("Identity", ["w"], ["y"])]
    if form == "node":
        nodes.insert(0, helper.make_node("Constant", [], ["w"], sparse_value=sparse))
    graph = helper.make_graph(
        nodes, "g", [], [helper.make_tensor_value_info("y", TensorProto.FLOAT, [60, 70])],
        sparse_initializer=[sparse] if form != "node" else [],
    )  # fmt: skip
    path = tmp_path / "s.onnx"
    path.write_bytes(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString()
    )
    opened = open_graph(path)
    wanted = np.zeros(60 * 70, np.float32)
    wanted[linear] = np.arange(1, count + 1)
    found = read_tensor(opened, opened.tensor_name.index("w"))
    np.testing.assert_array_equal(found, wanted.reshape(60, 70))


def test_sparse_constants_that_lie_are_refused(tmp_path: Path) -> None:
    node = helper.make_node("Identity", ["w"], ["y"])
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    for number, (indices, dims, reason) in enumerate(
        [([5, 99], [10], "outside its shape"), ([1], [1 << 40], "too large")]
    ):
        graph = helper.make_graph([node], "g", [], [output])
        sparse = graph.sparse_initializer.add()
        sparse.values.CopyFrom(numpy_helper.from_array(np.ones(len(indices), np.float32), "w"))
        sparse.indices.CopyFrom(numpy_helper.from_array(np.array(indices, np.int64)))
        sparse.dims.extend(dims)
        path = tmp_path / f"{number}.onnx"
        path.write_bytes(helper.make_model(graph).SerializeToString())
        opened = open_graph(path)
        with pytest.raises(InputError, match=reason):
            read_tensor(opened, opened.tensor_name.index("w"))


@pytest.mark.parametrize("kind", ["FLOAT6E2M3", "FLOAT6E3M2", "FLOAT4E2M1", "INT2", "UINT4"])
@pytest.mark.parametrize("form", ["raw", "typed"])
@pytest.mark.parametrize("count", [7, 3001])
def test_packed_onnx_types_are_read_as_onnx_does(tmp_path: Path, kind: str, form: str, count: int) -> None:
    number = getattr(TensorProto, kind)
    values = [float(i % 2) for i in range(count)]
    constant = helper.make_tensor("w", number, [count], values)
    if form == "raw":
        constant = numpy_helper.from_array(numpy_helper.to_array(constant), "w")
    node = helper.make_node("Identity", ["w"], ["y"])
    graph = helper.make_graph(
        [node], "g", [], [helper.make_tensor_value_info("y", number, [count])], [constant]
    )  # fmt: skip
    path = tmp_path / "p.onnx"
    path.write_bytes(helper.make_model(graph).SerializeToString())
    opened = open_graph(path)
    assert read_tensor(opened, opened.tensor_name.index("w")).astype(np.float64).tolist() == values


def tflite_constant(
    path: Path, kind: str, shape: list[int], data: bytes, sparsity: Any = None, op: str = ""
) -> Graph:
    """A TFLite file with a constant `w` of those bytes, and one operator on it."""
    import flatbuffers
    from ai_edge_litert import schema_py_generated as tfl

    weight, made = tfl.TensorT(), tfl.TensorT()
    weight.name, weight.shape, weight.buffer, weight.type = b"w", shape, 1, getattr(tfl.TensorType, kind)
    weight.sparsity = sparsity
    made.name, made.shape, made.buffer, made.type = b"y", shape, 0, weight.type
    code = tfl.OperatorCodeT()
    code.builtinCode = code.deprecatedBuiltinCode = getattr(tfl.BuiltinOperator, op or "RELU")
    code.version = 1
    operator = tfl.OperatorT()
    operator.opcodeIndex, operator.inputs, operator.outputs = 0, [0], [1]
    main = tfl.SubGraphT()
    main.tensors, main.inputs, main.outputs, main.operators = [weight, made], [], [1], [operator]
    model = tfl.ModelT()
    buffers = [tfl.BufferT(), tfl.BufferT()]
    buffers[1].data = list(data)
    model.version, model.operatorCodes, model.subgraphs, model.buffers = 3, [code], [main], buffers
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    path.write_bytes(bytes(builder.Output()))
    return open_graph(path)


def test_packed_tflite_integers_come_one_to_an_element(tmp_path: Path) -> None:
    values = [(i % 16) - 8 for i in range(15)]
    packed = bytes((values[i] & 15) | ((values[i + 1] & 15) << 4 if i < 14 else 0) for i in range(0, 15, 2))
    graph = tflite_constant(tmp_path / "p.tflite", "INT4", [3, 5], packed)
    assert read_tensor(graph, 0).tolist() == np.array(values).reshape(3, 5).tolist()


def level(size: int | None, segments: list[int] | None = None, indices: list[int] | None = None) -> Any:
    """One level of a sparse tensor: dense of a size, or compressed rows."""
    from ai_edge_litert import schema_py_generated as tfl

    made = tfl.DimensionMetadataT()
    if size is not None:
        made.format, made.denseSize = tfl.DimensionType.DENSE, size
        return made
    made.format = tfl.DimensionType.SPARSE_CSR
    for field, values in (("arraySegments", segments), ("arrayIndices", indices)):
        vector = tfl.Int32VectorT()
        vector.values = values
        setattr(made, field, vector)
        setattr(made, f"{field}Type", tfl.SparseIndexVector.Int32Vector)
    return made


@pytest.mark.parametrize("blocked", [False, True])
def test_sparse_tflite_tensors_are_what_the_interpreter_makes_of_them(tmp_path: Path, blocked: bool) -> None:
    from ai_edge_litert import schema_py_generated as tfl
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    sparsity = tfl.SparsityParametersT()
    if blocked:  # 4 × 8 in blocks of 2 × 4, the blocks column by column
        sparsity.traversalOrder, sparsity.blockMap = [0, 1, 2, 3], [0, 1]
        sparsity.dimMetadata = [level(2), level(None, [0, 1, 3], [1, 0, 1]), level(2), level(4)]
        values = np.arange(1, 25, dtype=np.float32)
    else:
        sparsity.traversalOrder, sparsity.blockMap = [1, 0], []
        sparsity.dimMetadata = [level(8), level(None, [0, 1, 1, 3, 3, 3, 4, 4, 6], [2, 0, 3, 1, 0, 2])]
        values = np.arange(1, 7, dtype=np.float32)
    path = tmp_path / "s.tflite"
    graph = tflite_constant(path, "FLOAT32", [4, 8], values.tobytes(), sparsity, "DENSIFY")
    found = read_tensor(graph, 0)
    interpreter = Interpreter(
        str(path), experimental_op_resolver_type=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    )
    interpreter.allocate_tensors()
    interpreter.invoke()
    np.testing.assert_array_equal(found, interpreter.get_tensor(1))
    assert np.count_nonzero(found) == values.size
    assert int(graph.tensor_bytes[0]) == values.nbytes


def test_damaged_sparse_tensors_are_refused(tmp_path: Path) -> None:
    from ai_edge_litert import schema_py_generated as tfl

    for number, (order, levels) in enumerate(
        [
            ([0, 0], [level(4), level(8)]),
            ([0, 1], [level(4), level(None, [0, 9, 1, 1, 1], [0])]),
            ([0, 1], [level(1 << 30), level(1 << 30)]),
            ([0, 1], [level(4), level(None, [0, 1, 1, 1, 1], [99])]),
            ([0, 1], [level(4)]),
        ]
    ):
        sparsity = tfl.SparsityParametersT()
        sparsity.traversalOrder, sparsity.blockMap, sparsity.dimMetadata = order, [], levels
        graph = tflite_constant(tmp_path / f"{number}.tflite", "FLOAT32", [4, 8], bytes(128), sparsity)
        with pytest.raises(InputError, match="cannot be decoded"):
            read_tensor(graph, 0)


def test_small_floats_of_safetensors_are_read(tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    values = np.array([0.5, -2, 448], ml_dtypes.float8_e4m3fn)
    path = tmp_path / "m.safetensors"
    save_file({"w": values}, str(path))
    graph = open_graph(path)
    assert read_tensor(graph, 0).astype(np.float64).tolist() == [0.5, -2, 448]
