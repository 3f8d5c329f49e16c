"""The run file: one execution, append-only JSON lines, `NAME.runs/<wall time>-<device>-<id>.jsonl`.

First line `hello`, then every record of the stream as it came, then at most one `compared` (the
error against the float original). What was received is on disk before anybody draws it.

Why flush per line but sync once a second: a crash of the studio loses nothing that was flushed
(the kernel has it); only a power cut can cost the last second. The start, the end and every
fault are synced at once.
"""

from __future__ import annotations

import os
import re
import secrets
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import msgspec
import numpy as np
import numpy.typing as npt

from studio.devices.stream import (
    End,
    Fault,
    Hello,
    Inference,
    Loaded,
    Output,
    Phase,
    Placement,
    Sample,
    StreamRecord,
    Summary,
    Warm,
)
from studio.errors import InputError
from studio.measure.measurement import ErrorFigures
from studio.records import Record

_SYNC_SECONDS = 1.0


class Compared(Record, tag="compared", tag_field="type"):
    """The run's outputs against the float original on the same real inputs."""

    figures: ErrorFigures
    reference: str = ""  # what it was compared with, in words


FileRecord = StreamRecord | Compared

_decoder = msgspec.json.Decoder(FileRecord)
_encoder = msgspec.json.Encoder()


class RunFile:
    """An open run file. Use as a context manager; `append` never rewrites what is there."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self.path = path
        self._file = file
        self._synced = time.monotonic()
        self._has_failed = False

    def append(self, record: FileRecord) -> None:
        """Writes one line. Raises InputError when the disk is full or the folder has gone."""
        try:
            self._file.write(_encoder.encode(record) + b"\n")
            self._file.flush()
            now = time.monotonic()
            if now - self._synced > _SYNC_SECONDS or isinstance(record, Hello | End | Fault | Compared):
                os.fsync(self._file.fileno())
                self._synced = now
        except OSError as error:
            raise self._failed(error) from None

    def close(self) -> None:
        """Closes the file. Raises InputError when its last lines do not fit, unless that was told already."""
        had_failed = self._has_failed
        try:
            self._file.close()  # writes what is buffered: a full disk may show itself only here
        except OSError as error:
            if not had_failed:
                raise self._failed(error) from None

    def _failed(self, error: OSError) -> InputError:
        self._has_failed = True
        return InputError(
            f"Cannot write the run file {self.path}: {error.strerror}.",
            hint="Free some space; what was measured so far is kept.",
        )

    def __enter__(self) -> RunFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def new_run_file(folder: Path, device_id: str, wall_time: str) -> RunFile:
    """A new, empty run file in `folder` (made when absent). `wall_time` is ISO 8601 UTC."""
    stamp = re.sub(r"[^0-9TZ]", "", wall_time.split(".")[0].replace("+00:00", "Z"))
    device = re.sub(r"[^A-Za-z0-9_.]+", "-", device_id).strip("-.")[:40] or "device"
    path = folder / f"{stamp}-{device}-{secrets.token_hex(3)}.jsonl"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return RunFile(path, path.open("xb"))
    except OSError as error:
        raise InputError(
            f"Cannot create the run file {path}: {error.strerror}.", hint="Choose a writable folder."
        ) from None


@dataclass(frozen=True, slots=True)
class Run:
    """One execution as read from its file. `latency_ns` and `t_ns` are int64[n], in stream order."""

    path: Path
    hello: Hello
    loaded: Loaded | None
    placement: Placement | None
    warm: Warm | None
    t_ns: npt.NDArray[np.int64]
    latency_ns: npt.NDArray[np.int64]
    samples: tuple[Sample, ...]
    phases: tuple[Phase, ...]
    summaries: tuple[Summary, ...]
    outputs: tuple[Output, ...]
    faults: tuple[Fault, ...]
    end: End | None
    compared: Compared | None

    @property
    def is_complete(self) -> bool:
        """Whether it ran to its own end; a cut or failed run is shown, but never as a result."""
        return self.end is not None and self.end.reason != "failed"


@dataclass(slots=True)
class RunBuilder:
    """Collects the records of a stream into a Run; for reading a file and for a live view alike."""

    path: Path
    hello: Hello | None = None
    loaded: Loaded | None = None
    placement: Placement | None = None
    warm: Warm | None = None
    end: End | None = None
    compared: Compared | None = None
    t_ns: list[int] = field(default_factory=list)
    latency_ns: list[int] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    phases: list[Phase] = field(default_factory=list)
    summaries: list[Summary] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)

    def add(self, record: FileRecord) -> None:
        """Takes the next record."""
        match record:
            case Inference():
                self.t_ns.append(record.t_ns)
                self.latency_ns.append(record.latency_ns)
            case Sample():
                self.samples.append(record)
            case Phase():
                self.phases.append(record)
            case Summary():
                self.summaries.append(record)
            case Output():
                self.outputs.append(record)
            case Fault():
                self.faults.append(record)
            case Hello():
                self.hello = self.hello or record
            case Loaded():
                self.loaded = record
            case Placement():
                self.placement = record
            case Warm():
                self.warm = record
            case End():
                self.end = record
            case Compared():
                self.compared = record

    def build(self) -> Run:
        """The run so far. Raises InputError when not even a `hello` came."""
        if self.hello is None:
            raise InputError(
                f"{self.path} is not a run file: it does not begin with a hello record.",
                hint="Run files end in .jsonl and live in a project's .runs folder.",
            )
        return Run(
            path=self.path,
            hello=self.hello,
            loaded=self.loaded,
            placement=self.placement,
            warm=self.warm,
            t_ns=np.array(self.t_ns, np.int64),
            latency_ns=np.array(self.latency_ns, np.int64),
            samples=tuple(self.samples),
            phases=tuple(self.phases),
            summaries=tuple(self.summaries),
            outputs=tuple(self.outputs),
            faults=tuple(self.faults),
            end=self.end,
            compared=self.compared,
        )


def read_run(path: Path) -> Run:
    """The run of a file. A last line that was cut is left out; a broken line before it is an error.

    Raises InputError naming the file and the line.
    """
    builder = RunBuilder(path)
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if not line.endswith(b"\n"):
                    break  # the writer died inside this line; all before it is whole
                if number == 1 and not line.startswith(b"{"):
                    break
                try:
                    builder.add(_decoder.decode(line))
                except (msgspec.DecodeError, UnicodeDecodeError) as error:
                    raise InputError(
                        f"{path}, line {number}: {error}", hint="Restore the file or delete this run."
                    ) from None
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror}.", hint="Check the path.") from None
    return builder.build()


def list_runs(folder: Path) -> list[Path]:
    """The run files of a folder, oldest first (the name begins with the wall time)."""
    return sorted(folder.glob("*.jsonl")) if folder.is_dir() else []
