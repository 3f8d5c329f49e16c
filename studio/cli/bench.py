"""`bench ARTIFACT --device ID`: runs a file on a device and says how fast and how right it is.

JSON (`studio.jobs.deploy.DeployResult`; the first seven fields are the contract):
`{"latency_ms": {"p50", "p90", "p99", "mean", "std", "n"}, "load_ms", "peak_rss_bytes", "target",
"target_ran", "error": {"samples", "snr_db", "cosine", "max_abs_error", …} | null, "run_file", …}`.
`--jsonl` prints every record of the run as it arrives (`studio.devices.stream`), then the object
above on the last line. Exit code 1: it ran, but not on the target that was asked for.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

from studio.cli import tables
from studio.cli.options import ALL_ARE_1, Parser, add_dims, dims_of, not_negative, positive
from studio.cli.output import Output, stopping
from studio.devices.device import RunMode, RunSettings, check_run_settings
from studio.devices.stream import encode_record
from studio.errors import InputError
from studio.jobs.deploy import Deploy, DeployResult
from studio.jobs.deploy import run as deploy
from studio.jobs.job import Event, Measured
from studio.records import to_json
from studio.report.words import error_words
from studio.targets import TARGETS


def parser() -> Parser:
    """The options of `bench`."""
    result = Parser(
        "bench",
        summary="Run a model file on a device: latency, load time, memory, and error against the float "
        "original where one is given.",
        example="deployment-studio bench digits.ort --device this-computer --threads 2 --runs 200\n"
        "deployment-studio bench digits-int8.onnx --reference digits.onnx --inputs samples.npz --json",
    )
    result.add_argument("artifact", help=".onnx, .ort, .tflite, .pte or TorchScript")
    result.add_argument(
        "--device", default="this-computer", metavar="ID", help="see: deployment-studio devices"
    )
    result.add_argument("--target", default="", metavar="T", help="default: the CPU of the file's runtime")
    result.add_argument("--inputs", default="", metavar="NPZ", help="real inputs, one array per input name")
    result.add_argument("--reference", default="", metavar="FILE", help="the float original, for the error")
    result.add_argument("--labels", default="", metavar="FILE", help="labels of the inputs, for accuracy")
    add_dims(result, otherwise=ALL_ARE_1)
    add_run_settings(result)
    result.add_argument("--jsonl", action="store_true", help="stream every record of the run as JSON lines")
    return result


def add_run_settings(parser: Parser) -> None:
    """Options that become RunSettings; defaults are the record's own."""
    parser.add_argument("--threads", type=positive, metavar="N")
    parser.add_argument("--runs", type=positive, metavar="N", help="at least so many inferences (100)")
    parser.add_argument("--seconds", type=not_negative, metavar="S", help="and at least so long (1)")
    parser.add_argument("--warmup", type=int, metavar="N", help="inferences that do not count (5)")
    parser.add_argument("--mode", choices=[str(m) for m in RunMode], help="how to load the device (burst)")
    parser.add_argument("--interval-ms", type=not_negative, metavar="MS", help="period of --mode cadence")


def run_settings_of(options: Namespace, base: RunSettings) -> RunSettings:
    """`base` with what the options say. Raises InputError for settings that contradict."""
    from msgspec.structs import replace

    given = {
        "threads": options.threads,
        "runs": options.runs,
        "seconds": options.seconds,
        "warmup_runs": options.warmup,
        "mode": RunMode(options.mode) if options.mode else None,
        "interval_ms": options.interval_ms,
    }
    settings = replace(base, **{name: value for name, value in given.items() if value is not None})
    check_run_settings(settings, field="--")
    if settings.mode is RunMode.CADENCE and not settings.interval_ms:
        raise InputError("A cadence needs a period.", hint="For example: --interval-ms 33")
    return settings


def run(options: Namespace, output: Output) -> int:
    """Runs the file and says the figures; 0, or 1 when another target ran than was asked for."""
    spec = Deploy(
        device_id=options.device,
        artifact_path=str(Path(options.artifact).absolute()),
        settings=run_settings_of(options, RunSettings(target=options.target)),
        inputs_path=_absolute(options.inputs),
        dims=dims_of(options.dim),
        labels_path=_absolute(options.labels),
        reference_artifact=_absolute(options.reference),
    )
    if options.jsonl:
        output.report.on_event = _streamer(output)
    with stopping(output.report):
        result = deploy(spec, output.report)
    if options.jsonl:
        output.line(to_json(result))
    else:
        output.result(result, text_of(result))
    if output.report.stopped:
        return 130
    return 0 if result.target_ran == result.target else 1


def text_of(result: DeployResult) -> str:
    """The figures of a run for people."""
    mark = " (simulated)" if result.is_simulated else ""
    rows = [("device", f"{result.device_name or result.device_id}{mark}"), ("target", result.target)]
    ran = result.target_ran or "nothing"
    delegates = result.delegated_nodes or TARGETS[result.target].is_accelerator  # a CPU has none
    if delegates and result.delegated_nodes is not None and result.total_nodes is not None:
        ran += f", {result.delegated_nodes} of {result.total_nodes} nodes"
    rows.append(("ran on", ran))
    if result.latency_ms is not None:
        figures = result.latency_ms
        rows.append(("latency p50", f"{tables.milliseconds(figures.p50)} ms"))
        rows.append(("latency p90", f"{tables.milliseconds(figures.p90)} ms"))
        rows.append(("latency p99", f"{tables.milliseconds(figures.p99)} ms"))
        spread = f"± {tables.milliseconds(figures.std)} ms over {figures.n} inferences"
        rows.append(("mean", f"{tables.milliseconds(figures.mean)} ms {spread}"))
    rows.append(("load", f"{tables.milliseconds(result.load_ms)} ms"))
    rows.append(("peak memory", tables.size(result.peak_rss_bytes)))
    if result.error is not None:
        rows.append(("error vs float", error_words(result.error)))
        if result.error.accuracy is not None:
            original = tables.percent(result.error.reference_accuracy)
            rows.append(("accuracy", f"{tables.percent(result.error.accuracy)}, float {original}"))
    rows.append(("run file", result.run_file))
    return "\n".join([tables.pairs(rows), *(f"note: {note}" for note in result.notes)])


def _absolute(path: str) -> str:
    return str(Path(path).absolute()) if path else ""


def _streamer(output: Output) -> Callable[[Event], None]:
    def take(event: Event) -> None:
        if isinstance(event, Measured):
            output.line(encode_record(event.record).decode().rstrip("\n"))

    return take
