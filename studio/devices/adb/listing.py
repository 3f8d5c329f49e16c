"""Who is plugged in: adb's list, parsed, and followed without polling."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator

from studio.devices.adb.server import AdbServer
from studio.devices.device import DeviceState
from studio.errors import StudioError
from studio.records import Record

_KEY = re.compile(r"\s+(?:usb|product|model|device|features|devpath|transport_id):")
_COALESCE_SECONDS = 0.08
_RETRY_SECONDS = 1.0
_TCP_SECONDS = 1.0

_HINTS = {
    DeviceState.UNAUTHORIZED: "Unlock the phone and accept “Allow USB debugging from this computer”.",
    DeviceState.AUTHORIZING: "Wait a moment; the phone is deciding whether it knows this computer.",
    DeviceState.OFFLINE: "Unplug the phone and plug it in again, or switch USB debugging off and on.",
    DeviceState.NO_PERMISSIONS: (
        "This user may not use the USB device: install the udev rules (android-sdk-platform-tools-common) "
        "and plug it in again."
    ),
    DeviceState.RECOVERY: "The phone is in recovery mode: choose “Reboot system now” on it.",
    DeviceState.SIDELOAD: "The phone waits for a sideload: leave it on the phone and reboot.",
    DeviceState.BOOTLOADER: "The phone is in its boot loader: start it with “fastboot reboot”.",
    DeviceState.CONNECTING: "Wait a moment; the connection is being made.",
    DeviceState.UNKNOWN: "adb reports a state that the studio does not know; try plugging it in again.",
}


class AdbEntry(Record):
    """A row of `adb devices -l`."""

    serial: str
    state: DeviceState
    model: str = ""
    product: str = ""
    device: str = ""
    raw_state: str = ""


def state_hint(state: DeviceState, raw: str = "") -> str:
    """What the user can do about a state; empty when it is ready."""
    if state is DeviceState.READY:
        return ""
    hint = _HINTS[state]
    return f"{hint} (adb: {raw})" if state is DeviceState.UNKNOWN and raw else hint


def parse_list(text: str) -> list[AdbEntry]:
    """Rows of `host:devices-l`. A state may hold spaces: it ends at the first known `key:`."""
    entries = []
    for line in text.splitlines():
        serial, _, rest = line.strip().partition("\t") if "\t" in line else _split(line)
        if not serial or not rest.strip():
            continue
        match = _KEY.search(f" {rest.strip()}")
        padded = f" {rest.strip()}"
        raw = (padded[: match.start()] if match else padded).strip()
        tail = padded[match.start() :] if match else ""
        fields = dict(re.findall(r"(\w+):(\S+)", tail))
        entries.append(
            AdbEntry(
                serial=serial,
                state=_state(raw),
                model=fields.get("model", "").replace("_", " "),
                product=fields.get("product", ""),
                device=fields.get("device", ""),
                raw_state=raw,
            )
        )
    return entries


def list_entries(server: AdbServer) -> list[AdbEntry]:
    """What adb sees now. Raises DeviceError or ToolError when there is no adb."""
    server.start()
    return parse_list(server.ask("host:devices-l"))


def track(
    server: AdbServer, should_stop: Callable[[], bool]
) -> Iterator[tuple[list[AdbEntry], StudioError | None]]:
    """The list now and after each change, coalesced; with the error while there is no server.

    adb reports one change as several: what follows within 80 ms is one. The server's death is
    survived: it is started again and everything is told anew. adb (seen in 29) does not tell when a phone
    on TCP goes away, so while there is one the list is asked for once a second as well.
    """
    while not should_stop():
        try:
            server.start()
            yield from _track_once(server, should_stop)
        except StudioError as error:
            yield [], error
        except ValueError:
            pass  # a length that is no number: start again
        until = time.monotonic() + _RETRY_SECONDS
        while time.monotonic() < until and not should_stop():
            time.sleep(0.05)


def _track_once(
    server: AdbServer, should_stop: Callable[[], bool]
) -> Iterator[tuple[list[AdbEntry], StudioError | None]]:
    """Changes until the server hangs up or we shall stop."""
    told: list[AdbEntry] = []
    newest: list[AdbEntry] | None = None
    asked_at = time.monotonic()
    with server.open("host:track-devices-l") as opened:
        while not should_stop():
            opened.set_timeout(_COALESCE_SECONDS if newest is not None else 0.25)
            try:
                head = opened.read(1)
            except TimeoutError:
                if newest is None and _has_tcp(told) and time.monotonic() - asked_at > _TCP_SECONDS:
                    asked_at = time.monotonic()
                    now = parse_list(server.ask("host:devices-l"))
                    newest = now if now != told else None
                if newest is not None:
                    told, newest = newest, None
                    yield told, None
                continue
            if not head:
                break
            opened.set_timeout(5.0)
            length = int(head + opened.read_exact(3), 16)
            newest = parse_list(opened.read_exact(length).decode("utf-8", "replace"))
    if newest is not None:
        yield newest, None


def _has_tcp(entries: list[AdbEntry]) -> bool:
    return any(":" in entry.serial for entry in entries)


def _split(line: str) -> tuple[str, str, str]:
    parts = line.strip().split(None, 1)
    return (parts[0], " ", parts[1]) if len(parts) == 2 else (parts[0] if parts else "", "", "")


def _state(raw: str) -> DeviceState:
    if raw == "device":
        return DeviceState.READY
    if raw.startswith("no permissions"):
        return DeviceState.NO_PERMISSIONS
    try:
        return DeviceState(raw)
    except ValueError:
        return DeviceState.UNKNOWN
