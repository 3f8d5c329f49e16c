"""LiteRT on phones by Google's `benchmark_model`: it tells a summary per phase, so that is all we show.

The binary comes from `<runtimes folder>/<abi>/benchmark_model`; Google publishes it for arm64 in its public
`litert/binaries/<version>/android_arm64/` bucket. Output forms: without prefix (old), with `INFO: ` and
percentiles (new), and LiteRT 2.x, whose results come on stderr; so both streams are read.

Before the timed run one inference is profiled in a process of its own: its *Run Order* names the nodes that
run outside of the delegate, by their number in the file. The timed run has no profiler in it. When the nodes'
times are asked for, as many inferences are profiled as are timed, and what the tool said of them is kept.
Not yet run on hardware; the forms are tested by their shapes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from studio.devices.adb.detached import Over
from studio.devices.adb.elf import read_elf
from studio.devices.adb.follower import RunFollower
from studio.devices.adb.kit import Kit, kit_file, runtimes_dir
from studio.devices.adb.preparation import MODEL, Preparation, prepare_file
from studio.devices.adb.shell import quote, run_shell
from studio.devices.device import RunRequest, RunSettings
from studio.devices.stream import End, Loaded, PlacedNode, Placement, Profiled, StreamRecord, Summary
from studio.errors import DeviceError
from studio.records import Record

PROGRAM, PROFILE = "benchmark_model", "op_profile.txt"
BENCHMARK_FLAGS: dict[str, tuple[str, ...]] = {
    "litert/cpu": ("--use_xnnpack=true",),
    "litert/gpu": ("--use_gpu=true",),
    "litert/nnapi": ("--use_nnapi=true",),
}
"""target → flags. Source: tensorflow/lite/tools/benchmark/README.md."""

_ROW = re.compile(r"count=(\d+)((?: \w+=[-+.\de]+)+)")
_FIELD = re.compile(r"(\w+)=([-+.\de]+)")
_REPLACED = re.compile(r"Replacing (\d+) out of (\d+) node\(s\) with delegate \((\w+)\)")
_INIT_MS = re.compile(r"(?:Initialized session in|Model initialization took) ([\d.]+) ?ms")
_INIT_US = re.compile(r"Inference timings in us: Init: ([\d.e+]+)")
_TIMED = "=== the timed run ==="
_STDERR = "=== stderr ==="
_REGULAR = "Operator-wise Profiling Info for Regular Benchmark Runs"
_RUN_ORDER = re.compile(r"=+ Run Order =+\n(.*?)(?:\n\s*\n|\n=+ |\Z)", re.DOTALL)
_OP_ROW = re.compile(r"^\t\s*([^\t]+?)\t.*\t\[.*\]:(\d+)\s*$", re.MULTILINE)
_FALLBACK = ("graph will not be executed by the delegate", "nnapi-reference")


class BenchmarkReport(Record):
    """What the tool said. Microseconds, as it prints them; phases in order, warm-up first."""

    phases: tuple[dict[str, float], ...] = ()
    init_ms: float | None = None
    delegate: str = ""
    delegated: int | None = None
    nodes: int | None = None
    fell_back: str = ""


def parse_benchmark(text: str) -> BenchmarkReport:
    """The report of `benchmark_model`'s output, stdout and stderr together."""
    phases = []
    for count, fields in _ROW.findall(text):
        phases.append({"count": float(count), **{k: float(v) for k, v in _FIELD.findall(fields)}})
    replaced = _REPLACED.findall(text)
    init_ms, init_us = _INIT_MS.search(text), _INIT_US.search(text)
    return BenchmarkReport(
        phases=tuple(phases),
        init_ms=float(init_ms.group(1)) if init_ms else float(init_us.group(1)) / 1e3 if init_us else None,
        delegate=replaced[-1][2] if replaced else "",
        delegated=sum(int(n) for n, _, _ in replaced) if replaced else None,
        nodes=int(replaced[0][1]) if replaced else None,
        fell_back=next((line.strip() for line in text.splitlines() if any(f in line for f in _FALLBACK)), ""),
    )


def split_output(text: str) -> tuple[str, str]:
    """(what the profiled inference said, what the timed run said), of stdout and stderr together."""
    profiled, timed = [], []
    for stream in text.split(_STDERR):
        before, mark, after = stream.partition(_TIMED)
        profiled.append(before if mark else "")
        timed.append(after if mark else before)
    return "\n".join(profiled), "\n".join(timed)


def placed_nodes(profiled: str, report: BenchmarkReport) -> tuple[PlacedNode, ...]:
    """Every node of the file by number, and whether the delegate took it; empty when numbers do not add up.

    Operators are named for what ran outside only: the profile knows a delegate as one row.
    """
    _, told, regular = profiled.rpartition(_REGULAR)  # before it stands the table of the initialisation
    found = _RUN_ORDER.search(regular if told else profiled)
    if found is None or report.nodes is None or report.delegated is None:
        return ()
    rows = {int(number): op for op, number in _OP_ROW.findall(found[1])}
    left = {number: op for number, op in rows.items() if number < report.nodes}
    if len(left) + report.delegated != report.nodes:
        return ()
    return tuple(
        PlacedNode(name="", op=left.get(n, ""), is_taken=n not in left, index=n) for n in range(report.nodes)
    )


def find_benchmark_kit(settings: RunSettings, abi: str, *, is_profiled: bool = False) -> Kit:
    """The kit for a LiteRT target. Raises DeviceError that says where the program belongs.

    `is_profiled`: the nodes' times are wanted, not only where they ran.
    """
    path = runtimes_dir(abi) / PROGRAM
    if not path.is_file():
        raise DeviceError(
            f"{PROGRAM} for {abi} phones is missing; it runs .tflite files there.",
            hint=f"Put a build for {abi} into {path.parent}; "
            "Google's public LiteRT binaries have android_arm64.",
        )
    facts = read_elf(path)
    if facts.abi != abi:
        raise DeviceError(
            f"{path} is built for {facts.abi}, and the phone is {abi}.", hint="Put the right build there."
        )
    same = (
        f"./{PROGRAM}",
        f"--graph={MODEL}.tflite",
        f"--num_threads={settings.threads}",
        "--warmup_min_secs=0",
        *BENCHMARK_FLAGS[settings.target],
    )
    often = (settings.warmup_runs, settings.runs) if is_profiled else (0, 1)
    profiled = (
        *same,
        f"--warmup_runs={often[0]}",
        f"--num_runs={often[1]}",
        "--min_secs=0",
        "--enable_op_profiling=true",
        *(("--max_profiling_buffer_entries=16384",) if is_profiled else ()),
    )
    timed = (
        *same,
        f"--warmup_runs={settings.warmup_runs}",
        f"--num_runs={settings.runs}",
        f"--min_secs={settings.seconds:g}",
    )
    # `exec`: the process that is watched and stopped is the timed run itself
    mark = quote("echo", _TIMED)
    argv = ("sh", "-c", f"{quote(*profiled)}; {mark}; {mark} >&2; exec {quote(*timed)}")
    files = (kit_file(path, PROGRAM, is_program=True),)
    return Kit(abi=abi, files=files, argv=argv, alignment=facts.alignment)


class BenchmarkFollower(RunFollower):
    """Reads the tool's whole output when it has left; telemetry streams meanwhile."""

    greets = False

    @staticmethod
    def prepare(request: RunRequest, scratch: Path) -> Preparation:
        """Only the model: the tool makes its own inputs."""
        return prepare_file(request)

    def _left(self, over: Over, has_hello: bool, was_asked: bool) -> Iterator[StreamRecord]:
        files = f"cat out.jsonl; {quote('echo', _STDERR)}; cat err.txt"
        command = f"cd {quote(self._run.folder)}; cat /proc/uptime; {files}"
        said = run_shell(self._run.server, self._run.serial, command).stdout
        uptime, _, text = said.partition("\n")
        profiled, text = split_output(text)
        self._last_t_ns = int(float(uptime.split()[0]) * 1e9)
        report = parse_benchmark(text)
        if was_asked:
            self._end = End(t_ns=self._last_t_ns, reason="stopped", runs=0)
            return
        if over.returncode != 0 or not report.phases:
            yield from self._crash(over.returncode)
            return
        yield self._loaded(report)
        if self._request.profile_dir:
            yield from self._keep_profile(profiled)
        nodes = placed_nodes(profiled, report)
        if nodes:
            yield Placement(t_ns=self._last_t_ns, nodes=nodes)
        names = ["warm-up", "measure"] if len(report.phases) > 1 else ["measure"]
        for name, phase in zip(names, report.phases[-len(names) :]):
            yield _summary(name, phase, self._last_t_ns)
        runs = int(report.phases[-1]["count"])
        self._end = End(t_ns=self._last_t_ns, reason="done", runs=runs)

    def _keep_profile(self, profiled: str) -> Iterator[StreamRecord]:
        """What the profiled process said, in a file for whoever reads such tables."""
        folder = Path(self._request.profile_dir)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / PROFILE).write_text(profiled, encoding="utf-8")
        phases = parse_benchmark(profiled).phases
        runs = int(phases[-1]["count"]) if phases else 0
        yield Profiled(t_ns=self._last_t_ns, form=PROGRAM, path=str(folder), runs=runs)
        if phases:
            yield _summary("profiled", phases[-1], self._last_t_ns)

    def _loaded(self, report: BenchmarkReport) -> Loaded:
        target = self._request.settings.target
        ran, evidence = judge(target, report)
        return Loaded(
            t_ns=self._last_t_ns,
            load_ns=None if report.init_ms is None else round(report.init_ms * 1e6),
            target_ran=ran,
            evidence=evidence,
            delegated_nodes=report.delegated,
            total_nodes=report.nodes,
        )


def judge(target: str, report: BenchmarkReport) -> tuple[str, str]:
    """What really ran, and by which of the tool's words: a delegate counts only when it took nodes."""
    if report.fell_back:
        return "litert/cpu", report.fell_back
    if report.delegated:
        evidence = f"{report.delegate} took {report.delegated} of {report.nodes} nodes"
        wanted = {"litert/gpu": "gpu", "litert/nnapi": "nnapi"}.get(target, "xnnpack")
        return (target if wanted in report.delegate.lower() else "litert/cpu"), evidence
    evidence = (
        "no delegate took a node" if target == "litert/cpu" else "the tool names no delegate that took a node"
    )
    return "litert/cpu", evidence


def _summary(name: str, phase: dict[str, float], t_ns: int) -> Summary:
    median = phase.get("median", phase.get("p50"))
    return Summary(
        t_ns=t_ns,
        name=name,
        count=int(phase["count"]),
        mean_ns=phase.get("avg", 0.0) * 1e3,
        min_ns=phase.get("min", 0.0) * 1e3,
        max_ns=phase.get("max", 0.0) * 1e3,
        std_ns=phase["std"] * 1e3 if "std" in phase else None,
        median_ns=median * 1e3 if median is not None else None,
    )
