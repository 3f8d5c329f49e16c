"""The inputs of a run: real samples from an `.npz`, or made from the declared shapes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from studio.array_file import load_arrays
from studio.devices.device import RunRequest
from studio.errors import InputError

DEFAULT_DIM = 1
_MAX_BYTES = 2 << 30
Array = npt.NDArray[Any]


class DeclaredInput(Protocol):
    """What a model says of an input: a backend's `InputInfo`, or a graph's tensor."""

    @property
    def name(self) -> str: ...
    @property
    def dtype(self) -> str: ...
    @property
    def shape(self) -> tuple[int | str | None, ...]: ...
    @property
    def scale(self) -> float | None: ...


@dataclass(frozen=True, slots=True)
class RunInputs:
    """Inputs by name, [N, …] with N = `count` when `is_stacked`, else one sample; and where from.

    `open_dims`: dimensions that had to be assumed, as the user would name them. `unbatched`: inputs whose
    stacked axis is no axis of the model's.
    """

    arrays: dict[str, Array]
    count: int
    is_stacked: bool
    description: str
    is_made_up: bool = False
    open_dims: tuple[str, ...] = ()
    unbatched: frozenset[str] = frozenset()

    def sample(self, index: int) -> dict[str, Array]:
        """The feeds of one inference; a sample keeps a leading batch axis of 1 where the model has one."""
        if not self.is_stacked:
            return self.arrays
        return {
            name: array[index].copy()  # `ascontiguousarray` would give a scalar an axis
            if name in self.unbatched
            else np.ascontiguousarray(array[index : index + 1])
            for name, array in self.arrays.items()
        }


def read_inputs(request: RunRequest, declared: Sequence[DeclaredInput]) -> RunInputs:
    """The inputs that the request names, checked against what the model declares.

    Raises InputError when the file is missing, damaged, or does not fit the model.
    """
    if not request.inputs_path:
        return make_inputs(declared, request.dims)
    path = Path(request.inputs_path)
    paired = _pair(load_arrays(path), declared, path)
    if request.input_samples > 1:
        short = [name for name, a in paired.items() if not a.ndim or len(a) < request.input_samples]
        if short:
            raise InputError(
                f"{path}: {short[0]} has fewer than {request.input_samples} samples.",
                hint="Give as many samples for every input.",
            )
        return RunInputs(
            paired,
            request.input_samples,
            True,
            f"{request.input_samples} samples of {path.name}",
            unbatched=frozenset(i.name for i in declared if _is_unbatched(i, paired[i.name])),
        )
    return RunInputs(paired, 1, False, f"one sample of {path.name}")


def make_inputs(declared: Sequence[DeclaredInput], dims: dict[str, int], *, seed: int = 0) -> RunInputs:
    """One sample from the declared shapes: floats uniform in 0..1 from `seed`, integers and booleans 1.

    Symbolic dims are taken from `dims`, else `DEFAULT_DIM`; the description says which. Ones
    and not random integers, since they are usually indices or masks: 1 is in every vocabulary.
    """
    names = {dim for info in declared for dim in _dim_names(info) if dim is not None}
    unknown = sorted(set(dims) - names)
    if unknown:
        raise InputError(
            f"No input has a dimension called {unknown[0]}.",
            hint=f"Its open dimensions: {', '.join(sorted(names)) or 'none'}.",
        )
    random = np.random.default_rng(seed)
    arrays: dict[str, Array] = {}
    assumed: dict[str, None] = {}
    for info in declared:
        shape = []
        for dim, name in zip(info.shape, _dim_names(info)):
            if name is None:
                shape.append(int(dim or 0))
                continue
            if name not in dims:
                assumed[f"{name}={DEFAULT_DIM}"] = None
            shape.append(dims.get(name, DEFAULT_DIM))
        arrays[info.name] = _filled(info, tuple(shape), random)
    shapes = ", ".join(f"{n} {a.dtype.name}[{','.join(map(str, a.shape))}]" for n, a in arrays.items())
    note = f"; assumed {', '.join(assumed)}" if assumed else ""
    return RunInputs(
        arrays,
        count=1,
        is_stacked=False,
        description=f"made from the declared shapes: {shapes}{note}",
        is_made_up=True,
        open_dims=tuple(said.rpartition("=")[0] for said in assumed),
    )


def _is_unbatched(info: DeclaredInput, stacked: Array) -> bool:
    """Whether one sample of the stack has the model's rank already; without a dtype no shape is declared."""
    return bool(info.dtype) and len(info.shape) == stacked.ndim - 1


def _dim_names(info: DeclaredInput) -> list[str | None]:
    """Per axis: None when its size is known, else its name; without one it is `input:axis`."""
    names: list[str | None] = []
    for axis, dim in enumerate(info.shape):
        if isinstance(dim, int) and dim >= 0:
            names.append(None)
        else:
            has_name = isinstance(dim, str) and dim not in ("", "?")
            names.append(str(dim) if has_name else f"{info.name}:{axis}")
    return names


def _filled(info: DeclaredInput, shape: tuple[int, ...], random: np.random.Generator) -> Array:
    try:
        dtype = np.dtype(info.dtype)
    except TypeError:
        raise InputError(
            f"Input {info.name} is of type {info.dtype}, which cannot be made up.",
            hint="Give real inputs as an .npz.",
        ) from None
    if int(np.prod(shape, dtype=np.float64)) * dtype.itemsize > _MAX_BYTES:
        raise InputError(
            f"Input {info.name} with shape {list(shape)} would take more than 2 GiB.",
            hint="Give smaller values for its symbolic dimensions.",
        )
    if dtype.kind == "f" or (dtype.kind in "iu" and info.scale is not None):
        # the backend converts float to a quantised input by its scale and zero point
        return random.random(shape, dtype=np.float64).astype(dtype if dtype.kind == "f" else np.float32)
    return np.ones(shape, dtype)


def _pair(arrays: dict[str, Array], declared: Sequence[DeclaredInput], path: Path) -> dict[str, Array]:
    """By name, else by order when a converter renamed them all; a sole input also takes `inputs`."""
    wanted = [info.name for info in declared]
    given = {name: a for name, a in arrays.items() if name != "labels" or name in wanted}
    if len(declared) == 1 and wanted[0] not in given and "inputs" in given:
        given = {wanted[0]: given["inputs"]}
    elif len(given) == len(declared) and not set(given) & set(wanted):
        given = dict(zip(wanted, given.values()))
    missing = [name for name in wanted if name not in given]
    if missing:
        raise InputError(
            f"{path} has no array for the input {missing[0]}.", hint=f"It has: {', '.join(arrays) or 'none'}."
        )
    return {info.name: _typed(given[info.name], info) for info in declared}


def _typed(array: Array, info: DeclaredInput) -> Array:
    """Float inputs are cast to the model's float type; anything else must already fit."""
    try:
        wanted = np.dtype(info.dtype)
    except TypeError:
        return array
    if wanted.kind == "f" and array.dtype.kind in "fiu":
        return array.astype(wanted, copy=False)
    if wanted.kind in "iu" and array.dtype.kind in "iu" and info.scale is None:
        return array.astype(wanted, copy=False)
    return array
