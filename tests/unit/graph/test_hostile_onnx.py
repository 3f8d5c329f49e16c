"""ONNX files that lie, loop, nest or are cut: a graph, or one sentence, soon and in little memory."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from studio.errors import InputError
from studio.graph import node_costs, onnx_inference, open_graph
from studio.graph.store import load_graph, save_graph

FLOAT = TensorProto.FLOAT


def info(name: str, shape: list[object] | None) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, FLOAT, shape)


def write(path: Path, nodes: list[onnx.NodeProto], **options: object) -> Path:
    outputs = options.pop("outputs", [info("y", [2])])
    graph = helper.make_graph(nodes, "g", [info("x", [2])], outputs, options.pop("constants", []))
    options.setdefault("opset_imports", [helper.make_opsetid("", 17)])
    path.write_bytes(helper.make_model(graph, **options).SerializeToString())
    return path


def mutated(data: bytes, seed: int) -> bytes:
    """The bytes with bits flipped, parts cut, repeated or overwritten, by seed."""
    rng, result = random.Random(seed), bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 4, 16])):
        if not result:
            break
        at, kind = rng.randrange(len(result)), rng.randrange(5)
        if kind == 0:
            result[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            result[at] = rng.choice([0, 1, 127, 128, 255])
        elif kind == 2:
            del result[at : at + rng.choice([1, 4, 100, len(result)])]
        elif kind == 3:
            result[at:at] = rng.randbytes(rng.choice([1, 4, 16]))
        else:
            result[at : at + 4] = rng.choice([b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", b"\0\0\0\0"])
    return bytes(result)


def test_mutated_files_end_in_a_graph_or_one_sentence(tmp_path: Path) -> None:
    then = helper.make_graph([helper.make_node("Relu", ["x"], ["t"])], "then", [], [info("t", [2])])
    nodes = [
        helper.make_node("Constant", [], ["c"], value=numpy_helper.from_array(np.array([2], np.int64))),
        helper.make_node("Reshape", ["x", "c"], ["r"], name="/a/b/Reshape"),
        helper.make_node("MatMul", ["r", "w"], ["m"]),
        helper.make_node("If", ["b"], ["y"], then_branch=then, else_branch=then),
    ]
    constants = [
        numpy_helper.from_array(np.ones((2, 1000), np.float32), "w"),
        numpy_helper.from_array(np.array(True), "b"),
    ]
    data = write(tmp_path / "good.onnx", nodes, constants=constants).read_bytes()
    path = tmp_path / "bad.onnx"
    refused = 0
    for seed in range(200):
        path.write_bytes(mutated(data, seed))
        try:
            graph = open_graph(path)
        except InputError as error:
            refused += 1
            assert "\n" not in error.message and len(error.message) < 600
            continue
        node_costs(graph)
        save_graph(graph, tmp_path / "packed")
        assert load_graph(tmp_path / "packed").node_op == graph.node_op
    assert 40 < refused < 200


@pytest.mark.parametrize("keep", [0, 1, 2, 10, 100])
def test_cut_files_are_refused(tmp_path: Path, keep: int) -> None:
    path = write(tmp_path / "m.onnx", [helper.make_node("Relu", ["x"], ["y"], doc_string="d" * 300)])
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(InputError) as caught:
        open_graph(path)
    assert str(path) in caught.value.message and caught.value.hint


def test_cycles_self_loops_and_duplicate_names_are_drawn_with_a_note(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Add", ["x", "b"], ["a"], name="same"),
        helper.make_node("Relu", ["a"], ["b"], name="same"),
        helper.make_node("Add", ["s", "s"], ["s"]),
        helper.make_node("Neg", ["x"], ["y"]),
        helper.make_node("Abs", ["x"], ["y"]),
        helper.make_node("Add", ["y", "nowhere"], ["z"]),
    ]
    graph = open_graph(write(tmp_path / "c.onnx", nodes))
    assert graph.node_count == 6
    text = " ".join(graph.notes)
    assert "More than one node makes “y”" in text and "Nothing makes “nowhere”" in text
    costs = node_costs(graph)
    assert costs.total_macs == 0


def test_one_node_with_100_000_outputs(tmp_path: Path) -> None:
    names = [f"o{i}" for i in range(100_000)]
    path = write(tmp_path / "w.onnx", [helper.make_node("Split", ["x"], names)])
    started = time.monotonic()
    graph = open_graph(path)
    assert len(graph.outputs_of(0)) == 100_000
    assert time.monotonic() - started < 10


def test_names_of_a_megabyte_emoji_and_right_to_left(tmp_path: Path) -> None:
    name = "n" * 1_000_000 + "/" * 1000
    nodes = [
        helper.make_node("Relu", ["x"], ["نص"], name=name),
        helper.make_node("Neg", ["نص"], ["y"], name="🙂"),
    ]
    graph = open_graph(write(tmp_path / "n.onnx", nodes))
    assert graph.node_name == [name, "🙂"]
    assert len(graph.scope_name) < 100


def test_text_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "t.onnx", [helper.make_node("Relu", ["x"], ["y"], name="AAAAAAAA")])
    path.write_bytes(path.read_bytes().replace(b"AAAAAAAA", b"\xff\xfe\xff\xfeAAAA"))
    with pytest.raises(InputError, match="UTF-8"):
        open_graph(path)


def test_deep_nesting_is_refused(tmp_path: Path) -> None:
    def field(number: int, content: bytes) -> bytes:
        length, size = len(content), b""
        while length >= 128:
            size += bytes([length & 127 | 128])
            length >>= 7
        return bytes([number << 3 | 2]) + size + bytes([length]) + content

    body = field(2, b"innermost")
    for _ in range(3000):  # graph.node.attribute.g, again and again
        body = field(1, field(4, b"If") + field(5, field(1, b"then_branch") + field(6, body)))
    path = tmp_path / "deep.onnx"
    path.write_bytes(b"\x08\x08" + field(7, body))
    with pytest.raises(InputError, match="nest"):
        open_graph(path)


def test_functions_that_call_each_other_without_end_open_at_once(tmp_path: Path) -> None:
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("f", 1)]

    def twice(name: str, callee: str) -> onnx.FunctionProto:
        calls = [
            helper.make_node(callee, ["a"], ["t"], domain="f"),
            helper.make_node(callee, ["t"], ["b"], domain="f"),
        ]
        return helper.make_function("f", name, ["a"], ["b"], calls, imports)

    functions = [twice(f"F{i}", f"F{i + 1}") for i in range(40)] + [twice("F40", "F0")]
    path = write(
        tmp_path / "f.onnx", [helper.make_node("F0", ["x"], ["y"], domain="f")],
        functions=functions, opset_imports=imports,
    )  # fmt: skip
    started = time.monotonic()
    graph = open_graph(path)
    assert len(graph.subgraphs) == 42
    assert node_costs(graph).macs[0] == -1
    assert time.monotonic() - started < 5


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the limits need a forked child")
def test_shape_inference_that_wants_all_memory_becomes_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shape of 2^27 dims: onnx would believe it and allocate gigabytes."""
    monkeypatch.setattr(onnx_inference, "_SECONDS", 1.0)
    nodes = [
        helper.make_node("Concat", ["s", "s"], ["t"], axis=0),
        helper.make_node("ConstantOfShape", ["t"], ["y"]),
    ]
    vector = helper.make_tensor_value_info("s", TensorProto.INT64, [1 << 27])
    graph = helper.make_graph(nodes, "g", [vector], [info("y", None)])
    path = tmp_path / "b.onnx"
    path.write_bytes(helper.make_model(graph).SerializeToString())
    opened = open_graph(path)
    assert opened.node_op == ["Concat", "ConstantOfShape"]
    assert any("too much time or memory" in note for note in opened.notes)


def test_weights_that_claim_to_be_longer_than_the_file_are_refused(tmp_path: Path) -> None:
    path = write(
        tmp_path / "l.onnx", [helper.make_node("Identity", ["w"], ["y"])],
        constants=[numpy_helper.from_array(np.zeros(5000, np.float32), "w")],
    )  # fmt: skip
    data = path.read_bytes()
    path.write_bytes(data[: len(data) - 9000])
    with pytest.raises(InputError, match="truncated, damaged"):
        open_graph(path)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the limits need a forked child")
def test_constants_that_ask_for_terabytes_cost_little_memory(tmp_path: Path) -> None:
    """Two numbers of eight bytes are a vector of 2^40 values, or a shape of 2^32 dims."""
    import resource

    def constant(name: str, value: object) -> onnx.TensorProto:
        return numpy_helper.from_array(np.array(value, np.int64), name)

    limits = [constant("from", 0), constant("to", 1 << 40), constant("half", 1 << 31), constant("by", 1)]
    cases = [
        [helper.make_node("Range", ["from", "to", "by"], ["y"])],
        [helper.make_node("ConstantOfShape", ["four"], ["y"])],
        [
            helper.make_node("Range", ["from", "half", "by"], ["r"]),
            helper.make_node("Concat", ["r", "r"], ["s"], axis=0),
            helper.make_node("Reshape", ["x", "s"], ["y"]),
        ],
    ]
    for number, nodes in enumerate(cases):
        output = [helper.make_tensor_value_info("y", TensorProto.UNDEFINED, None)]
        path = write(
            tmp_path / f"{number}.onnx",
            nodes,
            outputs=output,
            constants=[*limits, constant("four", [1 << 40])],
        )
        assert open_graph(path).node_count == len(nodes)
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert used < own + 300_000, "shape inference took more than 300 MB over this process's own"
