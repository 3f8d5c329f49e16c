"""ONNX → ONNX with fewer bits: static QDQ, dynamic, or float16. Never silent about doing nothing.

Every result is counted (nodes that really compute in fewer bits) and run once: a recipe that
changed nothing, an output with NaN, and an output that no longer depends on its input all fail.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from studio.backends.backend import Array, Converted
from studio.backends.explain import tool_error
from studio.backends.ort import OrtBackend
from studio.backends.quiet import quiet
from studio.errors import InputError, StudioError, ToolError, UnsupportedError
from studio.recipes.data import Samples, made_up_samples, open_samples
from studio.recipes.fingerprint import external_files
from studio.recipes.recipe import Calibration, QuantizeScheme, QuantizeStep
from studio.recipes.steps.context import StepContext

_LARGEST_INLINE_BYTES = (2 << 30) - (64 << 20)
_CHECKED_SAMPLES = 4
OLDEST_PER_CHANNEL_OPSET = 13  # DequantizeLinear has an axis since then (onnx operator changelog)
_MOST_AT_ONCE = 16  # calibration samples whose intermediate outputs are in memory together
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
    except StudioError:
        raise
    except Exception as error:
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
    notes += _check_outputs(context, source, made)
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
            "CalibStridedMinMax": _stride(len(reader)),  # so that memory does not grow with the samples
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


def calibration_samples(context: StepContext, source: Path, limit: int) -> Samples:
    """The project's calibration data for this model. Raises InputError."""
    assert context.project.calibration is not None
    loaded = OrtBackend().load(source, target="ort/cpu", threads=1)
    return open_samples(
        context.project.calibration, context.folder, context.project.preprocessing, loaded.inputs, limit
    )


class CalibrationReader:
    """onnxruntime's CalibrationDataReader over Samples, by range: one sample in memory at a time."""

    def __init__(self, samples: Samples, context: StepContext) -> None:
        self._samples = samples
        self._report = context.report
        self._feeds: Iterator[dict[str, Array]] = iter(samples)

    def __len__(self) -> int:
        return -(-self._samples.count // self._samples.batch_size)

    def set_range(self, start_index: int, end_index: int) -> None:
        size = self._samples.batch_size
        self._report.progress("Calibrating", start_index, len(self), "samples")
        self._feeds = (self._samples.feeds(i * size) for i in range(start_index, end_index))

    def get_next(self) -> dict[str, Array] | None:
        return next(self._feeds, None)


def _stride(count: int) -> int:
    """The largest divisor of the count that is not over the limit: onnxruntime wants equal parts."""
    return max(n for n in range(1, _MOST_AT_ONCE + 1) if count % n == 0)


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


_INTEGER_OPS = frozenset(
    ("QLinearConv", "QLinearMatMul", "ConvInteger", "MatMulInteger", "DynamicQuantizeMatMul",
     "MatMulIntegerToFloat", "MatMulNBits", "DynamicQuantizeLSTM", "QGemm", "QAttention")
)  # fmt: skip
_BOUNDARY_OPS = frozenset(("QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "Cast", "Constant"))


def count_reduced_nodes(path: Path) -> tuple[int, int]:
    """(nodes that compute in fewer bits, nodes that compute at all), bodies of If and Loop included.

    Counted in the file itself. A node counts when it is an integer operator, reads a dequantized
    tensor, or reads float16.
    """
    import onnx

    reduced = total = 0
    for graph in _graphs(onnx.load(str(path), load_external_data=False).graph):
        fewer = _reduced_tensors(graph)
        for node in graph.node:
            if node.op_type not in _BOUNDARY_OPS:
                total += 1
                reduced += node.op_type in _INTEGER_OPS or not fewer.isdisjoint(node.input)
    return reduced, total


def _graphs(graph: Any) -> Iterator[Any]:
    """The graph and every body inside it."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            for body in (*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs):
                yield from _graphs(body)


def _reduced_tensors(graph: Any) -> set[str]:
    """Names of tensors that are dequantized or float16; outputs of nodes that read float16 are float16."""
    from onnx import TensorProto

    halves = {t.name for t in graph.initializer if t.data_type in (TensorProto.FLOAT16, TensorProto.BFLOAT16)}
    dequantized: set[str] = set()
    for node in graph.node:
        if node.op_type == "DequantizeLinear":
            dequantized.update(node.output)
        elif node.op_type == "Constant":
            if any(a.t.data_type == TensorProto.FLOAT16 for a in node.attribute if a.HasField("t")):
                halves.update(node.output)
        elif node.op_type == "Cast":
            if any(a.name == "to" and a.i == TensorProto.FLOAT16 for a in node.attribute):
                halves.update(node.output)
        elif node.op_type not in _BOUNDARY_OPS and not halves.isdisjoint(node.input):
            halves.update(node.output)
    return halves | dequantized


def carry_metadata(source: Path, made: Path) -> None:
    """Copies names of modules and source lines to the nodes that are still there.

    onnxruntime's clean-up drops node metadata; nodes are matched by name, then by first output.
    """
    import onnx

    before = onnx.load(str(source), load_external_data=False)
    after = onnx.load(str(made), load_external_data=False)
    by_name = {node.name: node for node in before.graph.node if node.name and node.metadata_props}
    by_output = {node.output[0]: node for node in before.graph.node if node.output and node.metadata_props}
    touched = False
    for node in after.graph.node:
        origin = by_name.get(node.name) or by_output.get(node.output[0] if node.output else "")
        if origin is not None and not node.metadata_props and origin.op_type == node.op_type:
            node.metadata_props.extend(origin.metadata_props)
            touched = True
    if touched:
        made.write_bytes(after.SerializeToString())


def _check_outputs(context: StepContext, source: Path, made: Path) -> list[str]:
    """Runs both files on a few inputs. Raises ToolError for NaN or for outputs that went flat.

    Returns a note when there is no data and the original itself refuses made-up inputs.
    """
    backend = OrtBackend()
    before, after = (backend.load(p, target="ort/cpu", threads=1) for p in (source, made))
    samples = made_up_samples(before.inputs, _CHECKED_SAMPLES)
    data = context.project.calibration or context.project.evaluation
    if data is not None:
        samples = open_samples(
            data, context.folder, context.project.preprocessing, before.inputs, _CHECKED_SAMPLES
        )
    reference, result = [], []
    for feeds in samples:
        try:
            reference.append(before.run(feeds))
        except ToolError:
            if samples.is_real:
                raise
            return ["The result was not run: the original refuses made-up inputs, and no data is named."]
        result.append(after.run(feeds))
    for name in reference[0]:
        if not np.issubdtype(reference[0][name].dtype, np.floating):
            continue
        if all(np.isfinite(r[name]).all() for r in reference) and not all(
            np.isfinite(r[name]).all() for r in result
        ):
            raise ToolError(
                f"The quantized model gives NaN or infinity at its output “{name}”.",
                hint="Keep the layers before it in float, or choose another scheme.",
            )
        if _varies([r[name] for r in reference]) and not _varies([r[name] for r in result]):
            raise ToolError(
                f"The quantized model gives the same “{name}” for every input.",
                hint="Use calibration data that resembles real inputs, or keep the last layers in float.",
            )
    return []


def _varies(arrays: Sequence[Array]) -> bool:
    """Whether samples differ from each other; False for fewer than two of one shape."""
    same = [a for a in arrays if a.shape == arrays[0].shape]
    return len(same) > 1 and any(not np.array_equal(a, same[0]) for a in same[1:])
