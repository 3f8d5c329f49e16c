"""Recorder: what a device says goes to the run file first, and to whoever looks second."""

from __future__ import annotations

from pathlib import Path

import msgspec

from studio.devices.stream import Inference, Output, Placement, StreamRecord, Summary, Warm
from studio.jobs.job import Measured, Report
from studio.measure.run_file import FileRecord, RunBuilder, RunFile, new_run_file


class Recorder:
    """Appends every record to the run file, then tells it.

    The file is made when the model has run once, or when the device says that it never will: a model
    that fails otherwise leaves nothing behind.
    """

    def __init__(self, folder: Path, report: Report, *, device_id: str, live_interval_ms: float) -> None:
        self.builder = RunBuilder(folder)
        self.device_id = device_id
        self._live_interval_ns = live_interval_ms * 1e6
        self._folder = folder
        self._report = report
        self._file: RunFile | None = None
        self._waiting: list[FileRecord] = []
        self._told_ns = 0

    def take(self, record: StreamRecord) -> None:
        """Keeps a record of the device and tells it, inferences at most once per live interval."""
        if isinstance(record, Output):
            # the file is shared with others: no path of this machine in it
            record = msgspec.structs.replace(record, path=Path(record.path).name)
        self.keep(record)
        if isinstance(record, Inference):
            if record.t_ns - self._told_ns < self._live_interval_ns:
                return
            self._told_ns = record.t_ns
        self._report.emit(Measured(device_id=self.device_id, record=record))

    def keep(self, record: FileRecord) -> None:
        """Appends a record to the file, once there is one. Raises InputError when it cannot be written."""
        self.builder.add(record)
        self._waiting.append(record)
        hello = self.builder.hello
        is_fact = isinstance(record, Warm | Inference | Summary) or (
            isinstance(record, Placement) and bool(record.refused)
        )
        if self._file is None and is_fact and hello is not None:
            self._file = new_run_file(self._folder, self.device_id, hello.wall_time)
            self.builder.path = self._file.path
        if self._file is not None:
            for waiting in self._waiting:
                self._file.append(waiting)
            self._waiting.clear()

    @property
    def path(self) -> Path | None:
        """The run file, None before the model has run."""
        return self._file.path if self._file is not None else None

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()
