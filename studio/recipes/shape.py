"""Recipes of the usual shape: export → quantize → convert … → verify …, as edits of plain data.

The wizard and `new` think in such recipes. Steps of another kind (fixes) and steps that a person
has put elsewhere are left where they are.
"""

from __future__ import annotations

from typing import TypeVar

from msgspec.structs import replace

from studio.recipes.recipe import SOURCE, ConvertStep, ExportStep, QuantizeStep, Recipe, Step, VerifyStep

S = TypeVar("S", ExportStep, QuantizeStep)

FROM_SOURCE = ("tflite", "pte")
"""Formats that are made from the torch source itself."""


def export_step(recipe: Recipe) -> ExportStep | None:
    """The recipe's export step, None when it has none."""
    return next((s for s in recipe.steps if isinstance(s, ExportStep)), None)


def quantize_step(recipe: Recipe) -> QuantizeStep | None:
    """The recipe's quantize step, None when the model stays in float."""
    return next((s for s in recipe.steps if isinstance(s, QuantizeStep)), None)


def convert_step(recipe: Recipe, format_: str) -> ConvertStep | None:
    """The step that makes this format, None when it is not made."""
    return next((s for s in recipe.steps if isinstance(s, ConvertStep) and s.format == format_), None)


def verify_step(recipe: Recipe, after: str) -> VerifyStep | None:
    """The step that verifies what `after` makes, None when there is none."""
    return next((s for s in recipe.steps if isinstance(s, VerifyStep) and s.after == after), None)


def final_steps(recipe: Recipe) -> tuple[Step, ...]:
    """The steps whose files are the recipe's results: nothing but a comparison works on them."""
    used = {s.after for s in recipe.steps if not isinstance(s, VerifyStep)}
    return tuple(s for s in recipe.steps if not isinstance(s, VerifyStep) and s.id not in used)


def with_export(recipe: Recipe, step: ExportStep) -> Recipe:
    """The recipe with this export step, in place of its own or at the beginning."""
    old = export_step(recipe)
    if old is not None:
        return _swapped(recipe, old, replace(step, id=old.id, after=old.after))
    steps = [
        replace(s, after=step.id) if s.after == SOURCE and not _is_from_source(s) else s for s in recipe.steps
    ]
    return Recipe(steps=(step, *steps))


def with_quantize(recipe: Recipe, step: QuantizeStep | None) -> Recipe:
    """The recipe with this quantize step, or without one: what followed it follows its input."""
    old = quantize_step(recipe)
    if step is None:
        return recipe if old is None else _without(recipe, old)
    if old is not None:
        return _swapped(recipe, old, replace(step, id=old.id, after=old.after))
    exported = export_step(recipe)
    after = exported.id if exported else SOURCE
    made = replace(step, id=_free_id(recipe, step.id), after=after)
    at = recipe.steps.index(exported) + 1 if exported else 0
    moved = tuple(
        replace(s, after=made.id)
        if isinstance(s, ConvertStep) and s.format == "ort" and s.after == after
        else s
        for s in recipe.steps[at:]
    )
    return Recipe(steps=(*recipe.steps[:at], made, *moved))


def with_convert(recipe: Recipe, format_: str, step: ConvertStep | None) -> Recipe:
    """The recipe with this conversion, or without it and its comparison."""
    old = convert_step(recipe, format_)
    if step is None:
        if old is None:
            return recipe
        check = verify_step(recipe, old.id)
        return _without(_without(recipe, check) if check else recipe, old)
    if old is not None:
        return _swapped(recipe, old, replace(step, id=old.id, after=old.after))
    last = quantize_step(recipe) or export_step(recipe)
    after = SOURCE if format_ in FROM_SOURCE or last is None else last.id
    made = replace(step, id=_free_id(recipe, step.id), after=after)
    return Recipe(steps=(*recipe.steps, made))


def with_verification(
    recipe: Recipe, *, samples: int, max_accuracy_loss: float | None, min_snr_db: float | None
) -> Recipe:
    """The recipe with every result verified by these settings, each right after its maker."""
    for made in final_steps(recipe):
        old = verify_step(recipe, made.id)
        new = VerifyStep(
            id=old.id if old else _free_id(recipe, f"verify-{made.id}"),
            after=made.id,
            samples=samples,
            max_accuracy_loss=max_accuracy_loss,
            min_snr_db=min_snr_db,
        )
        if old is not None:
            recipe = _swapped(recipe, old, new)
        else:
            at = next(i for i, s in enumerate(recipe.steps) if s.id == made.id) + 1
            recipe = Recipe(steps=(*recipe.steps[:at], new, *recipe.steps[at:]))
    return recipe


def _reads_onnx(step: Step) -> bool:
    return isinstance(step, ConvertStep) and step.format not in FROM_SOURCE


def _is_from_source(step: Step) -> bool:
    return isinstance(step, ConvertStep) and step.format in FROM_SOURCE


def _swapped(recipe: Recipe, old: Step, new: Step) -> Recipe:
    return Recipe(steps=tuple(new if s is old else s for s in recipe.steps))


def _without(recipe: Recipe, gone: Step) -> Recipe:
    return Recipe(
        steps=tuple(
            replace(s, after=gone.after) if s.after == gone.id else s for s in recipe.steps if s is not gone
        )
    )


def _free_id(recipe: Recipe, wanted: str) -> str:
    taken = {s.id for s in recipe.steps} | {SOURCE}
    name, number = wanted, 2
    while name in taken:
        name, number = f"{wanted}-{number}", number + 1
    return name
