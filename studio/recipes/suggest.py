"""Which choices suit a set of targets: the wizard's presets and the default of a new project."""

from __future__ import annotations

from msgspec.structs import replace

from studio.recipes.recipe import ConvertStep, ExportStep, QuantizeScheme, QuantizeStep
from studio.targets import TARGETS


def suggested_export(target_ids: tuple[str, ...]) -> ExportStep:
    """The export that all these targets take: opset 18, fixed batch."""
    return ExportStep(id="export")


def suggested_quantize(
    target_ids: tuple[str, ...], *, has_data: bool, has_convolutions: bool | None
) -> QuantizeStep | None:
    """int8 static where there is data; without data dynamic for a model without convolutions, else float."""
    runtimes = {TARGETS[t].runtime for t in target_ids}
    if "ort" not in runtimes:
        return None
    if has_data:
        return QuantizeStep(id="quantize", after="export")
    only_cpu = all(t == "ort/cpu" for t in target_ids if TARGETS[t].runtime == "ort")
    if has_convolutions is False and only_cpu:
        return QuantizeStep(id="quantize", after="export", scheme=QuantizeScheme.DYNAMIC)
    return None


def suggested_conversions(target_ids: tuple[str, ...], *, is_torch_source: bool) -> tuple[ConvertStep, ...]:
    """One file per runtime that the targets need and that can be made from the source."""
    found = []
    wanted = [TARGETS[t] for t in target_ids]
    if any(t.runtime == "ort" for t in wanted) or not is_torch_source:
        target = next((t.id for t in wanted if t.runtime == "ort" and t.is_accelerator), "ort/cpu")
        found.append(ConvertStep(id="ort", after="source", format="ort", target=target))
    if is_torch_source and any(t.runtime == "litert" for t in wanted):
        found.append(ConvertStep(id="tflite", after="source", format="tflite", target="litert/cpu"))
    if is_torch_source and any(t.runtime == "executorch" for t in wanted):
        is_portable = all(t.id == "executorch/portable" for t in wanted if t.runtime == "executorch")
        target = "executorch/portable" if is_portable else "executorch/xnnpack"
        found.append(ConvertStep(id="pte", after="source", format="pte", target=target))
    return tuple(found)


def same_choices(a: ExportStep | QuantizeStep, b: ExportStep | QuantizeStep) -> bool:
    """Whether two steps differ in nothing but their names."""
    return type(a) is type(b) and replace(a, id=b.id, after=b.after) == b
