"""Tensors that only torch unpacks: parameters of a TorchScript archive, and weights pickled into an archive.

Pickles are read with `weights_only`: torch then builds tensors and plain containers, and calls nothing else.
"""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from studio.graph.dtypes import numpy_dtype
from studio.graph.onnx_tensors import short
from studio.graph.torch_archive import MAX_MEMBER, read_member
from studio.graph.torch_types import dtype_of

Array = npt.NDArray[Any]
_REPEATED = 1 << 28
"""Bytes up to which a tensor may be larger than its storage: a stride of 0 repeats without limit."""


def from_module(path: Path, name: str) -> Array:
    """A parameter of a TorchScript archive by its path in the module tree."""
    from studio.graph.torchscript_module import load_module

    found = load_module(path)
    for part in name.split("."):
        found = getattr(found, part)
    return plain(found)


def from_pickle(path: Path, place: str) -> Array:
    """A tensor of a dict that torch.save wrote into a member of an archive; `place` is `member#key`.

    Raises ValueError when torch refuses the pickle or the key is not in it.
    """
    import torch

    member, _, key = place.partition("#")
    limit = max(MAX_MEMBER, path.stat().st_size)  # a stored member is no longer than its archive
    with zipfile.ZipFile(path) as archive:
        raw = read_member(archive, member, limit=limit)
    try:
        found = torch.load(io.BytesIO(raw), map_location="cpu", weights_only=True)
    except Exception as error:  # UnpicklingError, RuntimeError, EOFError, …
        reason = short(str(error).strip().partition("\n")[0], 160)
        raise ValueError(f"torch does not load its pickle: {reason}") from None
    tensor = found.get(key) if isinstance(found, dict) else None
    if not isinstance(tensor, torch.Tensor):
        raise ValueError(f"{short(member)} holds no tensor of that name")
    return plain(tensor)


def plain(tensor: Any) -> Array:
    """A torch tensor as numpy; quantised ones as the integers they store."""
    stored = tensor.untyped_storage().nbytes()
    if tensor.numel() * tensor.element_size() > max(stored, _REPEATED):
        raise ValueError("it repeats its elements more often than can be shown")
    found = tensor.detach().contiguous()
    if found.is_quantized:
        found = found.int_repr()
    try:
        result: Array = found.numpy()
        return result
    except TypeError:  # bfloat16 and float8: numpy has no such type, ml_dtypes does
        import torch

        bits = found.view(torch.uint16 if found.element_size() == 2 else torch.uint8).numpy()
        small: Array = bits.view(numpy_dtype(dtype_of(found.dtype)))
        return small


def strided(stored: Array, place: str, shape: tuple[int, ...]) -> Array:
    """A view of a storage: `place` is `offset:stride,stride,…` in elements, as torch counts them.

    Raises ValueError when it reaches outside the storage.
    """
    offset_text, _, strides_text = place.partition(":")
    offset, strides = int(offset_text), [int(s) for s in strides_text.split(",") if s]
    if len(strides) != len(shape) or offset < 0 or min(strides, default=0) < 0:
        raise ValueError("its strides are damaged")
    count = 1
    for dim in shape:
        count *= dim
    if count == 0:
        return np.zeros(shape, stored.dtype)
    last = offset + sum((dim - 1) * stride for dim, stride in zip(shape, strides))
    if last >= stored.size:
        raise ValueError("its strides reach outside its storage")
    if count * stored.itemsize > max(stored.nbytes, _REPEATED):
        raise ValueError("it repeats its elements more often than can be shown")
    steps = tuple(stride * stored.itemsize for stride in strides)
    return np.lib.stride_tricks.as_strided(stored[offset:], shape, steps, writeable=False)
