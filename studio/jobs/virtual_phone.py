"""A virtual phone as a job: it is there until the job is stopped, and adb knows it."""

from __future__ import annotations

from studio.devices.virtual_phone import VirtualPhone, serve
from studio.jobs.job import Report
from studio.records import Record


class ServePhone(Record):
    """Serve a phone of this profile; `port` 0 = any free one."""

    profile: str = "tensor-g3"
    port: int = 0


def run(spec: ServePhone, report: Report) -> None:
    """Serves until stopped; whoever watches devices sees it come and go.

    Raises InputError for an unknown profile, DeviceError when a program it needs is missing.
    """
    report.progress("starting the virtual phone", 0)

    def on_ready(phone: VirtualPhone) -> None:
        report.progress("serving the virtual phone", 1, 1)
        report.log(f"{phone.profile.title} (simulated) is connected as {phone.serial}.")

    serve(spec.profile, spec.port, on_ready=on_ready, should_stop=report.should_stop)
