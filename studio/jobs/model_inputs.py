"""The inputs on which a job runs a file: the project's own data, an `.npz` or pictures, else made up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from studio.backends.backend import InputInfo
from studio.devices.run_inputs import make_inputs
from studio.errors import InputError, StudioError
from studio.recipes.data import Samples, open_samples
from studio.recipes.recipe import Preprocessing
from studio.recipes.source import DataSet
from studio.records import Record


class InputData(Record):
    """Which data: `data` with `preprocessing`, relative to `folder`; None = made up, open dims by `dims`."""

    data: DataSet | None = None
    preprocessing: Preprocessing = Preprocessing()
    folder: str = ""
    dims: dict[str, int] = {}


def samples_for(inputs: Sequence[InputInfo], chosen: InputData, limit: int) -> Samples:
    """At most `limit` samples. Made-up ones differ by their seed only where the model takes floats.

    Raises InputError when the data does not fit the model, or a size cannot be assumed.
    """
    declared = [_as_float(info) for info in inputs]
    if chosen.data is not None:
        return open_samples(chosen.data, Path(chosen.folder), chosen.preprocessing, declared, limit)
    first = make_inputs(declared, chosen.dims)
    fixed = [_with_shape(info, first.arrays[info.name].shape) for info in declared]

    def read(i: int) -> Mapping[str, object]:
        return make_inputs(fixed, {}, seed=i).arrays

    return Samples(
        count=limit if any(info.dtype.startswith("float") for info in declared) else 1,
        read=read,  # type: ignore[arg-type]
        inputs=fixed,
        origin=first.description,
        is_real=False,
    )


def assumed_sizes(inputs: Sequence[InputInfo], chosen: InputData) -> tuple[str, ...]:
    """A note when open sizes had to be taken as 1: figures then tell little of the real sizes."""
    if chosen.data is not None:
        return ()
    names = make_inputs([_as_float(info) for info in inputs], chosen.dims).open_dims
    if not names:
        return ()
    return (
        f"Open sizes were taken as 1: {', '.join(names)}. "
        "Name real data, or give the sizes, for true figures.",
    )


def made_up_refused(samples: Samples, error: StudioError) -> StudioError:
    """The error itself on real inputs; on made-up ones an InputError: such a model needs real ones."""
    if samples.is_real:
        return error
    return InputError(
        f"The model does not run on inputs {samples.origin}.",
        hint="Give real inputs as an .npz (--data), or sizes for open dimensions (--dim NAME=N). "
        f"The runtime said: {f'{error.message} {error.hint}'[:300]}",
    )


def _as_float(info: InputInfo) -> InputInfo:
    """A quantised input is fed in float: the runtime's adapter converts it by scale and zero point."""
    from msgspec.structs import replace

    return replace(info, dtype="float32") if info.scale is not None else info


def _with_shape(info: InputInfo, shape: tuple[int, ...]) -> InputInfo:
    from msgspec.structs import replace

    return replace(info, shape=shape)
