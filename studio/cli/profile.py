"""`profile FILE --target T`: how long each node of a file takes on this computer, or on a phone (`--device`).

JSON: `studio.measure.node_profile.NodeProfile`. The profile is kept beside the runs, so that the window
shows it on the graph.
"""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from studio.cli import tables
from studio.cli.layer_options import SHOWN, add_layer_options, inputs_of, interrupting, shown_name
from studio.cli.options import Parser, positive
from studio.cli.output import Output, stopping
from studio.devices.this_computer import DEVICE_ID
from studio.jobs.profile_nodes import RUNS, ProfileNodes
from studio.jobs.profile_nodes import run as profile_nodes
from studio.measure.fact_file import load_fact
from studio.measure.node_profile import NodeLatency, NodeProfile, Statistic


def parser() -> Parser:
    """The options of `profile`."""
    result = Parser(
        "profile",
        summary="Time every node of a model file with the runtime's own profiler, here or on a phone.",
        example="deployment-studio profile net-int8.onnx --target ort/cpu --runs 50\n"
        "deployment-studio profile net.tflite --data samples.npz --json\n"
        "deployment-studio profile net.tflite --target litert/gpu --device 3A091FDJG0012",
    )
    result.add_argument("file", help=".onnx, .ort, .tflite or .pte")
    result.add_argument("--target", default="", metavar="T", help="default: the CPU of the file's runtime")
    result.add_argument(
        "--device", default=DEVICE_ID, metavar="ID", help=f"a phone of `devices` ({DEVICE_ID})"
    )
    result.add_argument("--runs", type=positive, default=RUNS, metavar="N", help=f"inferences ({RUNS})")
    add_layer_options(result)
    return result


def run(options: Namespace, output: Output) -> int:
    """Profiles the file and lists its slowest nodes; 0."""
    spec = ProfileNodes(
        path=str(Path(options.file).absolute()),
        device_id=options.device,
        target=options.target,
        threads=options.threads,
        runs=options.runs,
        inputs=inputs_of(options),
    )
    with stopping(output.report), interrupting(output.report):
        done = profile_nodes(spec, output.report)
    profile = load_fact(Path(done.fact_path), NodeProfile)
    output.result(profile, text_of(profile, top=options.top))
    output.note(f"kept in {done.fact_path}")
    return 0


def text_of(profile: NodeProfile, *, top: int = SHOWN) -> str:
    """The profile for people: what ran, the slowest nodes, and what belongs to no node."""
    plain, profiled = profile.latency_ms, profile.profiled_ms
    ran = (profile.target_ran, profile.runtime, _threads(profile.threads), profile.device)
    said = f"{_told(plain)} over {plain.n} without the profiler"
    cost = f"{_told(profiled)} over {profiled.n}: the profiler adds {_added(profile.overhead)}"
    names = ("p50 ms", "p90 ms") if profile.statistic is Statistic.P50 else ("mean ms",)
    kernels = (
        f"{_ms(profile.sum_ms)} ms in all kernels, {tables.percent(profile.attributed)} of it told by node"
    )
    rows = [
        ("file", profile.file),
        ("ran on", ", ".join(ran)),
        ("inputs", profile.inputs),
        ("inference", said),
        ("profiled", cost),
        ("nodes", kernels),
    ]
    body = [
        (
            shown_name(time.names[0]) + (f" +{len(time.nodes) - 1} fused" if len(time.nodes) > 1 else ""),
            time.op,
            *_cells(time.latency_ms, names),
            "inside" if time.is_inside else tables.percent(time.share),
        )
        for time in profile.nodes[:top]
    ]
    parts = [
        tables.pairs(rows),
        tables.table(("node", "operator", *names, "share"), body, right=f"ll{'r' * len(names)}r"),
    ]
    if len(profile.nodes) > top:
        parts.append(f"and {len(profile.nodes) - top:,} more; --top N or --json shows them")
    if profile.runtime_work:
        work = [
            (
                f"{row.op} ×{row.kernels}",
                *_cells(row.latency_ms, names[:1]),
                tables.percent(row.share),
                row.why,
            )
            for row in profile.runtime_work[:8]
        ]
        parts.append(tables.table(("no node of the file", names[0], "share", "why"), work, right="lrrl"))
    return "\n\n".join([*parts, *(f"note: {note}" for note in profile.notes)])


def _told(latency: NodeLatency) -> str:
    """What is known of whole inferences: the median and more where it is told, else the mean."""
    if latency.p50 is None:
        return f"mean {_ms(latency.mean)} ms"
    p90 = "" if latency.p90 is None else f", p90 {_ms(latency.p90)} ms"
    return f"p50 {_ms(latency.p50)} ms{p90}"


def _cells(latency: NodeLatency, names: tuple[str, ...]) -> list[str]:
    """The figures of these columns; one that is not known is a dash."""
    values = {"p50 ms": latency.p50, "p90 ms": latency.p90, "mean ms": latency.mean}
    return ["–" if (value := values[name]) is None else _ms(value) for name in names]


def _ms(value: float) -> str:
    """A time; profilers count in microseconds, so 0 means less than one."""
    return tables.milliseconds(value) if value >= 0.0005 else "<0.001"


def _threads(count: int) -> str:
    return f"{count} thread" if count == 1 else f"{count} threads"


def _added(fraction: float) -> str:
    return "nothing that can be measured" if fraction < 0.005 else tables.percent(fraction)
