"""Symbolic dims become numbers, one model per bucket."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import msgspec

from studio.errors import InputError, UnsupportedError
from studio.graph.onnx_inference import inferred
from studio.recipes.fixes.chains import fold_constants
from studio.recipes.fixes.fix import FixOptions, Rewrite
from studio.recipes.fixes.made_inputs import FILLS, Kind, feeds_for, has_whole_inputs, lone_dims, open_dims
from studio.recipes.fixes.modes import in_mode, mode_text, modes
from studio.recipes.fixes.onnx_edit import OnnxEdit
from studio.recipes.fixes.protos import nothing_to_do
from studio.recipes.fixes.runner import Runner

_MOST_BUCKETS = 16
# (side of a picture, length of a sequence or signal), tried in this order; 48 is the height of text lines
_USUAL = ((224, 128), (640, 16000), (256, 512), (64, 64), (48, 32), (32, 16), (16, 8), (8, 4), (2, 2), (1, 1))


def freeze(edit: OnnxEdit, options: FixOptions) -> Rewrite:
    """One model per combination of the given values. Raises InputError for unknown or missing dims."""
    dims = open_dims(edit.model)
    if not dims:
        raise nothing_to_do("every dim of every input is a number already")
    notes: tuple[str, ...] = ()
    if not options.dims:
        guessed = guess(edit.model)
        options = msgspec.structs.replace(options, dims={name: (size,) for name, size in guessed.items()})
        notes = (f"Sizes chosen here: {sizes_text(guessed)}. Give your own where the app feeds others.",)
    unknown = sorted(set(options.dims) - set(dims))
    missing = sorted(set(dims) - set(options.dims))
    if unknown or missing:
        wrong = f"there is no symbolic dim {unknown[0]}" if unknown else f"{missing[0]} has no value"
        raise InputError(
            f"Cannot freeze: {wrong}.", hint=f"Give a value for each of: {', '.join(dims)} (name=value)."
        )
    for name, values in options.dims.items():
        if not values or min(values) < 1:
            raise InputError(f"Dim {name} needs positive values.", hint=f"For example {name}=1.")
    names = list(dims)
    combinations = list(itertools.product(*(options.dims[n] for n in names)))
    if len(combinations) > _MOST_BUCKETS:
        raise InputError(
            f"{len(combinations)} models would be made.", hint=f"Give at most {_MOST_BUCKETS} combinations."
        )
    models = []
    assignments = []
    for values in combinations:
        chosen = dict(zip(names, values))
        suffix = "".join(f"-{_plain(k)}{v}" for k, v in chosen.items() if len(options.dims[k]) > 1)
        models.append((suffix, _frozen(edit, dims, chosen)))
        assignments.append(chosen)
        notes += _left_out(edit, chosen)
    changed = tuple(f"{n}={','.join(map(str, options.dims[n]))}" for n in names)
    return Rewrite(models=models, changed=changed, tolerance=1e-5, dims=tuple(assignments), notes=notes)


def guess(model: Any) -> dict[str, int]:
    """A size per open dim with which the model runs: one sample of a usual picture, sequence or signal.

    In every mode that runs with any of them. Raises UnsupportedError when there is no such size.
    """
    run = Runner(model).open()
    refusal: UnsupportedError | None = None
    fills = FILLS if has_whole_inputs(model) else FILLS[:1]
    tried = modes(model)
    ran: list[tuple[dict[str, int], set[int]]] = []  # sizes → the modes that run with them
    for fill, has_states, (side, length) in itertools.product(fills, (False, True), _USUAL):
        sizes = usual_sizes(model, side, length, has_states=has_states)
        accepted: set[int] = set()
        for number, mode in enumerate(tried):
            try:
                run(in_mode(feeds_for(model, "", sizes, kinds=(Kind.NORMAL,), fill=fill)[0], mode))
                accepted.add(number)
            except UnsupportedError as error:
                refusal = refusal or error
        if len(accepted) == len(tried):
            return sizes
        if accepted:
            ran.append((sizes, accepted))
    possible = {number for _, accepted in ran for number in accepted}
    if not possible and refusal is not None:
        raise refusal
    for sizes, accepted in ran:
        if accepted == possible:
            return sizes
    shown = [
        f"{mode_text(tried[n])}: {sizes_text(next(sizes for sizes, accepted in ran if n in accepted))}"
        for n in sorted(possible)
    ]
    raise UnsupportedError(
        f"No size tried fits every branch of the model ({'; '.join(shown)}).",
        hint="Give the sizes that the app feeds with --dim NAME=N.",
    )


def sizes_text(sizes: Mapping[str, int]) -> str:
    """Sizes in a message: `N=1, L=128`."""
    return ", ".join(f"{name}={size}" for name, size in sizes.items())


def _left_out(edit: OnnxEdit, sizes: Mapping[str, int]) -> tuple[str, ...]:
    """A sentence when the model does not run in some modes with sizes that it runs with in others."""
    tried = modes(edit.model)
    if len(tried) < 2:
        return ()
    run = Runner(edit.model).open()
    feeds = feeds_for(edit.model, "", sizes, kinds=(Kind.NORMAL,))[0]
    failing = []
    for mode in tried:
        try:
            run(in_mode(feeds, mode))
        except UnsupportedError:
            failing.append(mode_text(mode))
    if not failing or len(failing) == len(tried):
        return ()
    return (f"With {sizes_text(sizes)} the model does not run for {' and '.join(failing)}: nothing is proven "
            "of that branch.",)  # fmt: skip


def usual_sizes(model: Any, side: int, length: int, *, has_states: bool) -> dict[str, int]:
    """Size per open dim: 1 for a first axis, else `side` in pictures and `length` in anything else.

    `has_states`: an input's only open dim is a batch too, as in a state of [2, N, 128].
    """
    sizes: dict[str, int] = lone_dims(model, 1) if has_states else {}
    for name, places in open_dims(model).items():
        for position, axis in places:
            rank = len(model.graph.input[position].type.tensor_type.shape.dim)
            is_batch = axis == 0 and rank > 1
            size = 1 if is_batch else (side if rank >= 4 else length)
            sizes[name] = min(size, sizes.get(name, size))
    return sizes


def _frozen(edit: OnnxEdit, dims: dict[str, list[tuple[int, int]]], chosen: dict[str, int]) -> Any:
    model = type(edit.model)()
    model.CopyFrom(edit.model)
    for name, places in dims.items():
        for position, axis in places:
            dim = model.graph.input[position].type.tensor_type.shape.dim[axis]
            dim.Clear()
            dim.dim_value = chosen[name]
    for value in [*model.graph.output, *model.graph.value_info]:  # inference writes the real ones;
        for dim in value.type.tensor_type.shape.dim:  # other names would contradict
            if not (dim.HasField("dim_value") and dim.dim_value > 0):
                name = dim.dim_param
                dim.Clear()
                if name in chosen:
                    dim.dim_value = chosen[name]
    frozen = OnnxEdit(model)
    fold_constants(frozen)
    _write_shapes(frozen)
    return frozen.model


def _write_shapes(edit: OnnxEdit) -> None:
    edit.model.CopyFrom(inferred(edit.model))


def _plain(name: str) -> str:
    return "".join(c if c.isalnum() else "_" for c in name)
