"""The records of a run, in time order, one JSON line each; the same on a phone and here.

`t_ns` is the device's monotonic clock. A stream starts with `hello` and, when it was not cut,
closes with `end`; a stream without `end` is valid up to its last whole line.
"""

from __future__ import annotations

import msgspec

from studio.errors import InputError
from studio.records import Record


class Hello(Record, tag="hello", tag_field="type"):
    """First line: who runs what. `wall_time` is ISO 8601 UTC."""

    runner: str
    runtime: str
    target: str
    device_id: str
    wall_time: str
    is_simulated: bool = False
    artifact_sha256: str = ""
    artifact_format: str = ""
    artifact_path: str = ""
    settings: dict[str, str | int | float | bool | None] = {}
    device: dict[str, str | int | float | bool | None] = {}
    tool_versions: dict[str, str] = {}
    schema: int = 1


class Loaded(Record, tag="loaded", tag_field="type"):
    """The runtime holds the model. `target_ran` names what really runs, with evidence.

    `load_ns` is None when the runner does not tell it.
    """

    t_ns: int
    load_ns: int | None
    target_ran: str
    evidence: str = ""
    delegated_nodes: int | None = None
    total_nodes: int | None = None
    rss_bytes: int | None = None


class PlacedNode(Record):
    """A node of the artifact: whether the target that was asked for got it.

    `index`: in the file's main graph, −1 when the runtime tells names only.
    """

    name: str
    op: str
    is_taken: bool
    index: int = -1


class Placement(Record, tag="placement", tag_field="type"):
    """Where the runtime put the artifact's nodes, as far as it says so.

    `is_whole`: no node could go anywhere but to the target. `refused`: why the runtime on this device does
    not run the file at all.
    """

    t_ns: int
    is_whole: bool = False
    nodes: tuple[PlacedNode, ...] = ()
    refused: str = ""


class Warm(Record, tag="warm", tag_field="type"):
    """Warm-up is over."""

    t_ns: int
    runs: int
    latency_ns: int  # of the last warm-up inference


class Inference(Record, tag="run", tag_field="type"):
    """One timed inference."""

    i: int
    t_ns: int
    latency_ns: int
    cpu: int | None = None


class Sample(Record, tag="sample", tag_field="type"):
    """Telemetry at one moment; an absent value is absent, never 0."""

    t_ns: int
    temperature_celsius: dict[str, float] = {}
    frequency_hz: dict[str, float] = {}
    frequency_cap_hz: dict[str, float] = {}
    rss_bytes: int | None = None
    free_bytes: int | None = None
    power_watts: float | None = None
    battery_percent: float | None = None
    thermal_status: int | None = None
    unavailable: dict[str, str] = {}  # what → why


class Summary(Record, tag="summary", tag_field="type"):
    """A phase of a runner that cannot tell single inferences: its own figures, and no curve."""

    t_ns: int
    name: str
    count: int
    mean_ns: float
    min_ns: float
    max_ns: float
    std_ns: float | None = None
    median_ns: float | None = None


class Profiled(Record, tag="profiled", tag_field="type"):
    """The runtime's own profile of single nodes, from inferences of their own, kept in the folder `path`.

    `form`: "benchmark_model" (`op_profile.txt`, a table of means) or "onnxruntime" (`trace.json`, and
    `optimized.onnx` where the runtime changed the graph).
    """

    t_ns: int
    form: str
    path: str
    runs: int


class Phase(Record, tag="phase", tag_field="type"):
    """Something began: "push", "load", "warm-up", "measure", "throttled", "link lost", …"""

    t_ns: int
    name: str
    detail: str = ""


class Output(Record, tag="output", tag_field="type"):
    """An output tensor of one inference on the real inputs, raw little-endian bytes in `path`."""

    t_ns: int
    name: str
    dtype: str
    shape: tuple[int, ...]
    path: str
    index: int = 0  # which input sample


class Fault(Record, tag="error", tag_field="type"):
    """What went wrong, in words, and the next step; `error` is the kind, as in a job's Failed."""

    t_ns: int
    message: str
    hint: str = ""
    error: str = "tool"  # "input", "unsupported", "device", "tool", "bug"
    nodes: tuple[str, ...] = ()
    detail: str = ""  # last lines of the tool


class End(Record, tag="end", tag_field="type"):
    """Last line. `reason`: "done", "stopped", "failed"."""

    t_ns: int
    reason: str
    runs: int
    peak_rss_bytes: int | None = None


StreamRecord = (
    Hello | Loaded | Placement | Warm | Inference | Sample | Summary | Profiled | Phase | Output | Fault | End
)

_decoder = msgspec.json.Decoder(StreamRecord)
_encoder = msgspec.json.Encoder()


def encode_record(record: StreamRecord) -> bytes:
    """One JSON line, newline included."""
    return _encoder.encode(record) + b"\n"


def decode_record(line: bytes | str, *, where: str = "run stream") -> StreamRecord:
    """The record of one line. Raises InputError when it is not one."""
    try:
        return _decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{where}: {error}", hint="The line was cut or is not a run record.") from None
