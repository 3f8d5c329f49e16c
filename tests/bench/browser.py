"""Headless Chromium as the benches drive it: over a pipe, with its memory."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
from pathlib import Path


class Browser:
    """Headless Chromium, spoken to over a pipe (`--remote-debugging-pipe`)."""

    def __init__(self, folder: Path) -> None:
        binary = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
        if not binary:
            raise SystemExit("chromium is not installed: set $CHROMIUM.")
        down_read, self._down = os.pipe()
        self._up, up_write = os.pipe()

        def wire() -> None:
            os.dup2(down_read, 100)
            os.dup2(up_write, 101)
            os.dup2(100, 3)
            os.dup2(101, 4)

        self.process = subprocess.Popen(
            [
                binary, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
                "--disable-background-networking", "--disable-component-update", "--disable-sync",
                "--window-size=1280,860", "--remote-debugging-pipe", f"--user-data-dir={folder}",
                "about:blank",
            ],
            preexec_fn=wire,
            close_fds=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(down_read)
        os.close(up_write)
        self._buffer = b""
        self._number = 0
        self._session = ""
        page = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]

    def call(self, method: str, **parameters: object) -> dict[str, object]:
        """The result of one command; events meanwhile are dropped."""
        self._number += 1
        message: dict[str, object] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        try:
            os.write(self._down, json.dumps(message).encode() + b"\0")
        except OSError as error:
            raise RuntimeError("chromium has gone") from error
        while True:
            while b"\0" not in self._buffer:
                chunk = os.read(self._up, 1 << 16)
                if not chunk:
                    raise RuntimeError("chromium has gone")
                self._buffer += chunk
            line, _, self._buffer = self._buffer.partition(b"\0")
            answer = json.loads(line)
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(str(answer["error"]))
                return answer["result"]

    def value(self, script: str) -> object:
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        return result["result"].get("value")  # type: ignore[attr-defined]

    def number(self, script: str) -> int:
        """What the script gives; 0 while the page has nothing to say yet."""
        value = self.value(script)
        return value if isinstance(value, int) else 0

    def memory_mb(self) -> int:
        """Resident megabytes of the browser and all of its children."""
        parents: dict[int, int] = {}
        sizes: dict[int, int] = {}
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rpartition(")")[2].split()
                parents[int(stat.parent.name)] = int(fields[1])
                sizes[int(stat.parent.name)] = int(fields[21]) * 4096
            except (OSError, IndexError):
                continue
        total = 0
        for pid, size in sizes.items():
            at = pid
            while at and at != self.process.pid:
                at = parents.get(at, 0)
            total += size if at else 0
        return total >> 20

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for end in (self._down, self._up):
            with contextlib.suppress(OSError):
                os.close(end)
