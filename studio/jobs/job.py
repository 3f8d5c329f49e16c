"""Job kinds, their events, and the function type that every kind implements.

A kind is a module with a spec (a Record) and `run(spec, report) -> Record | None`. `KINDS` is the
literal table `kind -> "module:Spec"`; the module is imported on first use. On the wire a spec is
`{"kind": …, "spec": {…}}`; the result of `run` travels inside `Done.result` as JSON.
"""

from __future__ import annotations

import importlib
from typing import Any, Protocol

import msgspec

from studio.artifact import Artifact
from studio.devices.device import DeviceInfo
from studio.devices.stream import StreamRecord
from studio.errors import DeviceError, InputError, StudioError, ToolError, UnsupportedError
from studio.records import Record

KINDS: dict[str, str] = {}
"""Filled by the literal table below; one line per kind of job."""


class Progress(Record, tag="progress", tag_field="type"):
    """How far: `total` None = not known. `stage` is a word for people."""

    stage: str
    done: int
    total: int | None = None
    unit: str = ""


class Log(Record, tag="log", tag_field="type"):
    """A line for the log panel."""

    text: str


class ArtifactMade(Record, tag="artifact", tag_field="type"):
    """A step left an artifact (or found it in the cache)."""

    step_id: str
    artifact: Artifact
    was_cached: bool = False


class Measured(Record, tag="measured", tag_field="type"):
    """One record of a run's stream, already appended to the run file."""

    device_id: str
    record: StreamRecord


class Serving(Record, tag="serving", tag_field="type"):
    """A job that serves pages on this computer can be reached here, until it is stopped."""

    url: str


class DevicesChanged(Record, tag="devices", tag_field="type"):
    """What is plugged in now, all of it; `problem` says why phones cannot be seen, if they cannot."""

    devices: tuple[DeviceInfo, ...]
    problem: str = ""


class Done(Record, tag="done", tag_field="type"):
    """Last event of a job that ended well; `result` is the kind's own record as JSON."""

    result: msgspec.Raw = msgspec.Raw(b"null")


class Failed(Record, tag="failed", tag_field="type"):
    """Last event of a job that did not: what kind of error, what to do, what to copy."""

    error: str  # "input", "unsupported", "device", "tool", "cancelled", "crashed", "bug"
    message: str
    hint: str = ""
    nodes: tuple[str, ...] = ()
    detail: str = ""  # last lines of the tool, or the traceback of a bug
    exit_code: int = 2


Event = Progress | Log | ArtifactMade | Measured | Serving | DevicesChanged | Done | Failed


class Report(Protocol):
    """What a job tells while it works, and whether it should stop."""

    def progress(self, stage: str, done: int, total: int | None = None, unit: str = "") -> None: ...
    def log(self, text: str) -> None: ...
    def emit(self, event: Event) -> None: ...
    def should_stop(self) -> bool: ...


class Job(Record):
    """A kind and its spec, ready to be sent."""

    kind: str
    spec: msgspec.Raw


_events = msgspec.json.Decoder(Event)
_encoder = msgspec.json.Encoder()


def encode_event(event: Event) -> bytes:
    """One JSON line, newline included."""
    return _encoder.encode(event) + b"\n"


def decode_event(line: bytes | str) -> Event:
    """The event of one line. Raises InputError when it is not one."""
    try:
        return _events.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(
            f"A worker sent something that is not an event: {error}", hint="Report this."
        ) from None


def failed_from(error: StudioError) -> Failed:
    """The event that carries an error across processes."""
    kinds = {InputError: "input", UnsupportedError: "unsupported", DeviceError: "device", ToolError: "tool"}
    return Failed(
        error=next((name for cls, name in kinds.items() if isinstance(error, cls)), "input"),
        message=error.message,
        hint=error.hint,
        nodes=getattr(error, "nodes", ()),
        detail="\n".join(getattr(error, "last_lines", ())),
        exit_code=error.exit_code,
    )


def job_of(spec: Record) -> Job:
    """The job of a spec record. Raises KeyError for a record that is no job."""
    address = f"{type(spec).__module__}:{type(spec).__name__}"
    kind = {v: k for k, v in KINDS.items()}[address]
    return Job(kind=kind, spec=msgspec.Raw(msgspec.json.encode(spec)))


def run_job(job: Job, report: Report) -> Any:
    """Imports the kind's module, decodes the spec and runs it in this process; returns its record."""
    if job.kind not in KINDS:
        raise InputError(f"There is no job “{job.kind}”.", hint=f"Known: {', '.join(KINDS)}.")
    module_name, class_name = KINDS[job.kind].split(":")
    module = importlib.import_module(module_name)
    spec = msgspec.json.decode(job.spec, type=getattr(module, class_name))
    return module.run(spec, report)


KINDS.update(
    {
        "open_graph": "studio.jobs.open_graph:OpenGraph",
        "run_recipe": "studio.jobs.run_recipe:RunRecipe",
        "find_artifacts": "studio.jobs.find_artifacts:FindArtifacts",
        "compare_graphs": "studio.jobs.compare_graphs:CompareGraphs",
        "apply_fix": "studio.jobs.apply_fix:ApplyFix",
        "ask_tool": "studio.jobs.ask_tool:AskTool",
        "profile_nodes": "studio.jobs.profile_nodes:ProfileNodes",
        "compare_layers": "studio.jobs.compare_layers:CompareLayers",
        "apply_measured": "studio.jobs.measured:ApplyMeasured",
        "audit": "studio.jobs.audit:Audit",
        "deploy": "studio.jobs.deploy:Deploy",
        "deploy_project": "studio.jobs.deploy_project:DeployProject",
        "watch_devices": "studio.jobs.watch_devices:WatchDevices",
        "virtual_phone": "studio.jobs.virtual_phone:ServePhone",
        "read_tensor": "studio.jobs.read_tensor:ReadTensor",
        "read_docs": "studio.jobs.read_docs:ReadDocs",
        "serve_netron": "studio.jobs.serve_netron:ServeNetron",
        "write_report": "studio.jobs.write_report:WriteReport",
    }
)
