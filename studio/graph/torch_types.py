"""torch's names of data types, and the values of small torch tensors."""

from __future__ import annotations

from typing import Any

MODULE_DATA = "torch-module:"
"""DataLocation encoding of a TorchScript parameter; its path in the module follows."""

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
