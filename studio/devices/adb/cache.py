"""Files on the phone, found by their hash: a second deploy pushes nothing.

`/data/local/tmp/deployment-studio/cache/<hash>` holds only whole files: a push goes to a name ending in
`.partial` and is renamed when its size is right, so that a cut push never counts.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from studio.devices.adb import sync
from studio.devices.adb.server import AdbServer
from studio.devices.adb.shell import quote, run_shell
from studio.errors import DeviceError
from studio.records import Record

ROOT = "/data/local/tmp/deployment-studio"
CACHE = f"{ROOT}/cache"
_RESERVE_BYTES = 16 << 20


class PushFile(Record):
    """A file that a run needs on the phone; programs are pushed executable."""

    path: str
    sha256: str
    size_bytes: int
    is_program: bool = False

    @property
    def remote(self) -> str:
        """Where it is in the phone's cache."""
        return f"{CACHE}/{self.sha256[:40]}"


def push_missing(
    server: AdbServer,
    serial: str,
    files: tuple[PushFile, ...],
    *,
    on_push: Callable[[int, int], None],
    should_stop: Callable[[], bool],
) -> int:
    """Pushes what the phone does not have yet; returns how many bytes that were.

    Raises DeviceError (no space, in figures; permission), LinkLost, InterruptedError.
    """
    made = run_shell(server, serial, f"mkdir -p {CACHE} {ROOT}/runs && chmod 755 {ROOT} {CACHE} {ROOT}/runs")
    if made.returncode:
        raise DeviceError(
            f"Cannot create {ROOT} on the phone: {(made.stderr or made.stdout).strip()}.",
            hint=f"Remove what another user left there: adb shell rm -rf {ROOT}",
        )
    unique = {f.remote: f for f in files}
    missing = [f for f in unique.values() if not sync.stat(server, serial, f.remote).has_size(f.size_bytes)]
    total = sum(f.size_bytes for f in missing)
    on_push(0, total)
    if not missing:
        return 0
    free = free_bytes(server, serial)
    if free is not None and free < total + _RESERVE_BYTES:
        raise DeviceError(
            f"No space left on the phone: {_megabytes(total)} needed, {_megabytes(free)} free.",
            hint="Delete something on it, or clear the studio's cache there.",
        )
    done = 0
    for file in missing:
        partial = f"{file.remote}.partial"

        def on_sent(sent: int, before: int = done) -> None:
            on_push(before + sent, total)

        sync.push(
            server, serial, Path(file.path), partial,
            mode=0o755 if file.is_program else 0o644, on_sent=on_sent, should_stop=should_stop,
        )  # fmt: skip
        if not sync.stat(server, serial, partial).has_size(file.size_bytes):
            raise DeviceError(f"{Path(file.path).name} arrived cut on the phone.", hint="Try again.")
        moved = run_shell(server, serial, quote("mv", "-f", partial, file.remote))
        if moved.returncode:
            raise DeviceError(
                f"The phone could not keep {Path(file.path).name}: {moved.stderr.strip()}.", hint=""
            )
        done += file.size_bytes
    on_push(total, total)
    return total


def free_bytes(server: AdbServer, serial: str) -> int | None:
    """Free space where runs live, by `df -k`; None when the phone does not say."""
    rows = run_shell(server, serial, "df -k /data/local/tmp 2>/dev/null").stdout.split("\n")
    for row in reversed(rows):
        fields = row.split()
        if len(fields) >= 4 and fields[-3].isdigit():
            return int(fields[-3]) * 1024
    return None


def clean(server: AdbServer, serial: str) -> None:
    """Removes everything the studio left on the phone. Raises DeviceError when it may not."""
    done = run_shell(server, serial, quote("rm", "-rf", ROOT), timeout=60.0)
    if done.returncode:
        raise DeviceError(
            f"Cannot remove {ROOT}: {done.stderr.strip()}.", hint="Remove it as the user who made it."
        )


def _megabytes(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.1f} MB"
