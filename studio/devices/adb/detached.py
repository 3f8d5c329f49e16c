"""A run on the phone that the cable cannot stop: detached, written to a file, followed by offset.

The runner is started by `setsid`, writes JSON lines to `out.jsonl`, and leaves its pid and exit code in
files beside it. The host follows the file from its last whole line; when the link is lost it waits
for the phone and goes on where it was: every line once, in order.
"""

from __future__ import annotations

import queue
import threading
import time

from studio.devices.adb.server import AdbServer, LinkLost
from studio.devices.adb.shell import STDOUT, open_shell, quote, run_shell
from studio.errors import DeviceError, StudioError
from studio.records import Record

LINK_SECONDS = 300.0
"""How long a lost link is waited for; the run on the phone goes on meanwhile."""
_SILENCE_SECONDS = 1.0
_RETRY_SECONDS = 0.3


class Line(Record):
    """A whole line of the runner."""

    text: bytes


class LinkChanged(Record):
    """The link was lost, or is back."""

    is_lost: bool
    reason: str = ""


class Over(Record):
    """The runner has left; `returncode` None when the phone does not know it (it restarted)."""

    returncode: int | None


News = Line | LinkChanged | Over


class DetachedRun:
    """A run in a folder on the phone."""

    def __init__(self, server: AdbServer, serial: str, folder: str) -> None:
        self.server, self.serial, self.folder = server, serial, folder
        self.offset = 0

    @property
    def pid_file(self) -> str:
        return f"{self.folder}/pid"

    def start(self, argv: tuple[str, ...]) -> None:
        """Starts argv in the folder and returns at once. Raises DeviceError when it does not start."""
        inner = (
            f"{quote(*argv)} > out.jsonl 2> err.txt & p=$!; echo $p > pid; "
            "wait $p; echo $? > rc.part; mv rc.part rc"
        )
        command = (
            f"cd {quote(self.folder)} && : > out.jsonl && "
            f"{{ setsid sh -c {quote(inner)} > /dev/null 2>&1 < /dev/null & }}; "
            # the pid file proves that it started; wait for it, at most two seconds
            "i=0; while [ ! -s pid ] && [ $i -lt 40 ]; do sleep 0.05; i=$((i + 1)); done; cat pid"
        )
        done = run_shell(self.server, self.serial, command)
        if not done.stdout.strip().isdigit():
            raise DeviceError(
                f"The run did not start on the phone: {(done.stderr or done.stdout).strip()[:300]}",
                hint="Check that /data/local/tmp is writable.",
            )

    def follow(self, news: queue.SimpleQueue[News | BaseException], leave: threading.Event) -> None:
        """Puts every line into `news`, then `Over`; for a thread. Errors are put there as well."""
        try:
            self._follow(news, leave)
        except BaseException as error:
            news.put(error)

    def _follow(self, news: queue.SimpleQueue[News | BaseException], leave: threading.Event) -> None:
        lost_since: float | None = None
        while not leave.is_set():
            try:
                if lost_since is not None:
                    self._reach()
                    news.put(LinkChanged(is_lost=False))
                    lost_since = None
                if self._tail(news, leave):
                    return
            except LinkLost as error:
                now = time.monotonic()
                if lost_since is None:
                    lost_since = now
                    news.put(LinkChanged(is_lost=True, reason=error.message))
                elif now - lost_since > LINK_SECONDS:
                    raise LinkLost(
                        f"The phone has been away for {LINK_SECONDS / 60:.0f} minutes.",
                        hint=f"Its run goes on without us, in {self.folder}.",
                    ) from None
                leave.wait(_RETRY_SECONDS)

    def _reach(self) -> None:
        """Raises LinkLost while the phone is away; a phone on TCP is connected to again."""
        try:
            self.server.start()
            if ":" in self.serial:
                self.server.connect(self.serial)
            if run_shell(self.server, self.serial, "echo ok", timeout=5.0).stdout.strip() != "ok":
                raise LinkLost("The phone does not answer.")
        except StudioError as error:
            raise LinkLost(error.message) from None

    def _tail(self, news: queue.SimpleQueue[News | BaseException], leave: threading.Event) -> bool:
        """Follows from the offset; True when the runner has left and every line was put."""
        command = f"tail -c +{self.offset + 1} -f {quote(self.folder + '/out.jsonl')}"
        rest = b""
        with open_shell(self.server, self.serial, command, timeout=_SILENCE_SECONDS) as shell:
            packets = shell.packets()
            while not leave.is_set():
                try:
                    channel, data = next(packets)
                except TimeoutError:
                    packets = shell.packets()
                    over = self._over()
                    if over is None:
                        continue
                    self._drain(news)
                    news.put(over)
                    return True
                except StopIteration:
                    raise LinkLost("The phone stopped telling what it does.") from None
                if channel == STDOUT:
                    rest = self._put(news, rest + data)
                    if b'"type":"end"' in data:
                        shell.close()
                        return self._wait_over(news, leave)
        return True

    def _put(self, news: queue.SimpleQueue[News | BaseException], data: bytes) -> bytes:
        """Puts the whole lines of `data`; returns what is left. The offset counts whole lines only."""
        *lines, rest = data.split(b"\n")
        for line in lines:
            self.offset += len(line) + 1
            news.put(Line(text=line))
        return rest

    def _drain(self, news: queue.SimpleQueue[News | BaseException]) -> None:
        """What was written between the last read and the end of the runner."""
        command = f"tail -c +{self.offset + 1} {quote(self.folder + '/out.jsonl')}"
        self._put(news, run_shell(self.server, self.serial, command).stdout.encode())

    def _wait_over(self, news: queue.SimpleQueue[News | BaseException], leave: threading.Event) -> bool:
        """After the `end` line the exit code comes within moments."""
        until = time.monotonic() + 10.0
        over = None
        while over is None and time.monotonic() < until and not leave.is_set():
            over = self._over()
            if over is None:
                time.sleep(0.05)
        news.put(over or Over(returncode=None))
        return True

    def _over(self) -> Over | None:
        """Whether the runner has left: its exit code, or a pid that is no more."""
        command = (
            f"cd {quote(self.folder)}; if [ -f rc ]; then cat rc; "
            "elif read -r p < pid && [ -d /proc/$p ]; then echo runs; else echo gone; fi"
        )
        said = run_shell(self.server, self.serial, command).stdout.strip()
        if said == "runs":
            return None
        return Over(returncode=int(said) if said.isdigit() else None)

    def stop(self, *, hard: bool = False) -> None:
        """Asks the runner to end its stream (SIGTERM), or ends it (SIGKILL)."""
        name = "KILL" if hard else "TERM"
        run_shell(self.server, self.serial, f"read -r p < {quote(self.pid_file)} && kill -{name} $p")

    def last_words(self) -> str:
        """The end of the runner's stderr."""
        command = f"tail -c 4096 {quote(self.folder + '/err.txt')}"
        return run_shell(self.server, self.serial, command).stdout

    def remove(self) -> None:
        """Deletes the folder on the phone."""
        run_shell(self.server, self.serial, quote("rm", "-rf", self.folder))
