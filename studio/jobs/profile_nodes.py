"""Job: times every node of a file with the runtime's own profiler, here or on a phone, and keeps the profile.

The inference is timed without the profiler first, so that the profile says what the profiler costs.
"""

from __future__ import annotations

import tempfile
from datetime import datetime, timezone
from pathlib import Path

from studio import paths
from studio.backends.backend import Array, LoadedModel
from studio.backends.explain import tool_error
from studio.backends.profile import Asked, profiler_of
from studio.backends.registry import open_backend
from studio.devices.device import RunSettings, check_run_settings
from studio.devices.stream import Inference
from studio.devices.this_computer import DEVICE_ID
from studio.devices.this_computer_sensors import cpu_name
from studio.errors import InputError, StudioError, UnsupportedError
from studio.graph import Graph, open_graph
from studio.jobs.deploy import default_target
from studio.jobs.job import Report
from studio.jobs.model_inputs import InputData, assumed_sizes, made_up_refused, samples_for
from studio.jobs.profile_phone import profile_on_phone
from studio.jobs.profile_record import Timed, latency_of, profile_record
from studio.jobs.timing import measure
from studio.measure.fact_file import save_fact
from studio.measure.node_profile import PROFILE
from studio.records import Record
from studio.targets import find_target

RUNS = 30


class ProfileNodes(Record):
    """Which file, how, where, on which inputs. `target` "" = the CPU of the file's runtime; `runs_dir` "" =
    the studio's own folder."""

    path: str
    device_id: str = DEVICE_ID
    target: str = ""
    threads: int = 1
    runs: int = RUNS
    warmup_runs: int = 3
    inputs: InputData = InputData()
    runs_dir: str = ""


class NodesProfiled(Record):
    """Where the profile is (`measure.node_profile.NodeProfile`)."""

    fact_path: str
    sha256: str


def run(spec: ProfileNodes, report: Report) -> NodesProfiled:
    """The profile's file. A job that fails or is stopped leaves none.

    Raises UnsupportedError when the target cannot run or be profiled there, InputError for inputs that
    do not fit, ToolError when the file does not run, DeviceError when the phone is not ready.
    """
    path = Path(spec.path).absolute()
    report.progress("Reading the graph", 0)
    graph = open_graph(path)
    target = spec.target or default_target(graph.format)
    _check(spec, graph, target)
    if spec.device_id == DEVICE_ID:
        timed = _here(spec, graph, path, target, report)
    else:
        timed = profile_on_phone(path, graph, _settings(spec, target), spec.device_id, spec.inputs, report)
    if report.should_stop() or not timed.profiled.n:
        raise InputError("The profile was stopped; nothing was kept.", hint="Start it again.")
    wall_time = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
    profile = profile_record(
        timed,
        graph,
        path,
        target=target,
        threads=spec.threads,
        warmup_runs=spec.warmup_runs,
        wall_time=wall_time,
    )
    place = Path(spec.runs_dir) if spec.runs_dir else paths.data_dir() / "runs"
    fact = save_fact(place, PROFILE, profile, wall_time=wall_time, hashes=(profile.sha256,))
    return NodesProfiled(fact_path=str(fact), sha256=profile.sha256)


def _here(spec: ProfileNodes, graph: Graph, path: Path, target: str, report: Report) -> Timed:
    """The nodes' times on this computer."""
    profiler = profiler_of(find_target(target).runtime)
    report.progress("Loading the model", 0)
    backend = open_backend(find_target(target).runtime)
    probe = backend.probe()
    if not probe.is_available:
        raise UnsupportedError(f"{probe.title} is not on this computer: {probe.reason}", hint=probe.fix)
    model = backend.load(path, target=target, threads=spec.threads)
    samples = samples_for(model.inputs, spec.inputs, 1)
    feeds = samples.feeds(0)
    try:
        plain = _plain_ns(model, feeds, spec, report)
        report.progress("Profiling the nodes", 0)
        with tempfile.TemporaryDirectory(prefix="profile-", dir=paths.cache_dir()) as folder:
            trace = profiler(
                Asked(
                    path=path,
                    graph=graph,
                    target=target,
                    threads=spec.threads,
                    feeds=feeds,
                    runs=spec.runs,
                    warmup_runs=spec.warmup_runs,
                    folder=Path(folder),
                    should_stop=report.should_stop,
                )
            )
    except UnsupportedError:
        raise
    except StudioError as error:
        raise made_up_refused(samples, error) from None
    if not trace.whole_ns or not plain:
        raise InputError("The profile was stopped; nothing was kept.", hint="Start it again.")
    return Timed(
        trace=trace,
        plain=latency_of(plain),
        profiled=latency_of(trace.whole_ns),
        inputs=samples.origin,
        device_id=DEVICE_ID,
        device_name=cpu_name() or "This computer",
        runtime=f"{probe.title} {probe.version.split(',')[0]}".strip(),
        notes=assumed_sizes(model.inputs, spec.inputs),
    )


def _check(spec: ProfileNodes, graph: Graph, target: str) -> None:
    if graph.format not in find_target(target).formats:
        raise InputError(
            f"{target} does not run .{graph.format} files.",
            hint=f"Formats of {target}: {', '.join(find_target(target).formats) or 'none'}.",
        )
    check_run_settings(_settings(spec, target), field="--")


def _settings(spec: ProfileNodes, target: str) -> RunSettings:
    return RunSettings(
        target=target, threads=spec.threads, warmup_runs=spec.warmup_runs, runs=spec.runs, seconds=0.0
    )


def _plain_ns(model: LoadedModel, feeds: dict[str, Array], spec: ProfileNodes, report: Report) -> list[int]:
    """Nanoseconds of each inference without the profiler."""
    report.progress("Timing without the profiler", 0)
    found: list[int] = []

    def take(*records: object) -> None:
        found.extend(r.latency_ns for r in records if isinstance(r, Inference))

    try:
        model.bind(feeds)
        for _ in range(max(spec.warmup_runs, 1)):
            model.invoke()
        measure(model.invoke, _settings(spec, model.target_ran), take, report.should_stop)
    except StudioError:
        raise
    except Exception as error:  # any runtime, any reason
        raise tool_error(
            f"{model.target_ran} fails while running the file.", str(error), tools=(model.target_ran,)
        ) from None
    return found


__all__ = ["RUNS", "NodesProfiled", "ProfileNodes", "run"]
