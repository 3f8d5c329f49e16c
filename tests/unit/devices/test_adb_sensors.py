"""What phones say of their heat, battery and power: shapes of real ones, invented values."""

from __future__ import annotations

import pytest

from studio.devices.adb.battery import parse_battery
from studio.devices.adb.telemetry import SampleParser
from studio.devices.adb.thermal import ZoneScales, parse_thermalservice
from studio.devices.stream import Sample

DUMP = """IsStatusOverride: false
ThermalEventListeners:
\tcallbacks: 3
Thermal Status: 2
Cached temperatures:
\tTemperature{mValue=12.0, mType=3, mName=skin, mStatus=0}
HAL Ready: true
HAL connection:
\tThermalHAL AIDL 1  connected: yes
Current temperatures from HAL:
\tTemperature{mValue=41.5, mType=3, mName=skin, mStatus=2}
\tTemperature{mValue=-3.25, mType=2, mName=battery, mStatus=0}
\tTemperature{mValue=4012.0, mType=6, mName=vbat, mStatus=0}
\tTemperature{mValue=77.0, mType=8, mName=soc, mStatus=0}
\tTemperature{mValue=NaN, mType=1, mName=gpu, mStatus=0}
\tTemperature{mValue=-127.0, mType=4, mName=usb, mStatus=0}
\tTemperature{mValue=0.0, mType=4, mName=usb2, mStatus=0}
\tTemperature{mValue=0.0, mType=10, mName=tpu, mStatus=0}
\tTemperature{mValue=61.0, mType=7, mName=TYPE_CPU, mStatus=0}
Current cooling devices from HAL:
\tCoolingDevice{mValue=0, mType=2, mName=cpu0}
Temperature static thresholds from HAL:
\tTemperatureThreshold{mType=3, mName=skin, mHotThrottlingThresholds=[NaN, 39.0, 41.0, 43.0, 45.0]}
"""


def test_current_values_are_taken_and_only_temperatures() -> None:
    report = parse_thermalservice(DUMP)
    assert report.status == 2 and not report.is_cached and report.is_hal_ready
    assert report.temperatures == {"skin": 41.5, "battery": -3.25, "tpu": 0.0, "TYPE_CPU": 61.0}


@pytest.mark.parametrize("indent", ["", "  ", "\t\t"])
def test_any_indentation(indent: str) -> None:
    assert parse_thermalservice(DUMP.replace("\t", indent)).temperatures["skin"] == 41.5


def test_cached_values_are_told_as_such() -> None:
    text = DUMP[: DUMP.index("Current temperatures")].replace("HAL Ready: true", "HAL Ready: false")
    report = parse_thermalservice(text)
    assert report.temperatures == {"skin": 12.0}
    assert report.is_cached and not report.is_hal_ready


def test_no_service_is_nothing() -> None:
    report = parse_thermalservice("Can't find service: thermalservice\n")
    assert report.status is None and report.temperatures == {}


def test_units_of_one_phone_are_decided_zone_by_zone_and_kept() -> None:
    scales = ZoneScales()
    first = {"cpu": "25000", "pm": "309", "skin": "31", "quiet": "32636", "cold": "-40"}
    assert {z: scales.celsius(z, raw) for z, raw in first.items()} == pytest.approx(
        {"cpu": 25.0, "pm": 30.9, "skin": 31.0, "quiet": 32.636, "cold": None}
    )
    # the phone got cold: m°C stays m°C though 900 alone would look like d°C
    assert scales.celsius("cpu", "900") == pytest.approx(0.9)
    assert scales.celsius("pm", "99") == pytest.approx(9.9)


@pytest.mark.parametrize("raw", ["-127000", "-274000", "-127", "", "absent", "0", "999999999"])
def test_absent_sensors_and_nonsense_are_no_reading(raw: str) -> None:
    assert ZoneScales().celsius("zone", raw) is None


BATTERY = """Current Battery Service state:
  AC powered: false
  USB powered: {usb}
  Wireless powered: false
  Max charging current: 0
  status: 3
  health: 2
  present: true
  level: 80
  scale: 100
  voltage: 4000
  temperature: 285
  technology: Li-ion
"""


@pytest.mark.parametrize("current", ["-500000", "500000", "-500", "500"])
def test_power_whatever_unit_and_sign_the_phone_uses(current: str) -> None:
    battery = parse_battery(BATTERY.format(usb="false"), current)
    assert battery.power_watts == pytest.approx(2.0)
    assert (battery.percent, battery.celsius, battery.voltage) == (80, 28.5, 4.0)


def test_power_is_refused_while_charging() -> None:
    battery = parse_battery(BATTERY.format(usb="true"), "-500000")
    assert battery.power_watts is None and "charg" in battery.power_reason


@pytest.mark.parametrize("current", ["", "0", "n/a"])
def test_no_current_is_no_power_with_a_reason(current: str) -> None:
    battery = parse_battery(BATTERY.format(usb="false"), current)
    assert battery.power_watts is None and battery.power_reason


def test_missing_temperature_is_absent_not_zero() -> None:
    text = "\n".join(r for r in BATTERY.format(usb="false").splitlines() if "temperature" not in r)
    assert parse_battery(text).celsius is None


def feed(*lines: str) -> list[Sample]:
    parser = SampleParser()
    return [s for line in lines if (s := parser.feed(line)) is not None]


def test_a_block_becomes_a_sample() -> None:
    (sample,) = feed(
        "T\t12.34", "Z\t0:cpu\t45000", "Z\t1:cpu\t46000", "F\tcpu0\t1800000", "C\tcpu0\t2400000",
        "M\t2048", "R\t1024", "D\tbattery", *BATTERY.format(usb="false").splitlines(), "E\tbattery",
        "I\tnow\t-500000", ".",
    )  # fmt: skip
    assert sample.t_ns == 12_340_000_000
    assert sample.temperature_celsius == {"cpu": 45.0, "cpu (zone 1)": 46.0, "battery": 28.5}
    assert (sample.frequency_hz, sample.frequency_cap_hz) == ({"cpu0": 1.8e9}, {"cpu0": 2.4e9})
    assert (sample.free_bytes, sample.rss_bytes) == (2048 * 1024, 1024 * 1024)
    assert sample.power_watts == pytest.approx(2.0)
    assert sample.battery_percent == 80 and sample.unavailable == {}


def test_what_a_phone_hides_is_absent_with_a_reason() -> None:
    (sample,) = feed("T\t1.0", "garbage", "Z\t0:x\tbroken", "F\tcpu0\t", ".")
    assert sample.temperature_celsius == {} and sample.rss_bytes is None and sample.power_watts is None
    assert set(sample.unavailable) == {"temperature", "frequency", "memory of the run", "power"}


def test_a_block_without_a_time_is_no_sample() -> None:
    assert feed("Z\t0:cpu\t45000", ".") == []


def test_reports_asked_seldom_stay_until_the_next() -> None:
    first, second = feed(
        "T\t1", "D\tthermal", *DUMP.splitlines(), "E\tthermal", ".", "T\t2", "Z\t0:skin\t42000", "."
    )
    assert first.thermal_status == second.thermal_status == 2
    assert first.temperature_celsius["skin"] == 41.5
    assert second.temperature_celsius["skin"] == 42.0  # sysfs is newer than the report
