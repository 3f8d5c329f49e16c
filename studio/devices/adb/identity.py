"""Who a phone is: one shell, its properties, and the table of systems on chip."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from studio.devices.adb.listing import AdbEntry, state_hint
from studio.devices.adb.server import AdbServer
from studio.devices.adb.shell import run_shell
from studio.devices.device import DeviceInfo, DeviceKind, DeviceState
from studio.devices.soc import identify_soc
from studio.errors import StudioError

SIMULATED_PROPERTY = "ro.deployment_studio.simulated"
"""Set by the virtual phone: everything measured there is marked as simulated."""

_PROPERTY = re.compile(r"^\[([^\]\n]+)\]: \[(.*?)\]$", re.MULTILINE | re.DOTALL)
_COMMAND = "getprop; echo ===; cat /proc/meminfo; echo ===; ls -1d /sys/devices/system/cpu/cpu[0-9]*"


def parse_properties(text: str) -> dict[str, str]:
    """`[key]: [value]` rows of `getprop`; a value may span lines."""
    return dict(_PROPERTY.findall(text.replace("\r\n", "\n")))


def identify(server: AdbServer, entry: AdbEntry) -> DeviceInfo:
    """The phone of a list entry. Never raises: what cannot be asked stays unknown, with the hint."""
    kind = DeviceKind.ANDROID
    name = entry.model or entry.product or entry.serial
    info = DeviceInfo(
        id=entry.serial, kind=kind, name=name, state=entry.state,
        state_hint=state_hint(entry.state, entry.raw_state),
    )  # fmt: skip
    if entry.state is not DeviceState.READY:
        return info
    try:
        said = run_shell(server, entry.serial, _COMMAND, timeout=8.0).stdout
    except StudioError as error:
        return msgspec.structs.replace(info, state=DeviceState.OFFLINE, state_hint=str(error))
    properties, memory, cpus = (*said.split("===\n", 2), "", "")[:3]
    return describe(info, parse_properties(properties), memory, cpus)


def describe(info: DeviceInfo, properties: dict[str, str], meminfo: str, cpus: str) -> DeviceInfo:
    """The info filled from what the phone said."""
    soc = identify_soc(properties)
    is_simulated = properties.get(SIMULATED_PROPERTY) == "1"
    maker, model = properties.get("ro.product.manufacturer", ""), properties.get("ro.product.model", "")
    name = model if maker.lower() in model.lower() else f"{maker[:1].upper()}{maker[1:]} {model}".strip()
    level = properties.get("ro.build.version.sdk", "")
    release = properties.get("ro.build.version.release", "")
    total = re.search(r"^MemTotal:\s+(\d+) kB", meminfo, re.MULTILINE)
    count = len(re.findall(r"/cpu\d+\s*$", cpus, re.MULTILINE))
    return msgspec.structs.replace(
        info,
        kind=DeviceKind.VIRTUAL_PHONE if is_simulated else DeviceKind.ANDROID,
        name=name or info.name,
        soc=soc.model,
        soc_marketing=soc.title,
        os_version=f"Android {release}" if release else "",
        android_level=int(level) if level.isdigit() else None,
        abi=properties.get("ro.product.cpu.abi", ""),
        cpu_count=count or None,
        ram_bytes=int(total.group(1)) * 1024 if total else None,
        driver=_vendor_build(properties),
        is_simulated=is_simulated,
    )


def _vendor_build(properties: dict[str, str]) -> str:
    """ "vendor build ID/NUMBER": the drivers of GPU, DSP and NPU come with the vendor's image, by no number
    of their own that a shell may read. From a fingerprint `brand/product/device:release/ID/NUMBER:type/keys`
    (Android's Build.java)."""
    for key in ("ro.vendor.build.fingerprint", "ro.build.fingerprint"):
        parts = properties.get(key, "").split(":")
        if len(parts) == 3 and parts[1].count("/") == 2:
            return f"vendor build {parts[1].partition('/')[2]}"
    return ""


def identify_all(server: AdbServer, entries: Iterable[AdbEntry]) -> list[DeviceInfo]:
    """Every entry as a device, in order; one phone over USB and Wi-Fi is told once."""
    return Identities(server).identify(list(entries))


class Identities:
    """Remembers who is who, so that a change asks only the phones that are new."""

    def __init__(self, server: AdbServer) -> None:
        self._server = server
        self._known: dict[str, tuple[DeviceInfo, str]] = {}

    def identify(self, entries: list[AdbEntry]) -> list[DeviceInfo]:
        """The devices of the list; a phone that is ready is asked once while it stays plugged in."""
        ready = {e.serial for e in entries if e.state is DeviceState.READY}
        self._known = {s: known for s, known in self._known.items() if s in ready}
        found: list[DeviceInfo] = []
        seen: set[str] = set()
        for entry in sorted(entries, key=lambda e: ":" in e.serial):  # USB before TCP
            info, serial_number = self._one(entry)
            if serial_number and serial_number in seen:
                continue
            seen.add(serial_number)
            found.append(info)
        order = {entry.serial: i for i, entry in enumerate(entries)}
        return sorted(found, key=lambda info: order[info.id])

    def _one(self, entry: AdbEntry) -> tuple[DeviceInfo, str]:
        if entry.serial in self._known:
            return self._known[entry.serial]
        info = identify(self._server, entry)
        if info.state is not DeviceState.READY:
            return info, ""
        try:
            said = run_shell(self._server, entry.serial, "getprop ro.serialno", timeout=5.0).stdout.strip()
        except StudioError:
            return info, ""
        self._known[entry.serial] = (info, said)
        return info, said
