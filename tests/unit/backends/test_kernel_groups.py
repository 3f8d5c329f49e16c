"""Which nodes of a file a fused kernel computes: what is proven, and what must stay unsaid."""

from __future__ import annotations

from studio.backends.kernel_groups import INSERTED, UNPROVEN, KernelGroups
from studio.backends.xnnpack_kernels import kind_of, match_in_order
from studio.graph import Graph, SubgraphRef, TensorKind
from studio.graph.builder import GraphBuilder

NCHWC = "com.microsoft.nchwc"
Line = tuple[str, str, str, str]
"""(operator, name, inputs, outputs); names of tensors separated by blanks, constants begin with “w”."""


def graph_of(
    *lines: Line, inputs: str = "x", outputs: str = "", domains: dict[str, str] | None = None
) -> Graph:
    builder = GraphBuilder("onnx")
    ids: dict[str, int] = {}

    def tensor(name: str) -> int:
        if name not in ids:
            ids[name] = builder.tensor(name, "float32", (1,))
            if name.startswith("w"):
                builder.constant(ids[name], value=[1.0])
            elif name in inputs.split():
                builder.set_kind(ids[name], TensorKind.INPUT)
        return ids[name]

    main = builder.subgraph("main")
    for op, name, ins, outs in lines:
        made = [tensor(t) for t in outs.split()]
        read = [tensor(t) for t in ins.split()]
        builder.node(op, read, made, name=name, domain=(domains or {}).get(name, ""))
    builder.close_subgraph(main, [ids[t] for t in inputs.split()], [ids[t] for t in outputs.split()])
    return builder.finish()


def groups_of(source: Graph, made: Graph) -> dict[str, tuple[str, ...]]:
    """Kernel → names of its nodes."""
    found = KernelGroups(source, made)
    return {
        made.node_name[k]: tuple(source.node_name[n] for n in found.nodes.get(k, ()))
        for k in range(made.node_count)
    }


BLOCK = (
    ("Conv", "conv", "x w1", "a"),
    ("BatchNormalization", "bn", "a w2 w3", "b"),
    ("Relu", "relu", "b", "c"),
    ("Neg", "neg", "c", "y"),
)


def test_a_kernel_has_the_nodes_between_its_outputs_and_its_inputs() -> None:
    made = graph_of(("FusedConv", "conv", "x w1", "c"), ("Neg", "neg", "c", "y"))
    assert groups_of(graph_of(*BLOCK), made) == {"conv": ("conv", "bn", "relu"), "neg": ("neg",)}


def test_a_kernel_in_the_runtimes_own_layout_is_found_by_the_tensor_it_is_named_for() -> None:
    made = graph_of(
        ("ReorderInput", "r1", "x", "token_0"),
        ("Conv", "c_nchwc", "token_0 w9", "token_1"),
        ("ReorderOutput", "r2", "token_1", "c"),
        ("Neg", "neg", "c", "y"),
        domains={"r1": NCHWC, "c_nchwc": NCHWC, "r2": NCHWC},
    )
    groups = KernelGroups(graph_of(*BLOCK), made)
    assert groups.nodes == {1: (0, 1, 2), 3: (3,)}
    assert groups.why == {0: INSERTED, 2: INSERTED}


def test_a_sum_that_joined_a_kernel_belongs_to_it() -> None:
    source = graph_of(
        ("Conv", "first", "x w1", "a"),
        ("Conv", "second", "a w2", "b"),
        ("Add", "sum", "a b", "c"),
        ("Conv", "third", "c w3", "y"),
    )
    nchwc = {f"{t}_nchwc": NCHWC for t in "aby"}
    made = graph_of(
        ("Conv", "a_nchwc", "x w1", "t1"),
        ("Conv", "b_nchwc", "t1 w2 w4 t1", "t2"),
        ("Conv", "y_nchwc", "t2 w3", "t3"),
        ("ReorderOutput", "r", "t3", "y"),
        domains=nchwc,
    )
    assert groups_of(source, made) == {
        "a_nchwc": ("first",), "b_nchwc": ("second", "sum"), "y_nchwc": ("third",), "r": (),
    }  # fmt: skip


def test_integer_kernels_have_the_quantize_nodes_around_them() -> None:
    source = graph_of(
        ("QuantizeLinear", "q1", "x w1", "xq"),
        ("DequantizeLinear", "d1", "xq w1", "xd"),
        ("DequantizeLinear", "d2", "w2 w3", "kd"),
        ("Conv", "conv", "xd kd", "a"),
        ("QuantizeLinear", "q2", "a w4", "y"),
    )
    made = graph_of(("QuantizeLinear", "q1", "x w1", "xq"), ("QLinearConv", "conv", "xq w2 w3", "y"))
    assert groups_of(source, made)["conv"] == ("d1", "conv", "q2")


def test_a_kernel_that_leaves_its_bounds_is_attributed_to_nothing() -> None:
    source = graph_of(
        ("Conv", "one", "x w1", "a"), ("Relu", "two", "a", "b"), ("Conv", "three", "b w2", "y"),
    )  # fmt: skip
    made = graph_of(
        ("Mystery", "m", "x", "unheard"),
        ("Fused", "f", "unheard w2", "y"),
        ("Relu", "other", "x", "b"),
    )
    groups = KernelGroups(source, made)
    assert groups.nodes == {2: (0, 1)}, "only the kernel whose way back ends at its own input"
    assert groups.why == {0: UNPROVEN, 1: UNPROVEN}


def test_a_kernel_does_not_take_a_node_whose_result_another_kernel_makes() -> None:
    source = graph_of(("Exp", "exp", "x", "a"), ("Neg", "neg", "a", "b"), ("Abs", "abs", "b", "y"))
    made = graph_of(("Odd", "kernel_b", "x", "b"), ("Odd", "kernel_y", "x", "y"))
    assert groups_of(source, made) == {"kernel_b": ("exp", "neg"), "kernel_y": ()}


def test_nodes_that_need_only_constants_and_shapes_are_folded_unless_they_are_random() -> None:
    source = graph_of(
        ("Shape", "shape", "x", "s"),
        ("Concat", "concat", "s w1", "t"),
        ("RandomUniform", "random", "", "r"),
        ("Reshape", "reshape", "x t", "y"),
    )
    groups = KernelGroups(source, graph_of(("Reshape", "reshape", "x w2", "y")))
    assert groups.folded == {0, 1}
    assert groups.nodes == {0: (3,)}


def test_bodies_are_matched_with_the_node_they_hang_on() -> None:
    def branching(inner: str) -> Graph:
        builder = GraphBuilder("onnx")
        x, y, z = (builder.tensor(t, "float32", (1,)) for t in ("x", "y", "z"))
        builder.set_kind(x, TensorKind.INPUT)
        main = builder.subgraph("main")
        node = builder.node("If", [x], [y], name="if", attributes={"then_branch": SubgraphRef(subgraph=1)})
        body = builder.subgraph("then", parent_node=node, attribute="then_branch")
        builder.node(inner, [x], [z], name="inner", subgraph=body)
        builder.close_subgraph(body, [], [z])
        builder.close_subgraph(main, [x], [y])
        return builder.finish()

    assert KernelGroups(branching("Neg"), branching("Neg")).nodes == {0: (0,), 1: (1,)}


def test_xnnpack_operators_get_nodes_only_where_a_kind_comes_as_often_on_both_sides() -> None:
    kernels = ["Convolution (NHWC, F32) IGEMM", "Clamp (NC)", "Fully Connected (NC, F32) GEMM #1"]
    nodes = [(3, "CONV_2D"), (4, "MINIMUM"), (5, "MAXIMUM"), (9, "FULLY_CONNECTED")]
    assert match_in_order(kernels, nodes) == {0: 3, 2: 9}
    assert match_in_order(kernels, [*nodes, (10, "DEPTHWISE_CONV_2D")]) == {}
    assert kind_of("Multiply (ND) #3") == "Multiply"


def test_a_pointwise_convolution_that_became_a_product_is_found_by_its_place() -> None:
    kernels = ["Fully Connected (NC, F32) GEMM", "Convolution (NHWC, F32) DWConv", "Softmax (NC, F32)"]
    nodes = [(0, "CONV_2D"), (1, "DEPTHWISE_CONV_2D"), (2, "SOFTMAX")]
    assert match_in_order(kernels, nodes) == {0: 0, 1: 1, 2: 2}
    swapped = [(0, "DEPTHWISE_CONV_2D"), (1, "CONV_2D"), (2, "SOFTMAX")]
    assert match_in_order(kernels, swapped) == {2: 2}, "a depthwise node is no product: nothing is certain"
