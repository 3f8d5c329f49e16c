"""Deploy: push an artifact to a device, run it, keep every record, compare with the float original.

The one place where a device, a backend's runner, a run file and the error figures meet. No speed
is shown without its error: outputs on the real inputs are compared in the same job.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from studio import paths
from studio.artifact import hash_file
from studio.devices.device import Device, RunRequest, RunSettings
from studio.devices.registry import open_device
from studio.devices.stream import Inference, Output
from studio.devices.this_computer import DEVICE_ID
from studio.errors import InputError, StudioError
from studio.jobs import runner
from studio.jobs.deploy_result import DeployResult, result_of
from studio.jobs.job import Report
from studio.jobs.recorder import Recorder
from studio.jobs.run_outputs import Array, labels_of, load_reference, sample_count, stack_outputs
from studio.measure.error import Outputs, error_figures
from studio.measure.measurement import ErrorFigures
from studio.measure.run_file import Compared, RunBuilder
from studio.records import Record
from studio.targets import TARGETS, find_target

__all__ = ["Deploy", "DeployResult", "default_target", "format_of", "run"]

_PROGRESS_SECONDS = 0.2


class Deploy(Record):
    """What to run where. Paths are absolute.

    `inputs_path`: `.npz` of prepared inputs (one array per input name, or one called `inputs`;
    an array `labels` is taken as labels); `input_samples` 0 = all of them, 1 = the arrays are one
    sample. The float original, for the error: `reference_outputs` (`.npz`, one array per output)
    or `reference_artifact`, a float file that is run on this computer. `live_interval_ms`: at most
    one inference per so many ms is told as an event (0 = each); the run file always has all.
    """

    artifact_path: str
    settings: RunSettings
    device_id: str = DEVICE_ID
    artifact_format: str = ""
    artifact_sha256: str = ""
    inputs_path: str = ""
    input_samples: int = 0
    dims: dict[str, int] = {}
    labels_path: str = ""
    reference_outputs: str = ""
    reference_artifact: str = ""
    runs_dir: str = ""
    live_interval_ms: float = 0.0


def default_target(file_format: str) -> str:
    """The target that a bare file of this format runs on when none is named: its CPU."""
    for target in TARGETS.values():
        if file_format in target.formats and target.can_convert and not target.needs_soc:
            return "executorch/xnnpack" if file_format == "pte" else target.id
    raise InputError(
        f"No runtime here runs a .{file_format} file.", hint="Convert it to .onnx, .ort, .tflite or .pte."
    )


def format_of(path: Path) -> str:
    """The format of a model file, by its content. Raises InputError."""
    from studio.graph.formats import detect_format

    return detect_format(path)


def run(spec: Deploy, report: Report) -> DeployResult:
    """Runs the deploy to its end or until it is stopped; the run file holds what was received.

    Raises DeviceError, UnsupportedError, ToolError or InputError.
    """
    with tempfile.TemporaryDirectory(prefix="deployment-studio-outputs-") as scratch:
        request = _request(spec, Path(scratch) / "outputs")
        device = open_device(spec.device_id, runner_command=runner.command())
        count = request.input_samples
        labels = labels_of(spec.labels_path, spec.inputs_path, count) if _has_reference(spec) else None
        reference, said = _reference(spec, request, report, Path(scratch))
        info = device.identify()
        folder = Path(spec.runs_dir) if spec.runs_dir else paths.data_dir() / "runs"
        with Recorder(
            folder, report, device_id=spec.device_id, live_interval_ms=spec.live_interval_ms
        ) as recorder:
            _follow(device, request, recorder, report)
            error, notes = _compare(recorder.builder, Path(request.outputs_dir), reference, said, labels)
            if error is not None:
                recorder.keep(Compared(figures=error, reference=said))
            return result_of(recorder, info.name, info.is_simulated, error, notes)


def _request(spec: Deploy, outputs: Path) -> RunRequest:
    path = Path(spec.artifact_path).absolute()
    if not path.is_file():
        raise InputError(f"There is no file {path}.", hint="Run the recipe first, or check the path.")
    file_format = spec.artifact_format or format_of(path)
    target = find_target(spec.settings.target or default_target(file_format))
    if file_format not in target.formats:
        takes = " or ".join(f".{f}" for f in target.formats) or "no file that is made here"
        raise InputError(
            f"{target.title} takes {takes}, and {path.name} is a {file_format} file.",
            hint="Choose another target, or convert the file first.",
        )
    inputs = str(Path(spec.inputs_path).absolute()) if spec.inputs_path else ""
    return RunRequest(
        artifact_path=str(path),
        artifact_format=file_format,
        artifact_sha256=spec.artifact_sha256 or hash_file(path),
        settings=msgspec.structs.replace(spec.settings, target=target.id),
        inputs_path=inputs,
        input_samples=(spec.input_samples or sample_count(Path(inputs))) if inputs else 0,
        dims=spec.dims,
        outputs_dir=str(outputs) if inputs or _has_reference(spec) else "",
    )


def _has_reference(spec: Deploy) -> bool:
    return bool(spec.reference_outputs or spec.reference_artifact)


def _reference(spec: Deploy, request: RunRequest, report: Report, scratch: Path) -> tuple[Outputs, str]:
    """The float original's outputs on the same inputs, and what they are; empty when not known."""
    if spec.reference_outputs:
        path = Path(spec.reference_outputs)
        return load_reference(path), path.name
    if not spec.reference_artifact:
        return {}, ""
    path = Path(spec.reference_artifact).absolute()
    report.progress("running the float original", 0)
    file_format = format_of(path)
    only_outputs = RunSettings(target=default_target(file_format), warmup_runs=0, runs=0, seconds=0.0)
    folder = scratch / "reference"
    asked = msgspec.structs.replace(
        request,
        artifact_path=str(path),
        artifact_format=file_format,
        artifact_sha256="",
        settings=only_outputs,
        outputs_dir=str(folder),
    )
    device = open_device(DEVICE_ID, runner_command=runner.command())
    stream = device.run(asked, on_push=lambda *_: None, should_stop=report.should_stop)
    outputs = [record for record in stream if isinstance(record, Output)]
    return stack_outputs(outputs, folder), f"{path.name} on this computer ({only_outputs.target})"


def _follow(device: Device, request: RunRequest, recorder: Recorder, report: Report) -> None:
    settings = request.settings
    started: int | None = None
    told = 0.0

    def on_push(done: int, total: int) -> None:
        nonlocal told
        if done == total or time.monotonic() - told > _PROGRESS_SECONDS:
            told = time.monotonic()
            report.progress("pushing", done, total, "bytes")

    try:
        for record in device.run(request, on_push=on_push, should_stop=report.should_stop):
            recorder.take(record)
            if isinstance(record, Inference):
                started = started or record.t_ns
                if time.monotonic() - told > _PROGRESS_SECONDS:
                    told = time.monotonic()
                    by_count = (record.i + 1) / max(settings.runs, 1)
                    by_time = (record.t_ns - started) / max(settings.seconds * 1e9, 1.0)
                    report.progress("measuring", round(100 * min(by_count, by_time, 1.0)), 100, "%")
    except StudioError:
        if recorder.path is not None:
            placement = recorder.builder.placement
            is_refusal = placement is not None and bool(placement.refused)
            kept = "That it was refused" if is_refusal else "What was measured"
            report.log(f"{kept} is kept in {recorder.path}")
        raise


def _compare(
    builder: RunBuilder, folder: Path, reference: Mapping[str, Any], said: str, labels: Array | None
) -> tuple[ErrorFigures | None, list[str]]:
    """The error figures, or None with a note that says why there are none."""
    if not said:
        return None, ["No float original was given, so the error of the outputs is not known."]
    if not builder.outputs:
        return None, ["The run gave no outputs, so the error is not known."]
    try:
        return error_figures(reference, stack_outputs(builder.outputs, folder), labels), []
    except InputError as error:
        return None, [f"The outputs could not be compared: {error.message}"]
