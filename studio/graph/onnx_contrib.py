"""Stand-ins for the operators that ONNX Runtime writes, so that onnx can infer shapes through them.

A model that ONNX Runtime optimized or quantized has nodes of its own domains and no shapes. `stand_ins`
gives a copy in which such a node is replaced by standard nodes with the same result shape; from what is
inferred on it only the shapes are kept. Definitions: docs/ContribOperators.md (ONNX Runtime 1.32).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

DOMAINS = ("com.microsoft", "com.microsoft.nchwc")
_FLOAT = 1


class _Sizes:
    """What a stand-in may ask: dims of constants, and a place for constants and inputs it needs."""

    def __init__(self, graph: Any) -> None:
        self.graph = graph
        self._dims = {t.name: tuple(t.dims) for t in graph.initializer}
        self._count = 0

    def dims(self, name: str) -> tuple[int, ...]:
        """Dims of a constant; () for what is none."""
        return self._dims.get(name, ())

    def name(self) -> str:
        """A name nothing else has."""
        self._count += 1
        return f"\0stand-in {self._count}"

    def input(self, dims: Sequence[int]) -> str:
        """A made-up float input of that shape."""
        from onnx import helper

        made = self.name()
        self.graph.input.append(helper.make_tensor_value_info(made, _FLOAT, list(dims)))
        return made

    def constant(self, values: Sequence[int]) -> str:
        """A vector of int64."""
        from onnx import TensorProto, helper

        made = self.name()
        self.graph.initializer.append(
            helper.make_tensor(made, TensorProto.INT64, [len(values)], list(values))
        )
        return made


StandIn = Callable[[Any, _Sizes], list[Any]]


def stand_ins(model: Any) -> Any:
    """A copy whose main graph onnx can follow, or the model itself when it needs none."""
    if not any(node.domain in DOMAINS for node in model.graph.node):
        return model
    copy = type(model)()
    copy.CopyFrom(model)
    sizes = _Sizes(copy.graph)
    nodes = list(model.graph.node)
    del copy.graph.node[:]
    for node in nodes:
        found = _TABLE.get((node.domain, node.op_type))
        try:
            made = found(node, sizes) if found is not None else [node]
        except (IndexError, ValueError, ZeroDivisionError):  # fewer operands than the definition has
            made = [node]
        copy.graph.node.extend(made)
    return copy


def _node(op: str, inputs: Sequence[str], outputs: Sequence[str], **attributes: Any) -> Any:
    from onnx import helper

    return helper.make_node(op, inputs, outputs, **attributes)


def _attributes(node: Any, *names: str) -> Mapping[str, Any]:
    from onnx import helper

    return {a.name: helper.get_attribute_value(a) for a in node.attribute if not names or a.name in names}


def _as(op: str, inputs: Sequence[int], *attributes: str) -> StandIn:
    """The standard operator on some of the inputs, with those attributes."""

    def make(node: Any, sizes: _Sizes) -> list[Any]:
        kept = _attributes(node, *attributes) if attributes else {}
        return [_node(op, [node.input[i] for i in inputs], node.output[:1], **kept)]

    return make


def _same(*also: int) -> StandIn:
    """Results of the shape of the first input: the first one, and those of the given places."""

    def make(node: Any, sizes: _Sizes) -> list[Any]:
        wanted = [0, *(i for i in also if i < len(node.output) and node.output[i])]
        return [_node("Identity", [node.input[0]], [node.output[i]]) for i in wanted]

    return make


def _product(node: Any, sizes: _Sizes) -> list[Any]:
    """A·B with either transposed in its last two dims."""
    flags = _attributes(node, "transA", "transB", "transBatchA", "transBatchB")
    if flags.get("transBatchA") or flags.get("transBatchB"):
        return [node]
    a, b = "ji" if flags.get("transA") else "ij", "kj" if flags.get("transB") else "jk"
    return [_node("Einsum", list(node.input[:2]), node.output[:1], equation=f"...{a},...{b}->...ik")]


def _integer_product(node: Any, sizes: _Sizes) -> list[Any]:
    middle = sizes.name()
    return [
        _node("MatMulInteger", list(node.input[:2]), [middle]),
        _node("Cast", [middle], node.output[:1], to=_FLOAT),
    ]


def _wide(node: Any, width: int, sizes: _Sizes) -> list[Any]:
    """A float result like the first input, but `width` long in its last dim."""
    middle = sizes.name()
    return [
        _node("Cast", [node.input[0]], [middle], to=_FLOAT),
        _node("Einsum", [middle, sizes.input([width])], node.output[:1], equation="...i,j->...j"),
    ]


def _by_attribute(node: Any, sizes: _Sizes) -> list[Any]:
    return _wide(node, int(_attributes(node, "N")["N"]) if _attributes(node, "N") else 0, sizes)


def _merged_attention(node: Any, sizes: _Sizes) -> list[Any]:
    weight = sizes.dims(node.input[1])
    hidden = _attributes(node, "qkv_hidden_sizes").get("qkv_hidden_sizes")
    width = int(hidden[2]) if hidden else weight[-1] // 3
    return _wide(node, width, sizes)


def _attention(node: Any, sizes: _Sizes) -> list[Any]:
    if len(node.input) < 3 or not node.input[1] or not node.input[2]:
        return [node]  # packed
    return [_node("Einsum", [node.input[0], node.input[2]], node.output[:1], equation="bsh,bkv->bsv")]


def _grouped_attention(node: Any, sizes: _Sizes) -> list[Any]:
    if len(node.input) < 3 or not node.input[1]:
        return [node]
    return [_node("Identity", [node.input[0]], node.output[:1])]


def _concat(node: Any, sizes: _Sizes) -> list[Any]:
    """QLinearConcat: scale and zero point of the result, then three operands for each input."""
    return [_node("Concat", list(node.input[2::3]), node.output[:1], **_attributes(node, "axis"))]


def _embedding(node: Any, sizes: _Sizes) -> list[Any]:
    return [_node("Gather", [node.input[2], node.input[0]], node.output[:1], axis=0)]


def _channels_first(op: str, inputs: Sequence[int], *attributes: str) -> StandIn:
    """As `_as`, for operators that may have their channels last: those are left as they are."""

    def make(node: Any, sizes: _Sizes) -> list[Any]:
        if _attributes(node, "channels_last").get("channels_last"):
            return [node]
        return _as(op, inputs, *attributes)(node, sizes)

    return make


def _reordered(node: Any, sizes: _Sizes) -> list[Any]:
    """Blocks of channels back to plain ones: the padding that filled the last block is cut off."""
    channels = int(_attributes(node, "channels").get("channels", 0))
    if not channels or _attributes(node, "channels_last").get("channels_last"):
        return [node]
    ends = [sizes.constant([0]), sizes.constant([channels]), sizes.constant([1])]
    return [_node("Slice", [node.input[0], *ends], node.output[:1])]


_CONV = ("auto_pad", "dilations", "group", "kernel_shape", "pads", "strides")
_POOL = ("auto_pad", "ceil_mode", "count_include_pad", "dilations", "kernel_shape", "pads", "strides")
_SAME = (
    "Gelu", "FastGelu", "BiasGelu", "QuickGelu", "BiasAdd", "BiasSoftmax", "BiasDropout", "ScaledSiLU",
    "GroupNorm", "RotaryEmbedding", "QLinearSigmoid", "QLinearLeakyRelu", "QLinearSoftmax",
    "SimplifiedLayerNormalization",
)  # fmt: skip

_TABLE: dict[tuple[str, str], StandIn] = {
    **{("com.microsoft", op): _same() for op in _SAME},
    **{("com.microsoft", op): _same(3)
       for op in ("SkipLayerNormalization", "SkipSimplifiedLayerNormalization")},
    ("com.microsoft", "FusedConv"): _as("Conv", (0, 1), *_CONV),
    ("com.microsoft", "QLinearConv"): _channels_first("QLinearConv", range(8), *_CONV),
    ("com.microsoft", "FusedGemm"): _as("Gemm", (0, 1), "transA", "transB"),
    ("com.microsoft", "GemmFastGelu"): _as("MatMul", (0, 1)),
    **{("com.microsoft", op): _product
       for op in ("FusedMatMul", "FusedMatMulActivation", "TransposeMatMul")},
    ("com.microsoft", "MatMulIntegerToFloat"): _integer_product,
    ("com.microsoft", "DynamicQuantizeMatMul"): _integer_product,
    ("com.microsoft", "MatMulNBits"): _by_attribute,
    ("com.microsoft", "MatMulBnb4"): _by_attribute,
    ("com.microsoft", "Attention"): _merged_attention,
    ("com.microsoft", "QAttention"): _merged_attention,
    ("com.microsoft", "MultiHeadAttention"): _attention,
    ("com.microsoft", "GroupQueryAttention"): _grouped_attention,
    ("com.microsoft", "EmbedLayerNormalization"): _embedding,
    **{("com.microsoft", f"QLinear{op}"): _as(op, (0, 3)) for op in ("Add", "Mul")},
    ("com.microsoft", "QLinearConcat"): _concat,
    ("com.microsoft", "QLinearAveragePool"): _channels_first("AveragePool", (0,), *_POOL),
    ("com.microsoft", "QLinearGlobalAveragePool"): _channels_first("GlobalAveragePool", (0,)),
    ("com.microsoft", "QuantizeLinear"): _as("QuantizeLinear", (0, 1, 2), "axis"),
    ("com.microsoft", "DequantizeLinear"): _as("DequantizeLinear", (0, 1, 2), "axis"),
    ("com.microsoft.nchwc", "ReorderInput"): _channels_first("Identity", (0,)),
    ("com.microsoft.nchwc", "ReorderOutput"): _reordered,
    ("com.microsoft.nchwc", "Conv"): _as("Conv", (0, 1), *_CONV),
    ("com.microsoft.nchwc", "MaxPool"): _as("MaxPool", (0,), *(a for a in _POOL if a != "count_include_pad")),
    ("com.microsoft.nchwc", "AveragePool"): _as("AveragePool", (0,), *_POOL),
    **{("com.microsoft.nchwc", op): _as(op, (0,)) for op in ("GlobalMaxPool", "GlobalAveragePool")},
}  # fmt: skip
