"""Work that takes time: specs, events, the worker process, one file per kind of job.

What lives here: `JobSpec` records and `run(spec, report)` functions (plain, blocking, no Qt), the
events they tell, `worker.py` (the process entry), `runner.py` (the process that runs a model on
this computer). What does not: starting processes from the window (`ui/job_runner.py`).

Contract of a worker: the spec is the first line on stdin; events are JSON lines on a private
descriptor (libraries print to 1 and 2); end of stdin means leave; the last event is Done or
Failed. News by pipe, goods by disk.
"""

from studio.jobs.job import (
    ArtifactMade,
    DevicesChanged,
    Done,
    Event,
    Failed,
    Job,
    Log,
    Measured,
    Progress,
    decode_event,
    encode_event,
)

__all__ = [
    "ArtifactMade",
    "DevicesChanged",
    "Done",
    "Event",
    "Failed",
    "Job",
    "Log",
    "Measured",
    "Progress",
    "decode_event",
    "encode_event",
]
