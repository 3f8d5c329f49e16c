"""What the live view costs: share of one core while an hour of data is there and more arrives.

    python tests/bench/bench_live_view.py [--seconds 10] [--series 20] [--hz 100]

Fills a run with an hour of samples, shows it (software rendering, 1440 × 260), goes on feeding at
the same rate, and prints CPU seconds per wall second, and the memory that the hour took.
"""

from __future__ import annotations

import argparse
import os
import resource
import time

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from studio.devices import Inference, Sample
from studio.measure.live import LiveRun
from studio.ui import theme
from studio.ui.theme import ThemeChoice
from studio.ui.views.devices.live_view import LiveView


def feed(run: LiveRun, i: int, hz: float, series: int) -> None:
    """One moment: an inference and a sample of the other series."""
    t_ns = int(i / hz * 1e9)
    wobble = (i * 2654435761 % 1000) / 1000
    run.add(Inference(i=i, t_ns=t_ns, latency_ns=int(12e6 + 1e6 * wobble)))
    sensors = {f"zone{k}": 35.0 + k + wobble for k in range((series - 2) // 2)}
    clocks = {f"cpu{k}": 1e9 + 1e8 * k + 1e7 * wobble for k in range(series - 2 - len(sensors))}
    run.add(Sample(t_ns=t_ns, temperature_celsius=sensors, frequency_hz=clocks, rss_bytes=100_000_000 + i))


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--series", type=int, default=20)
    parser.add_argument("--hz", type=float, default=100.0)
    options = parser.parse_args()
    app = QApplication([])
    theme.apply(app, ThemeChoice.LIGHT)
    view = LiveView()
    view.resize(1440, 260)
    view.show()
    app.processEvents()
    before_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    run = LiveRun("bench")
    count = int(3600 * options.hz)
    for i in range(count):
        feed(run, i, options.hz, options.series)
    hour_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 - before_mb
    for name, whole in (("last minute", False), ("whole hour", True)):
        view.set_run(run)
        if whole:
            view._on_dragged(0.0, run.duration_s)
        state = {"i": count}

        def tick(state: dict[str, int] = state, whole: bool = whole) -> None:
            for _ in range(5):
                feed(run, state["i"], options.hz, options.series)
                state["i"] += 1
            if whole:
                view._on_dragged(0.0, run.duration_s)

        timer = QTimer()
        timer.timeout.connect(tick)
        timer.start(int(5000 / options.hz))
        QTimer.singleShot(int(options.seconds * 1000), app.quit)
        wall, cpu = time.monotonic(), time.process_time()
        app.exec()
        timer.stop()
        wall, cpu = time.monotonic() - wall, time.process_time() - cpu
        rate = (state["i"] - count) / wall
        print(
            f"{name}: {100 * cpu / wall:.1f} % of one core at {rate:.0f} samples/s × {options.series} series"
        )
        count = state["i"]
    print(f"an hour of {options.series} series: {hour_mb:.0f} MB")


if __name__ == "__main__":
    main()
