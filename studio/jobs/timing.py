"""The timed loop of the runner on this computer. `tests/bench/bench_runner.py` holds it to a bare loop.

Between inferences nothing is written for up to `_FLUSH_NS`: the reader of the pipe would wake on
another core and take part of the cache.
"""

from __future__ import annotations

import ctypes
import gc
import time
from collections.abc import Callable

from studio.devices.device import RunMode, RunSettings
from studio.devices.stream import Inference

_FLUSH_NS = 50_000_000


def measure(
    invoke: Callable[[], None],
    settings: RunSettings,
    send: Callable[..., None],
    should_stop: Callable[[], bool],
) -> int:
    """The timed loop; returns the number of inferences. Only `invoke` is inside the timed span.

    Ends when both `runs` and `seconds` are reached. With cadence the next inference is due a
    whole number of intervals after the first; a late one starts at once and the rhythm is kept.
    """
    clock, cpu_now = time.perf_counter_ns, _cpu_reader()
    interval = int(settings.interval_ms * 1e6) if settings.mode is RunMode.CADENCE else 0
    pending: list[Inference] = []
    i = 0
    was_collecting = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        first = flushed = clock()
        until = first + int(settings.seconds * 1e9)
        while not should_stop():
            begin = clock()
            invoke()
            end = clock()
            pending.append(Inference(i=i, t_ns=begin, latency_ns=end - begin, cpu=cpu_now()))
            i += 1
            if end - flushed > _FLUSH_NS or interval:
                send(*pending)
                pending.clear()
                flushed = clock()
            if i >= settings.runs and end >= until:
                break
            if interval:
                due = first + ((clock() - first) // interval + 1) * interval
                while (left := due - clock()) > 0 and not should_stop():
                    time.sleep(min(left / 1e9, 0.05))
        send(*pending)
    finally:
        if was_collecting:
            gc.enable()
    return i


def _cpu_reader() -> Callable[[], int | None]:
    """`sched_getcpu` where the C library has it."""
    try:
        function = ctypes.CDLL(None).sched_getcpu
    except (OSError, AttributeError, TypeError):
        return lambda: None
    return lambda: int(function())
