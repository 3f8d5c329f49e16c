"""What a stage and its step are called, in words, and how sizes and times are written."""

from __future__ import annotations

from studio.recipes.edit_records import CutOut, Edit, FreezeDim, RemoveNode, SetAttribute
from studio.recipes.recipe import (
    ConvertStep,
    EditStep,
    ExportStep,
    FixStep,
    QuantizeScheme,
    QuantizeStep,
    Step,
)
from studio.targets import TARGETS
from studio.ui.domain_texts import translate_sentence
from studio.ui.session import Session
from studio.ui.texts import QT_TRANSLATE_NOOP, fill, translate

TITLES = {
    "source": QT_TRANSLATE_NOOP("steps", "Source"),
    "export": QT_TRANSLATE_NOOP("steps", "Export"),
    "edit": QT_TRANSLATE_NOOP("steps", "Edit"),
    "fix": QT_TRANSLATE_NOOP("steps", "Fix"),
    "quantize": QT_TRANSLATE_NOOP("steps", "Quantize"),
    "convert": QT_TRANSLATE_NOOP("steps", "Convert"),
    "verify": QT_TRANSLATE_NOOP("steps", "Verify"),
    "deploy": QT_TRANSLATE_NOOP("steps", "Deploy"),
}
TAB_TITLES = {
    "source": QT_TRANSLATE_NOOP("steps", "Source"),
    "export": QT_TRANSLATE_NOOP("steps", "Exported"),
    "edit": QT_TRANSLATE_NOOP("steps", "Edited"),
    "fix": QT_TRANSLATE_NOOP("steps", "Fixed"),
    "quantize": QT_TRANSLATE_NOOP("steps", "Quantized"),
    "convert": QT_TRANSLATE_NOOP("steps", "Converted"),
}
_SCHEMES = {
    QuantizeScheme.STATIC: QT_TRANSLATE_NOOP("steps", "int8 static · {n} samples"),
    QuantizeScheme.DYNAMIC: QT_TRANSLATE_NOOP("steps", "int8 weights, dynamic"),
    QuantizeScheme.FLOAT16: QT_TRANSLATE_NOOP("steps", "float16"),
}


def step_title(kind: str, step: Step | None = None) -> str:
    """ "Export", "Convert .tflite", …"""
    title = translate("steps", TITLES.get(kind, kind))
    return f"{title} .{step.format}" if isinstance(step, ConvertStep) else title


def stage_text(session: Session, stage: str) -> str:
    """What a job does now, "Quantize: calibrating": a recipe puts the id of its step before it."""
    step_id, colon, doing = stage.partition(": ")
    made_by = session.stage(step_id) if colon else None
    if made_by is None or session.project is None:
        return translate_sentence(stage)
    step = next((s for s in session.project.recipe.steps if s.id == step_id), None)
    return f"{step_title(made_by.kind, step)}: {translate_sentence(doing)}"


def tab_title(kind: str, step: Step | None = None) -> str:
    """ "Exported", ".tflite", …"""
    if isinstance(step, ConvertStep):
        return f".{step.format}"
    return translate("steps", TAB_TITLES.get(kind, kind))


def step_note(step: Step) -> str:
    """The step's settings in a few words."""
    if isinstance(step, ExportStep):
        batch = translate("steps", "any batch") if step.dynamic_batch else translate("steps", "fixed batch")
        return f"ONNX opset {step.opset} · {batch}"
    if isinstance(step, QuantizeStep):
        text = fill(translate("steps", _SCHEMES[step.scheme]), n=step.samples)
        if step.scheme is QuantizeScheme.STATIC and step.per_channel:
            text += " · " + translate("steps", "per channel")
        return text
    if isinstance(step, ConvertStep):
        target = TARGETS.get(step.target)
        return fill(translate("steps", "for {target}"), target=target.title) if target else ""
    if isinstance(step, EditStep):
        more = f" · +{len(step.edits) - 1}" if len(step.edits) > 1 else ""
        return edit_text(step.edits[0]) + more if step.edits else ""
    if isinstance(step, FixStep):
        from studio.recipes.fixes import FIXES

        fix = FIXES.get(step.fix)
        return translate_sentence(fix.title) if fix else step.fix
    if step.max_accuracy_loss is not None:
        points = f"{step.max_accuracy_loss * 100:g}"
        if points == "1":
            return translate("steps", "accuracy loss ≤ 1 point")
        return fill(translate("steps", "accuracy loss ≤ {points} points"), points=points)
    return fill(translate("steps", "{n} inputs"), n=step.samples)


def edit_text(edit: Edit) -> str:
    """A light edit in a few words."""
    if isinstance(edit, RemoveNode):
        return fill(translate("steps", "remove {node}"), node=edit.node)
    if isinstance(edit, SetAttribute):
        return f"{edit.node}.{edit.attribute} = {'–' if edit.value is None else edit.value}"
    if isinstance(edit, CutOut):
        ends = {"first": ", ".join(edit.inputs) or "…", "last": ", ".join(edit.outputs) or "…"}
        return fill(translate("steps", "cut out {first} → {last}"), **ends)
    if isinstance(edit, FreezeDim):
        return f"{edit.dim} = {edit.size}"
    old = getattr(edit, "node", "") or getattr(edit, "tensor", "")
    return fill(translate("steps", "rename {old} → {new}"), old=old, new=edit.name)


def bytes_text(size: int) -> str:
    """ "8.9 MB": decimal units, two or three figures."""
    value, unit = float(size), "B"
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if abs(value) < 999.5 or unit == "TB":
            break
        value /= 1000
    if unit == "B":
        return f"{int(value)} B"
    return f"{value:.0f} {unit}" if value >= 100 else f"{value:.1f} {unit}"


def count_text(n: float) -> str:
    """ "1.2 M", "340": a big number with its letter."""
    for limit, unit in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(n) >= limit:
            return f"{n / limit:.3g} {unit}"
    return f"{n:.0f}"


def seconds_text(seconds: float) -> str:
    """ "3.4 s", "2 min 5 s"."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{int(seconds) // 60} min {int(seconds) % 60} s"
