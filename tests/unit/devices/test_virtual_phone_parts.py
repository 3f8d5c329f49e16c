"""The virtual phone's parts without a phone: heat, profiles, packets, faults."""

from __future__ import annotations

import asyncio
import os
import socket
from pathlib import Path

import pytest

from studio.devices.adb.thermal import parse_thermalservice
from studio.devices.virtual_phone.faults import Faults
from studio.devices.virtual_phone.heat import Heat
from studio.devices.virtual_phone.packets import CNXN, WRTE, Packet, read_packet
from studio.devices.virtual_phone.peer import owner_of
from studio.devices.virtual_phone.profile import load_profile, profile_ids
from studio.errors import InputError


def test_it_warms_up_throttles_and_cools() -> None:
    heat = Heat(load_profile("tensor-g3"))
    cool = heat.celsius["VIRTUAL-SKIN"]
    highest = heat.clocks_khz()[-1][1]
    for _ in range(600):
        heat.step(1.0, 1.0)
    assert heat.status >= 1 and heat.celsius["VIRTUAL-SKIN"] > 39
    assert heat.clocks_khz()[-1][1] < highest
    for _ in range(1200):
        heat.step(0.0, 1.0)
    assert heat.status == 0
    assert heat.celsius["VIRTUAL-SKIN"] == pytest.approx(cool, abs=0.5)
    assert heat.clocks_khz()[-1][1] == highest


def test_its_report_is_read_by_the_parser_for_real_phones() -> None:
    for profile in map(load_profile, profile_ids()):
        heat = Heat(profile)
        heat.set_skin(profile.throttle_celsius[1] + 0.1)
        report = parse_thermalservice(heat.thermal_dump())
        assert report.status == 2
        known = {z.name: z for z in profile.zones if z.hal_type is not None and not z.raw}
        assert report.temperatures.keys() == known.keys()


@pytest.mark.parametrize("seconds", [0.1, 0.5, 5.0])
def test_heat_does_not_depend_on_the_step(seconds: float) -> None:
    heat = Heat(load_profile("android-7"))
    for _ in range(round(30 / seconds)):
        heat.step(0.3, seconds)
    assert heat.celsius["quiet_therm"] == pytest.approx(29.86, abs=0.02)


def test_profiles_have_an_android_7_a_tensor_and_a_snapdragon() -> None:
    assert {"android-7", "tensor-g3", "snapdragon-8gen3"} <= set(profile_ids())
    for profile in map(load_profile, profile_ids()):
        assert profile.skin_zone in {z.name for z in profile.zones}
        assert list(profile.throttle_celsius) == sorted(profile.throttle_celsius)


def test_an_unknown_profile_names_the_known_ones(tmp_path: object) -> None:
    with pytest.raises(InputError, match="no phone profile") as raised:
        load_profile("pixel-99")
    assert "tensor-g3" in raised.value.hint
    with pytest.raises(InputError, match="Cannot read"):
        load_profile("nowhere/phone.json")


def read(data: bytes) -> Packet:
    async def work() -> Packet:
        reader = asyncio.StreamReader()
        reader.feed_data(data)
        reader.feed_eof()
        return await read_packet(reader)

    return asyncio.run(work())


def test_packets_come_back() -> None:
    for packet in (Packet(CNXN, 1, 2, b"device::x"), Packet(WRTE, 7, 8), Packet(WRTE, 7, 8, bytes(70_000))):
        assert read(packet.encode()) == packet


@pytest.mark.parametrize("data", [b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"\xff" * 24])
def test_what_is_not_adb_is_refused(data: bytes) -> None:
    with pytest.raises(ConnectionError):
        read(data)


def test_a_cut_comes_after_so_many_bytes_and_once() -> None:
    faults = Faults(cut_after=100, cut_seconds=9)
    assert [faults.count_sent(60), faults.count_sent(60), faults.count_sent(60)] == [False, True, False]
    assert faults.refuses


def test_the_owner_of_a_connection_is_known() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as client,
    ):
        assert owner_of(client.getsockname()[1]) == os.getuid()


def test_somebody_elses_connection_and_none_at_all_are_told_apart(tmp_path: Path) -> None:
    table = tmp_path / "tcp"
    table.write_text(
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
        "   0: 0100007F:1F90 0100007F:D431 01 00000000:00000000 00:00000000 00000000  4242        0 1 1 0\n"
        "   1: 0200007F:1F91 0100007F:D431 01 00000000:00000000 00:00000000 00000000  4242        0 1 1 0\n"
    )
    assert owner_of(8080, table) == 4242
    assert owner_of(8081, table) is None
    assert owner_of(8080, tmp_path / "absent") is None
