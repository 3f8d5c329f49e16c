"""ONNX → ONNX with fewer bits: static QDQ, dynamic, or float16. Never silent about doing nothing.

Every result is counted (nodes that really compute in fewer bits) and run once: a recipe that
changed nothing, an output with NaN, and an output that no longer depends on its input all fail.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from studio.backends.backend import Converted
from studio.backends.explain import tool_error
from studio.backends.quiet import quiet
from studio.errors import InputError, StudioError, UnsupportedError
from studio.graph.onnx_calls import refuse_expansion_of
from studio.recipes.fingerprint import external_files
from studio.recipes.recipe import Calibration, QuantizeScheme, QuantizeStep
from studio.recipes.steps.calibration import CalibrationReader, calibration_samples, stride
from studio.recipes.steps.check_outputs import check_outputs
from studio.recipes.steps.context import StepContext
from studio.recipes.steps.quantized_nodes import carry_metadata, count_reduced_nodes, has_bodies

_LARGEST_INLINE_BYTES = (2 << 30) - (64 << 20)
OLDEST_PER_CHANNEL_OPSET = 13  # DequantizeLinear has an axis since then (onnx operator changelog)
_TOOLS = ("ort-quantization", "onnxruntime", "onnx")
CONVOLUTIONS = ("Conv", "ConvTranspose")


def quantize(context: StepContext) -> Converted:
    """An `.onnx` file with fewer bits, and how many nodes of how many compute in them.

    Raises InputError for wrong data or node names, UnsupportedError when nothing was changed,
    ToolError when the quantizer fails or its result is broken.
    """
    step = cast(QuantizeStep, context.step)
    if context.input_format != "onnx":
        raise UnsupportedError(
            f"The step “{step.id}” quantizes ONNX, but its input is .{context.input_format}.",
            hint="Let it come after an export step, or start from an ONNX source.",
        )
    source = context.input_path
    refuse_expansion_of(source)
    _check_node_names(source, step.keep_float)
    if step.scheme == QuantizeScheme.STATIC and context.project.calibration is None:
        raise InputError(
            "Static quantization needs calibration data, and the project names none.",
            hint="Name a folder of images, a .npy or a .npz file; or choose dynamic or float16.",
        )
    made = context.out_dir / f"{source.stem}.{step.scheme}.onnx"
    schemes = {
        QuantizeScheme.STATIC: _static,
        QuantizeScheme.DYNAMIC: _dynamic,
        QuantizeScheme.FLOAT16: _float16,
    }
    try:
        with quiet():
            notes = schemes[step.scheme](context, step, source, made)
    except (StudioError, OSError):  # a full disk is no fault of the tool: the cache says it
        raise
    except Exception as error:
        if has_bodies(source):
            raise UnsupportedError(
                f"ONNX Runtime's quantizer cannot take {source.name}: nodes are inside If, Loop or Scan.",
                hint="Export without control flow, or split the model; float16 may still work.",
            ) from None
        raise tool_error(
            f"Quantization ({step.scheme}) of {source.name} failed.",
            f"{type(error).__name__}: {error}",
            tools=_TOOLS,
        ) from None
    carry_metadata(source, made)
    count, total = count_reduced_nodes(made)
    if count == 0:
        raise UnsupportedError(
            f"Quantization ({step.scheme}) of {source.name} changed nothing: none of its {total} nodes "
            "computes in fewer bits.",
            hint="Choose another scheme, or keep fewer nodes in float.",
        )
    context.report.progress("Checking the result", 0, None)
    notes += check_outputs(context, source, made)
    facts: dict[str, str | int | float | bool | None] = {"quantized_nodes": count, "total_nodes": total}
    return Converted(path=str(made), format="onnx", notes=tuple(notes), facts=facts)


def _static(context: StepContext, step: QuantizeStep, source: Path, made: Path) -> list[str]:
    from onnxruntime.quantization import CalibrationMethod, QuantFormat, QuantType, quantize_static

    samples = calibration_samples(context, source, step.samples)
    prepared, notes = _prepare(source, context.out_dir)
    methods = {
        Calibration.MINMAX: CalibrationMethod.MinMax,
        Calibration.ENTROPY: CalibrationMethod.Entropy,
        Calibration.PERCENTILE: CalibrationMethod.Percentile,
    }
    reader = CalibrationReader(samples, context)
    quantize_static(
        str(prepared),
        str(made),
        reader,
        quant_format=QuantFormat.QDQ,
        per_channel=step.per_channel,
        activation_type=QuantType.QUInt8,
        weight_type=QuantType.QInt8,
        calibrate_method=methods[step.calibration],
        nodes_to_exclude=list(step.keep_float),
        extra_options={
            "CalibStridedMinMax": stride(len(reader)),  # so that memory does not grow with the samples
            # the channel axis of a ConvTranspose's weights [C, M, …] is 1 (onnxruntime issue 19694)
            "QDQOpTypePerChannelSupportToAxis": {"ConvTranspose": 1, "MatMul": 1},
        },
    )
    if prepared != source:
        prepared.unlink()
    return [f"Calibrated on {samples.count} samples: {samples.origin}.", *notes]


def _dynamic(context: StepContext, step: QuantizeStep, source: Path, made: Path) -> list[str]:
    from onnxruntime.quantization import QuantType, quantize_dynamic

    context.report.progress("Quantizing weights", 0, None)
    prepared, notes = _prepare(source, context.out_dir)
    quantize_dynamic(
        str(prepared),
        str(made),
        per_channel=step.per_channel,
        weight_type=QuantType.QInt8,
        nodes_to_exclude=list(step.keep_float),
        extra_options={"EnableSubgraph": True},
    )
    if prepared != source:
        prepared.unlink()
    if any(op in CONVOLUTIONS for op in _op_types(source)):
        notes.append(
            "Dynamic quantization makes convolutions several times slower; static suits this model better."
        )
    return notes


def _float16(context: StepContext, step: QuantizeStep, source: Path, made: Path) -> list[str]:
    import onnx
    from onnxruntime.transformers.float16 import convert_float_to_float16

    context.report.progress("Converting to float16", 0, None)
    converted = convert_float_to_float16(
        onnx.load(str(source)), keep_io_types=True, node_block_list=list(step.keep_float) or None
    )
    onnx.save(converted, str(made), **_saving(converted.ByteSize()))
    return ["Inputs and outputs stay float32."]


def _prepare(source: Path, folder: Path) -> tuple[Path, list[str]]:
    """The model after onnxruntime's own clean-up (fused batch norms, shapes), or itself if that fails.

    Symbolic shape inference is skipped: it refuses transformers. External data is merged first,
    since the clean-up cannot follow it (both seen with onnx 1.23, onnxruntime 1.32). Scales per
    channel need opset 13, so older models are raised to it where onnx can.
    """
    import onnx
    from onnxruntime.quantization.shape_inference import quant_pre_process

    prepared, merged = folder / "prepared.onnx", folder / "merged.onnx"
    notes: list[str] = []
    try:
        opset = _opset(onnx.load(str(source), load_external_data=False))
        if external_files(source) or opset < OLDEST_PER_CHANNEL_OPSET:
            model = onnx.load(str(source))
            if model.ByteSize() > _LARGEST_INLINE_BYTES:
                return source, notes
            if opset < OLDEST_PER_CHANNEL_OPSET:
                model = onnx.version_converter.convert_version(model, OLDEST_PER_CHANNEL_OPSET)
                notes.append(f"Raised from opset {opset} to {OLDEST_PER_CHANNEL_OPSET}, which scales need.")
            onnx.save(model, str(merged))
        quant_pre_process(str(merged if merged.exists() else source), str(prepared), skip_symbolic_shape=True)
    except InputError:
        raise
    except Exception:  # the clean-up is a help, not a need
        prepared.unlink(missing_ok=True)
        return source, []
    finally:
        merged.unlink(missing_ok=True)
    return prepared, notes


def _opset(model: Any) -> int:
    return next((e.version for e in model.opset_import if e.domain in ("", "ai.onnx")), 0)


def _saving(size: int) -> dict[str, Any]:
    if size <= _LARGEST_INLINE_BYTES:
        return {}
    return {"save_as_external_data": True, "location": "weights.data"}


def _check_node_names(path: Path, names: Sequence[str]) -> None:
    import onnx

    if not names:
        return
    have = {node.name for node in onnx.load(str(path), load_external_data=False).graph.node}
    unknown = [name for name in names if name not in have]
    if unknown:
        raise InputError(
            f"Nodes to keep in float that {path.name} does not have: {', '.join(unknown[:5])}.",
            hint="Take the names from the graph of the step's input.",
        )


def _op_types(path: Path) -> set[str]:
    import onnx

    return {node.op_type for node in onnx.load(str(path), load_external_data=False).graph.node}
