"""Samples of a phone during a run: one shell, one loop on the phone, raw values.

The loop prints blocks of `key<TAB>value` lines; units are decided here. Why one shell: each costs two
connections and some 30 ms; 28 zones by 28 shells took 1.4 s. The loop leaves when its pipe closes.
"""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Callable

from studio.devices.adb.battery import Battery, parse_battery
from studio.devices.adb.server import AdbServer
from studio.devices.adb.shell import STDOUT, Shell, open_shell, quote
from studio.devices.adb.thermal import ThermalReport, ZoneScales, parse_thermalservice
from studio.devices.stream import Sample
from studio.errors import StudioError

_DUMPSYS_SECONDS = 5.0
_LOOP = r"""
n=0
say() { read -r v < "$3" && echo "$1	$2	$v"; }
field() { while read -r k v _; do case $k in $3:) echo "$1	$v"; break;; esac; done < "$2"; }
while :; do
  read -r up _ < /proc/uptime; echo "T	$up"
  {
    for z in /sys/class/thermal/thermal_zone*; do
      read -r t < $z/type && say Z "${z##*zone}:$t" $z/temp
    done
    for c in /sys/devices/system/cpu/cpu[0-9]*; do
      say F ${c##*/} $c/cpufreq/scaling_cur_freq; say C ${c##*/} $c/cpufreq/scaling_max_freq
    done
    field M /proc/meminfo MemAvailable
    read -r p < PID_FILE && field R /proc/$p/status VmRSS
    if [ $n -le 0 ]; then
      n=EVERY
      echo "D	thermal"; dumpsys thermalservice; echo; echo "E	thermal"
      echo "D	battery"; dumpsys battery; echo; echo "E	battery"
      say I now /sys/class/power_supply/battery/current_now
    fi
  } 2>/dev/null
  n=$((n - 1))
  echo "."
  sleep PERIOD || exit
done
"""


class Telemetry:
    """A thread that follows the phone's loop and hands every sample to `on_sample`."""

    def __init__(
        self, server: AdbServer, serial: str, *, pid_file: str, hz: float, on_sample: Callable[[Sample], None]
    ) -> None:
        period = 1.0 / min(max(hz, 0.1), 10.0)
        self._command = (
            _LOOP.replace("PID_FILE", quote(pid_file))
            .replace("EVERY", str(max(1, round(_DUMPSYS_SECONDS / period))))
            .replace("PERIOD", f"{period:.3f}")
        )
        self._server, self._serial, self._on_sample = server, serial, on_sample
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ends the loop on the phone and waits for the thread."""
        self._stop.set()
        self._thread.join(timeout=5.0)

    def _follow(self) -> None:
        parser = SampleParser()
        while not self._stop.is_set():
            try:
                with open_shell(self._server, self._serial, self._command, timeout=0.5) as shell:
                    self._read(shell, parser)
            except StudioError:
                pass  # the link is lost: the run's own reader says so; try again here
            self._stop.wait(0.5)

    def _read(self, shell: Shell, parser: SampleParser) -> None:
        text = b""
        while not self._stop.is_set():
            try:
                for channel, data in shell.packets():
                    if self._stop.is_set():
                        return
                    if channel == STDOUT:
                        *lines, text = (text + data).split(b"\n")
                        for line in lines:
                            sample = parser.feed(line.decode("utf-8", "replace").rstrip("\r"))
                            if sample is not None:
                                self._on_sample(sample)
                return
            except TimeoutError:
                continue


class SampleParser:
    """Collects the loop's lines into samples."""

    def __init__(self) -> None:
        self._scales = ZoneScales()
        self._thermal: ThermalReport | None = None
        self._battery: Battery | None = None
        self._dumps: dict[str, list[str]] = {}
        self._open = ""
        self._current = ""
        self._reset()

    def _reset(self) -> None:
        self._t_ns: int | None = None
        self._zones: dict[str, float] = {}
        self._clocks: dict[str, float] = {}
        self._caps: dict[str, float] = {}
        self._free: int | None = None
        self._rss: int | None = None

    def feed(self, line: str) -> Sample | None:
        """Takes a line; the sample when it was a block's last. Lines that are no rows are left out."""
        if self._open:
            if line == f"E\t{self._open}":
                self._close_dump()
            else:
                self._dumps[self._open].append(line)
            return None
        if line == ".":
            sample = self._sample()
            self._reset()
            return sample
        key, _, value = line.partition("\t")
        with contextlib.suppress(ValueError):  # what is no number is a value we do not have
            self._row(key, value)
        return None

    def _row(self, key: str, value: str) -> None:
        if key == "T":
            self._t_ns = int(float(value) * 1e9)
        elif key == "Z":
            name, _, raw = value.rpartition("\t")
            celsius = self._scales.celsius(name, raw)
            if celsius is not None:
                number, _, label = name.partition(":")
                self._zones[label if label not in self._zones else f"{label} (zone {number})"] = celsius
        elif key in "FC" and "\t" in value:
            name, _, raw = value.partition("\t")
            (self._clocks if key == "F" else self._caps)[name] = float(raw) * 1e3
        elif key == "M":
            self._free = int(value) * 1024
        elif key == "R":
            self._rss = int(value) * 1024
        elif key == "I":
            self._current = value.rpartition("\t")[2]
            if self._battery is not None:
                self._battery = parse_battery("\n".join(self._dumps.get("battery", [])), self._current)
        elif key == "D":
            self._open = value
            self._dumps[value] = []

    def _close_dump(self) -> None:
        text = "\n".join(self._dumps[self._open])
        if self._open == "thermal" and re.search(r"Thermal Status|Temperature\{", text):
            self._thermal = parse_thermalservice(text)
        elif self._open == "battery" and "level" in text:
            self._battery = parse_battery(text, self._current)
        self._open = ""

    def _sample(self) -> Sample | None:
        if self._t_ns is None:
            return None
        thermal, battery = self._thermal, self._battery
        unavailable: dict[str, str] = {}
        temperatures = dict(self._zones)
        if thermal is not None and thermal.temperatures and not thermal.is_cached:
            # the service was asked some seconds ago; its sensors are newer where sysfs has them too
            temperatures = {n: self._zones.get(n, c) for n, c in thermal.temperatures.items()}
        elif thermal is not None and thermal.is_cached and not temperatures:
            unavailable["temperature"] = "the phone shows only cached values, which may be half an hour old"
        if battery is not None and battery.celsius is not None:
            temperatures.setdefault("battery", battery.celsius)
        if not temperatures:
            unavailable.setdefault("temperature", "this phone shows no sensor to adb")
        if not self._clocks:
            unavailable["frequency"] = "this phone does not show its clocks to adb"
        if self._rss is None:
            unavailable["memory of the run"] = "the runner is not running yet, or hides its memory"
        if battery is None or battery.power_watts is None:
            unavailable["power"] = battery.power_reason if battery is not None else "no battery report"
        return Sample(
            t_ns=self._t_ns,
            temperature_celsius=temperatures,
            frequency_hz=self._clocks,
            frequency_cap_hz=self._caps,
            rss_bytes=self._rss,
            free_bytes=self._free,
            power_watts=battery.power_watts if battery is not None else None,
            battery_percent=battery.percent if battery is not None else None,
            thermal_status=thermal.status if thermal is not None else None,
            unavailable=unavailable,
        )
