"""Sensors of this machine, read from a made-up `/proc` and `/sys`."""

from __future__ import annotations

from pathlib import Path

from studio.devices.this_computer_sensors import Sensors


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_units_are_brought_to_hertz_celsius_and_bytes(tmp_path: Path) -> None:
    put(tmp_path / "proc/7/status", "Name:\tx\nVmRSS:\t    2048 kB\n")
    put(tmp_path / "proc/meminfo", "MemTotal: 9 kB\nMemAvailable:  4 kB\n")
    put(tmp_path / "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "1800000\n")
    put(tmp_path / "sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq", "3600000\n")
    put(tmp_path / "sys/class/hwmon/hwmon0/name", "coretemp\n")
    put(tmp_path / "sys/class/hwmon/hwmon0/temp1_input", "45500\n")
    put(tmp_path / "sys/class/hwmon/hwmon0/temp1_label", "Package id 0\n")
    put(tmp_path / "sys/class/hwmon/hwmon0/temp2_input", "-128000\n")
    sample = Sensors(7, tmp_path).sample()
    assert sample.rss_bytes == 2048 * 1024
    assert sample.free_bytes == 4096
    assert sample.frequency_hz == {"cpu0": 1.8e9}
    assert sample.frequency_cap_hz == {"cpu0": 3.6e9}
    assert sample.temperature_celsius == {"coretemp Package id 0": 45.5}
    assert set(sample.unavailable) == {"power"}


def test_thermal_zones_serve_where_there_is_no_hwmon(tmp_path: Path) -> None:
    for number, value in enumerate(("31000", "32000")):
        put(tmp_path / f"sys/class/thermal/thermal_zone{number}/type", "acpitz\n")
        put(tmp_path / f"sys/class/thermal/thermal_zone{number}/temp", value)
    assert Sensors(7, tmp_path).sample().temperature_celsius == {
        "acpitz": 31.0,
        "acpitz (thermal_zone1)": 32.0,
    }


def test_what_cannot_be_read_is_absent_with_a_reason(tmp_path: Path) -> None:
    sample = Sensors(7, tmp_path).sample()
    assert (sample.rss_bytes, sample.free_bytes) == (None, None)
    assert sample.temperature_celsius == {} and sample.frequency_hz == {}
    assert set(sample.unavailable) >= {"temperature", "frequency", "frequency cap", "power"}
