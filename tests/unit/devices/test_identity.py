"""Who a phone is: properties, and the table of systems on chip."""

from __future__ import annotations

import pytest

from studio.devices.adb.identity import describe, parse_properties
from studio.devices.device import DeviceInfo, DeviceKind, DeviceState
from studio.devices.soc import identify_soc, soc_table

INFO = DeviceInfo(id="S", kind=DeviceKind.ANDROID, name="S", state=DeviceState.READY)


def test_properties_may_span_lines_and_end_in_cr_lf() -> None:
    text = "[ro.a]: [one]\r\n[ro.b]: [two\r\nlines]\r\n[ro.empty]: []\r\n"
    assert parse_properties(text) == {"ro.a": "one", "ro.b": "two\nlines", "ro.empty": ""}


@pytest.mark.parametrize(
    ("properties", "model", "title"),
    [
        ({"ro.soc.model": "SM8650", "ro.soc.manufacturer": "QTI"}, "SM8650", "Snapdragon 8 Gen 3"),
        ({"ro.soc.model": "sm8650"}, "sm8650", "Snapdragon 8 Gen 3"),
        ({"ro.soc.model": "Tensor G3", "ro.board.platform": "zuma"}, "Tensor G3", "Tensor G3"),
        ({"ro.soc.model": "XYZ1234", "ro.board.platform": "zuma"}, "XYZ1234", ""),
        ({"ro.board.platform": "nobody-knows", "ro.hardware": "qcom"}, "nobody-knows", ""),
        ({}, "", ""),
    ],
)
def test_the_chip_is_what_the_phone_says_and_never_a_guess(
    properties: dict[str, str], model: str, title: str
) -> None:
    soc = identify_soc(properties)
    assert (soc.model, soc.title) == (model, title)


def test_the_product_model_does_not_count() -> None:
    assert identify_soc({"ro.product.model": "Pixel 8"}).model == ""


def test_a_name_that_several_rows_have_chooses_none() -> None:
    names: dict[str, list[str]] = {}
    for row in soc_table():
        for name in row.platforms:
            names.setdefault(name.lower(), []).append(row.code)
    shared = [name for name, codes in names.items() if len(codes) > 1]
    assert shared, "the table is expected to have platforms of several chips"
    assert identify_soc({"ro.board.platform": shared[0]}).row is None


def test_every_row_has_a_source() -> None:
    assert len(soc_table()) > 150
    assert all(row.code and row.vendor and row.source for row in soc_table())


def test_a_phone_is_described_from_what_it_says() -> None:
    properties = {
        "ro.product.manufacturer": "samsung", "ro.product.model": "SM-V926B",
        "ro.build.version.sdk": "35", "ro.build.version.release": "15",
        "ro.product.cpu.abi": "arm64-v8a", "ro.soc.model": "SM8650",
    }  # fmt: skip
    info = describe(
        INFO, properties, "MemTotal:       11534336 kB\n",
        "/sys/devices/system/cpu/cpu0\n/sys/devices/system/cpu/cpu1\n/sys/devices/system/cpu/cpu10\n",
    )  # fmt: skip
    assert (info.name, info.os_version, info.android_level) == ("Samsung SM-V926B", "Android 15", 35)
    assert (info.abi, info.cpu_count, info.ram_bytes) == ("arm64-v8a", 3, 11534336 * 1024)
    assert not info.is_simulated


def test_a_phone_that_says_nothing_stays_unknown() -> None:
    info = describe(INFO, {}, "", "")
    assert (info.name, info.soc, info.android_level, info.cpu_count) == ("S", "", None, None)


def test_a_simulated_phone_is_marked() -> None:
    info = describe(INFO, {"ro.deployment_studio.simulated": "1"}, "", "")
    assert info.is_simulated and info.kind is DeviceKind.VIRTUAL_PHONE
