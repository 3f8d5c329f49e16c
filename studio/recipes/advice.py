"""What a choice in a recipe means for each target, in a sentence.

Every sentence states what a tool does, with where that is known from; figures are of our own trials
(2026-11, x86-64, small networks) and say so. A prediction of single nodes is `studio.support`'s.
"""

from __future__ import annotations

from studio.recipes.recipe import ConvertStep, ExportStep, QuantizeScheme, QuantizeStep
from studio.records import Choice, Record
from studio.targets import TARGETS, Target


class Level(Choice):
    """How a choice suits a target."""

    GOOD = "good"
    INFO = "info"
    WARN = "warn"
    BAD = "bad"


class Advice(Record):
    """A sentence about one target. `source` says where it is known from."""

    target_id: str
    level: Level
    text: str
    source: str = ""


# Lowest ONNX Runtime that knows an opset: onnxruntime.ai, "ONNX Runtime compatibility"
_RUNTIME_OF_OPSET = ((23, "1.22"), (22, "1.20"), (21, "1.18"), (20, "1.17"), (19, "1.15"), (18, "1.14"),
                     (17, "1.12"), (16, "1.11"), (15, "1.9"), (14, "1.8"), (13, "1.7"))  # fmt: skip
_STATIC_SHAPES = ("ort/nnapi", "ort/qnn")
_FROM_TORCH = ("litert", "executorch")
_TRIALS = "our trials, 2026-11, x86-64"


def export_advice(
    step: ExportStep, target_ids: tuple[str, ...], *, from_torch: bool = True
) -> tuple[Advice, ...]:
    """What this export means for each target. `from_torch`: the project has a torch source."""
    return tuple(_of_export(step, TARGETS[target_id], from_torch) for target_id in target_ids)


def quantize_advice(
    step: QuantizeStep | None,
    target_ids: tuple[str, ...],
    *,
    has_convolutions: bool | None = None,
    from_torch: bool = True,
) -> tuple[Advice, ...]:
    """What this quantization (None = float) means for each target.

    `has_convolutions`: whether the model has any; None = not known. `from_torch`: as for the export.
    """
    return tuple(_of_quantize(step, TARGETS[t], has_convolutions, from_torch) for t in target_ids)


def convert_advice(steps: tuple[ConvertStep, ...], target_ids: tuple[str, ...]) -> tuple[Advice, ...]:
    """Which of the files each target loads."""
    return tuple(_of_convert(steps, TARGETS[target_id]) for target_id in target_ids)


def _of_export(step: ExportStep, target: Target, from_torch: bool) -> Advice:
    def say(level: Level, text: str, source: str = "") -> Advice:
        return Advice(target_id=target.id, level=level, text=text, source=source)

    if target.runtime in _FROM_TORCH and from_torch:
        return say(Level.INFO, "Made from the torch source itself; this export does not touch it.")
    if target.runtime != "ort":
        return say(Level.INFO, "Not made from this file by the studio.")
    if step.dynamic_batch and target.id in _STATIC_SHAPES:
        return say(
            Level.BAD,
            "Refuses graphs with free dimensions: nothing of the model would run there.",
            "onnxruntime NNAPI and QNN providers; onnxruntime issue 22439",
        )
    if target.id == "ort/qnn" and step.opset >= 23:
        return say(
            Level.WARN,
            "Newer fused operators (Attention) are not taken yet; opset 18 is safer.",
            "onnxruntime-qnn issue 646",
        )
    runtime = next((version for opset, version in _RUNTIME_OF_OPSET if step.opset >= opset), "1.0")
    text = f"Opset {step.opset} needs ONNX Runtime {runtime} or newer in the app."
    return say(Level.GOOD, text, "onnxruntime.ai, compatibility")


def _of_quantize(
    step: QuantizeStep | None, target: Target, has_convolutions: bool | None, from_torch: bool
) -> Advice:
    def say(level: Level, text: str, source: str = "") -> Advice:
        return Advice(target_id=target.id, level=level, text=text, source=source)

    if target.runtime in _FROM_TORCH and from_torch:
        return say(Level.INFO, "Its file stays in float: it is made from the torch source.")
    if target.runtime != "ort":
        return say(Level.INFO, "Not made from this file by the studio.")
    if step is None:
        return say(Level.INFO, "Stays in float: full size, full accuracy.")
    if step.scheme == QuantizeScheme.STATIC:
        if target.id == "ort/cpu":
            return say(
                Level.GOOD, "A quarter of the weights; took 0.3 to 0.5 of the time in our trials.", _TRIALS
            )
        return say(
            Level.GOOD,
            "Takes quantized groups of nodes as its own 8-bit operators.",
            "onnxruntime docs, execution providers: QDQ node units",
        )
    if step.scheme == QuantizeScheme.DYNAMIC:
        if target.id == "ort/qnn":
            return say(
                Level.BAD,
                "Accepts dynamically quantized graphs and then fails at the first run.",
                "onnxruntime issue 25334",
            )
        if target.id != "ort/cpu":
            return say(
                Level.WARN,
                "Has no dynamic quantization: those nodes run on the CPU.",
                "onnxruntime docs: supported operators",
            )
        if has_convolutions:
            return say(
                Level.WARN, "A quarter of the weights; convolutions took 5 to 12 times as long.", _TRIALS
            )
        return say(Level.GOOD, "A quarter of the weights; took 0.4 of the time on a transformer.", _TRIALS)
    if target.id == "ort/qnn":
        return say(
            Level.GOOD,
            "Half the size; the NPU computes in float16.",
            "Qualcomm AI Runtime docs: HTP precision",
        )
    if target.id == "ort/cpu":
        return say(Level.INFO, "Half the size; no faster on most CPUs (1.0 to 1.3 of the time).", _TRIALS)
    return say(
        Level.WARN,
        "Takes float32 and int8: float16 nodes run on the CPU.",
        "onnxruntime NNAPI provider: input type checks",
    )


def _of_convert(steps: tuple[ConvertStep, ...], target: Target) -> Advice:
    def say(level: Level, text: str, source: str = "") -> Advice:
        return Advice(target_id=target.id, level=level, text=text, source=source)

    step = next((s for s in steps if s.format in target.formats), None)
    if step is None and target.runtime == "ort":
        return say(Level.INFO, "Loads the .onnx file as it is.")
    if step is None and target.formats and target.can_convert:
        return say(Level.WARN, f"Loads .{' or .'.join(target.formats)}, which this recipe does not make.")
    if step is None:
        return say(Level.INFO, "Predicted only: the studio makes no file for it.")
    if step.format == "ort":
        level = step.optimization
        if level == "auto":
            level = "extended" if step.target in ("", "ort/cpu") else "basic"
        if target.is_accelerator and level in ("extended", "all"):
            return say(
                Level.WARN,
                f"Finds fused nodes of level “{level}” that it cannot take; level “basic” keeps them apart.",
                "onnxruntime issue 9285",
            )
        if level == "all":
            return say(Level.WARN, "Level “all” ties the file to processors like this computer's.")
        if target.id == "ort/cpu" and level in ("basic", "disabled"):
            return say(
                Level.WARN,
                f"A .ort file is not optimized again when loaded: “{level}” took up to 5 times as long.",
                _TRIALS,
            )
        return say(Level.GOOD, f"Loads the .ort file (level “{level}”).")
    if step.format == "pte":
        lowered = step.target or "executorch/xnnpack"
        if lowered != target.id:
            return say(Level.WARN, f"The .pte file is lowered for {TARGETS[lowered].title} instead.")
        if target.id == "executorch/vulkan":
            return say(Level.INFO, "Lowered here; runs on a phone only, so it is not verified here.")
        return say(Level.GOOD, "Loads the .pte file.")
    return say(Level.GOOD, f"Loads the .{step.format} file.")
