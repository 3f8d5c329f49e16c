"""torch → ONNX: by the dynamo exporter, else by the TorchScript one; the resulting opset is read back.

*Why read back:* below opset 18 the dynamo exporter reports success and leaves a graph at 18.
Provenance stays in the file as the exporter's own metadata (`pkg.torch.onnx.*` of each node), cut
to the innermost source line so that it does not outweigh a small model; paths inside the
source's folder are made relative, so that two checkouts make the same file.
"""

from __future__ import annotations

import re
import shutil
import warnings
from pathlib import Path
from typing import cast

from studio.backends.backend import Converted
from studio.backends.explain import last_lines, own_line, telling_line, tool_error
from studio.backends.quiet import quiet
from studio.errors import InputError, StudioError
from studio.recipes.fingerprint import external_files
from studio.recipes.load_torch import TorchSource, dynamic_shapes, load_torch
from studio.recipes.recipe import Exporter, ExportStep
from studio.recipes.steps.context import StepContext

OLDEST_DYNAMO_OPSET = 18
_LARGEST_INLINE_BYTES = 1 << 30  # protobuf ends at 2 GiB; half of it leaves room for the graph
_TOOLS = ("torch.onnx", "torch.export", "torchscript", "onnx")
_FRAME = re.compile(r'[ ]*File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<name>.+)\n(?P<code>    .*\n?)?')
_LOST = "to a Python boolean might cause the trace to be incorrect"  # torch.jit.TracerWarning
_OWN_FRAMES = 2


def export(context: StepContext) -> Converted:
    """An `.onnx` file. An ONNX source is passed through unchanged.

    Raises InputError for the source's faults, ToolError when no exporter takes the model.
    """
    step = cast(ExportStep, context.step)
    if context.input_format == "onnx":
        return _pass_through(context)
    if not context.is_torch_source or context.step.after in context.made:
        raise InputError(
            f"The step “{step.id}” exports from torch, but its input is {context.input_format}.",
            hint="Let the step come after “source”.",
        )
    context.report.progress("Loading the source", 0, None)
    source = load_torch(context.project.source, context.folder, trusted=context.trusted)
    made = context.out_dir / f"{context.source_path.stem}.onnx"
    exporter, notes = _export_with_some(source, step, made, context)
    _tidy_provenance(made, context.source_path.parent)
    opset = _resulting_opset(made)
    if opset != step.opset:
        notes.append(f"Asked for opset {step.opset}, the exporter made opset {opset}.")
    return Converted(
        path=str(made), format="onnx", notes=tuple(notes), facts={"opset": opset, "exporter": exporter}
    )


def _pass_through(context: StepContext) -> Converted:
    source = context.input_path
    for file in (source, *external_files(source)):
        target = context.out_dir / file.relative_to(source.parent)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)
    return Converted(
        path=str(context.out_dir / source.name),
        format="onnx",
        notes=("The source is ONNX already and was passed through unchanged.",),
        facts={"opset": _resulting_opset(context.out_dir / source.name)},
    )


def _export_with_some(
    source: TorchSource, step: ExportStep, made: Path, context: StepContext
) -> tuple[str, list[str]]:
    """Tries the exporters in order; returns the one that worked and notes on the others."""
    failures: list[tuple[str, str]] = []
    notes: list[str]
    for exporter in _exporters(source, step):
        context.report.progress(f"Exporting with the {exporter} exporter", 0, None)
        try:
            with quiet() as output:
                if exporter == Exporter.DYNAMO:
                    notes = _export_dynamo(source, step, made)
                else:
                    notes = _export_torchscript(source, step, made)
        except StudioError:
            raise
        except Exception as error:
            failures.append((str(exporter), f"{output.getvalue()}\n{_chain_of(error)}"))
            for leftover in context.out_dir.iterdir():
                leftover.unlink()
            continue
        notes += [f"The {name} exporter failed{own_line(text)}: {_said(text)}" for name, text in failures]
        return str(exporter), notes
    name, text = failures[0]
    raise tool_error(
        f"The {name} exporter cannot take {context.source_path.name}{own_line(text)}"
        + (f", nor can the {failures[1][0]} exporter: {_said(failures[1][1])}" if len(failures) > 1 else "."),
        text,
        tools=_TOOLS,
        hint="Try the other exporter or another opset.",
    )


def _exporters(source: TorchSource, step: ExportStep) -> tuple[Exporter, ...]:
    if step.exporter != Exporter.AUTO:
        if step.exporter == Exporter.DYNAMO and source.is_script:
            raise InputError(
                "The dynamo exporter cannot take TorchScript.",
                hint="Choose the TorchScript exporter or auto.",
            )
        return (step.exporter,)
    if source.is_script:
        return (Exporter.TORCHSCRIPT,)
    if step.opset < OLDEST_DYNAMO_OPSET:
        return (Exporter.TORCHSCRIPT, Exporter.DYNAMO)
    return (Exporter.DYNAMO, Exporter.TORCHSCRIPT)


def _export_dynamo(source: TorchSource, step: ExportStep, made: Path) -> list[str]:
    import torch

    shapes = dynamic_shapes(source, dynamic_batch=step.dynamic_batch)
    size = sum(t.numel() * t.element_size() for t in source.call.state_dict().values())
    torch.onnx.export(
        source.program if source.program is not None else source.call,
        source.examples if source.program is None else (),
        str(made),
        dynamo=True,
        opset_version=step.opset,
        input_names=list(source.input_names),
        dynamic_shapes=None if source.program is not None else shapes,
        external_data=size > _LARGEST_INLINE_BYTES,
        verbose=False,
    )
    return []


def _export_torchscript(source: TorchSource, step: ExportStep, made: Path) -> list[str]:
    """Raises LostBranch in auto mode when tracing kept one side of a branch; else that is a note."""
    import torch

    axes: dict[str, dict[int, str]] = {}
    for name, shape in zip(source.input_names, source.input_shapes):
        axes[name] = {i: dim for i, dim in enumerate(shape) if isinstance(dim, str)}
        if step.dynamic_batch and shape:
            axes[name].setdefault(0, "batch")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.onnx.export(
            source.call,
            source.examples,
            str(made),
            dynamo=False,
            opset_version=step.opset,
            input_names=list(source.input_names),
            dynamic_axes=axes if any(axes.values()) else None,
        )
    lost = [
        w for w in caught if "to a Python boolean might cause the trace to be incorrect" in str(w.message)
    ]
    if not lost:
        return []
    where = f"{Path(lost[0].filename).name}:{lost[0].lineno}"
    if step.exporter == Exporter.AUTO:
        raise LostBranch(
            f"The trace would keep one side of the branch at {where}. If it depends on shapes only, "
            "choose the TorchScript exporter yourself."
        )
    return [f"The trace keeps one side of the branch at {where}: right only if it depends on shapes alone."]


class LostBranch(Exception):
    """Tracing went through a Python branch on a tensor's value; the graph has one side of it."""


def _chain_of(error: BaseException) -> str:
    """The messages of an exception and its causes, the innermost last."""
    texts: list[str] = []
    current: BaseException | None = error
    while current is not None and len(texts) < 6:
        texts.append(f"{type(current).__name__}: {current}")
        current = current.__cause__ or current.__context__
    return "\n".join(texts)


def _said(text: str) -> str:
    return telling_line(last_lines(text))[:200].rstrip(".") + "."


def _resulting_opset(path: Path) -> int:
    import onnx

    proto = onnx.load(str(path), load_external_data=False)
    return next((entry.version for entry in proto.opset_import if entry.domain in ("", "ai.onnx")), 0)


def _tidy_provenance(path: Path, root: Path) -> None:
    """Cuts each node's stack trace to its innermost user frames with paths relative to `root`."""
    import onnx

    proto = onnx.load(str(path), load_external_data=False)
    touched = False
    for node in proto.graph.node:
        for entry in list(node.metadata_props):
            if entry.key == "pkg.torch.onnx.stack_trace":
                entry.value = _own_frames(entry.value, root)
                touched = True
            elif entry.key == "pkg.torch.onnx.fx_node":  # the whole FX line again; nothing reads it
                node.metadata_props.remove(entry)
                touched = True
    if touched:
        path.write_bytes(proto.SerializeToString())


def _own_frames(trace: str, root: Path) -> str:
    """The last frames of a stack trace that are the user's own code, as text of the same form."""
    frames = list(_FRAME.finditer(trace))
    own = [f for f in frames if "/site-packages/" not in f["file"].replace("\\", "/")] or frames[-1:]
    lines = []
    for frame in own[-_OWN_FRAMES:]:
        file = Path(frame["file"])
        shown = file.relative_to(root).as_posix() if file.is_relative_to(root) else file.as_posix()
        lines.append(f'  File "{shown}", line {frame["line"]}, in {frame["name"]}\n{frame["code"] or ""}')
    return "".join(lines)
