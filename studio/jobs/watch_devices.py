"""Watching devices: a job that never ends and tells the whole list whenever it changed."""

from __future__ import annotations

from studio.devices.registry import watch_devices
from studio.jobs.job import DevicesChanged, Report
from studio.records import Record


class WatchDevices(Record):
    """Watch until stopped. `connect`: addresses (`host:port`) that adb is asked to connect to first."""

    connect: tuple[str, ...] = ()


def run(spec: WatchDevices, report: Report) -> None:
    """Emits `DevicesChanged` at once and after every change; returns when stopped."""
    last: DevicesChanged | None = None
    for devices, problem in watch_devices(should_stop=report.should_stop, connect=spec.connect):
        changed = DevicesChanged(devices=tuple(devices), problem=problem)
        if changed != last:
            report.emit(changed)
            last = changed
