"""Which tensors of two files are the same layer's result."""

from __future__ import annotations

from studio.graph import Graph, Quantization, TensorKind
from studio.graph.builder import GraphBuilder
from studio.graph.layer_pairs import layer_pairs


def graph_of(*lines: tuple[str, str, str, str], outputs: str) -> Graph:
    """(operator, name, inputs, outputs); constants begin with “w”, int8 tensors with “q”, and int32 tensors
    whose scale is not known with “i”."""
    builder = GraphBuilder("onnx")
    ids: dict[str, int] = {}

    def tensor(name: str) -> int:
        if name not in ids:
            dtype = {"q": "int8", "i": "int32"}.get(name[0], "float32")
            ids[name] = builder.tensor(name, dtype, (1, 4))
            if name.startswith("w"):
                builder.constant(ids[name], value=[1.0])
            if name.startswith("q"):
                builder.quantization(ids[name], Quantization(scale=(0.5,), zero_point=(0,)))
            if name == "x":
                builder.set_kind(ids[name], TensorKind.INPUT)
        return ids[name]

    main = builder.subgraph("main")
    for op, name, ins, outs in lines:
        builder.node(op, [tensor(t) for t in ins.split()], [tensor(t) for t in outs.split()], name=name)
    builder.close_subgraph(main, [ids["x"]], [ids[t] for t in outputs.split()])
    return builder.finish()


def names(a: Graph, b: Graph) -> list[tuple[str, str]]:
    return [(a.tensor_name[p.tensor_a], b.tensor_name[p.tensor_b]) for p in layer_pairs(a, b)[0]]


FLOAT = (
    ("Conv", "conv1", "x w1", "a"),
    ("Relu", "relu", "a", "b"),
    ("Conv", "conv2", "b w2", "y"),
)


def test_the_same_file_is_compared_tensor_by_tensor() -> None:
    a = graph_of(*FLOAT, outputs="y")
    assert names(a, a) == [("a", "a"), ("b", "b"), ("y", "y")]


def test_what_was_folded_into_a_layer_is_part_of_its_result() -> None:
    folded = graph_of(("Conv", "conv1", "x w1", "b2"), ("Conv", "conv2", "b2 w2", "y2"), outputs="y2")
    pairs, unmatched = layer_pairs(graph_of(*FLOAT, outputs="y"), folded)
    assert names(graph_of(*FLOAT, outputs="y"), folded) == [("b", "b2"), ("y", "y2")]
    assert len(pairs) == 2 and unmatched == 0, "a folded activation is no layer without a counterpart"


def test_a_quantised_layers_result_are_its_integers() -> None:
    quantised = graph_of(
        ("QuantizeLinear", "q1", "x w5", "qx"),
        ("DequantizeLinear", "d1", "qx w5", "dx"),
        ("Conv", "conv1", "dx w1", "a1"),
        ("QuantizeLinear", "q2", "a1 w6", "qa"),
        ("DequantizeLinear", "d2", "qa w6", "da"),
        ("Relu", "relu", "da", "b1"),
        ("Conv", "conv2", "b1 w2", "y1"),
        outputs="y1",
    )
    assert names(graph_of(*FLOAT, outputs="y"), quantised) == [("a", "qa"), ("b", "b1"), ("y", "y1")]


def test_a_tensor_that_others_read_too_is_not_looked_behind() -> None:
    a = graph_of(
        ("Conv", "conv1", "x w1", "a"), ("Relu", "relu", "a", "b"), ("Add", "sum", "a b", "y"), outputs="y"
    )
    b = graph_of(("Conv", "conv1", "x w1", "a1"), ("Add", "sum", "a1 a1", "y1"), outputs="y1")
    assert names(a, b) == [("a", "a1"), ("y", "y1")]


def test_a_product_in_plain_integers_is_compared_where_it_is_scaled() -> None:
    integers = (
        ("DynamicQuantizeLinear", "dq", "x", "qx s z"),
        ("ConvInteger", "conv1", "qx w1 z", "i1"),
        ("Cast", "cast", "i1", "c1"),
        ("Mul", "scales", "s w7", "s1"),
    )
    kept = graph_of(
        *integers,
        ("Mul", "scale", "c1 s1", "a"),
        ("Relu", "relu", "a", "b"),
        ("Conv", "conv2", "b w2", "y"),
        outputs="y",
    )
    assert names(graph_of(*FLOAT, outputs="y"), kept) == [("a", "a"), ("b", "b"), ("y", "y")]
    renamed = graph_of(
        *integers,
        ("Mul", "scale", "c1 s1", "a9"),
        ("Relu", "relu", "a9", "b"),
        ("Conv", "conv2", "b w2", "y"),
        outputs="y",
    )
    assert names(graph_of(*FLOAT, outputs="y"), renamed)[0] == ("a", "i1"), "integers, which are left out"
