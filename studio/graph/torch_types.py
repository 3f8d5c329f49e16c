"""torch's names of data types, and the values of small torch tensors."""

from __future__ import annotations

from typing import Any

MODULE_DATA = "torch-module:"
"""DataLocation encoding of a TorchScript parameter; its path in the module follows."""

PICKLE_DATA = "torch-pickle:"
"""DataLocation encoding of a tensor in a pickled dict; `member#key` follows."""

_BY_SCALAR_NAME = {
    "Float": "float32", "Double": "float64", "Half": "float16", "BFloat16": "bfloat16", "Long": "int64",
    "Int": "int32", "Short": "int16", "Char": "int8", "Byte": "uint8", "Bool": "bool",
    "QInt8": "int8", "QUInt8": "uint8", "QInt32": "int32",
    "ComplexFloat": "complex64", "ComplexDouble": "complex128",
}  # fmt: skip

_BY_TORCH_NAME = {
    "qint8": "int8", "quint8": "uint8", "qint32": "int32", "float": "float32", "double": "float64",
    "half": "float16", "long": "int64", "int": "int32", "short": "int16",
    "float8_e4m3fn": "float8_e4m3fn", "float8_e5m2": "float8_e5m2",
}  # fmt: skip

SCALAR_TYPES = {"int": "int64", "float": "float64", "bool": "bool", "str": "string", "number": "float64"}
"""TorchScript's types of plain values → dtype."""


def dtype_of(dtype: Any) -> str:
    """The studio's name of a torch dtype, or of a TorchScript scalar type's name; "" when there is none."""
    text = str(dtype).removeprefix("torch.")
    if text in _BY_SCALAR_NAME:
        return _BY_SCALAR_NAME[text]
    return _BY_TORCH_NAME.get(text, text)


_TO_BOOL = frozenset({
    "eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_not", "logical_xor", "isnan",
    "isinf", "isfinite", "any", "all", "isin",
})  # fmt: skip
_TO_INT64 = frozenset({"argmax", "argmin", "argsort", "searchsorted", "bucketize", "nonzero", "one_hot"})
_AS_FIRST = frozenset({
    "embedding", "index", "index_select", "gather", "scatter", "masked_fill", "where", "select", "slice",
    "reshape", "view", "expand", "repeat", "permute", "transpose", "take",
})  # fmt: skip
_UNSURE = frozenset({
    "div", "true_divide", "mean", "sum", "cumsum", "prod", "sqrt", "exp", "log",
    "abs", "sigmoid", "softmax", "tanh", "rsqrt", "pow",
})  # fmt: skip
"""Their result may have another type than their input, unless that is floating point already."""
_OTHER = frozenset({
    "to", "_to_copy", "type_as", "full", "zeros", "ones", "arange", "empty", "bincount", "view_as_real",
    "view_as_complex", "stft", "fft_rfft", "real", "imag", "quantize_per_tensor", "dequantize",
})  # fmt: skip


def result_dtype(op: str, inputs: list[str]) -> str:
    """The dtype of an operator's first result when its inputs tell it; "" when they do not.

    TorchScript keeps no dtypes. Only the plain case is answered: same-typed inputs give that type.
    """
    namespace, _, name = op.partition("::")
    name = name.rstrip("_")
    if namespace != "aten" or not inputs or not inputs[0]:
        return "bool" if namespace == "aten" and name in _TO_BOOL else ""
    if name in _TO_BOOL:
        return "bool"
    if name in _TO_INT64:
        return "int64"
    if name in _OTHER:
        return ""
    if name in _AS_FIRST:
        return inputs[0]
    kinds = {dtype for dtype in inputs if dtype}
    if len(kinds) != 1 or (name in _UNSURE and "float" not in inputs[0]):
        return ""
    return inputs[0]


def values_of(tensor: Any) -> list[Any] | None:
    """The flat values of a small torch tensor; None when they have no plain Python form."""
    try:
        flat = tensor.detach().reshape(-1)
        if flat.is_complex():
            return None
        found: list[Any] = flat.tolist()
    except (RuntimeError, TypeError, NotImplementedError):
        return None
    return found
