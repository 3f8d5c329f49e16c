"""A worker process that misbehaves as its first argument says. Real executable, real pipes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time


def tell(**event: object) -> None:
    sys.stdout.buffer.write(json.dumps(event).encode() + b"\n")
    sys.stdout.buffer.flush()


def main() -> int:
    how = sys.argv[1]
    sys.stdin.buffer.readline()
    os.setpgid(0, 0)
    if how == "hangs":  # deaf to the end of stdin
        tell(type="progress", stage="hanging", done=0)
        time.sleep(600)
    elif how == "hangs-with-child":
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        tell(type="log", text=str(child.pid))
        time.sleep(600)
    elif how == "segfaults":
        print("about to die", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGSEGV)
    elif how == "is-killed":
        os.kill(os.getpid(), signal.SIGKILL)
    elif how == "leaves-silently":
        return 3
    elif how == "dies-mid-line":
        sys.stdout.buffer.write(b'{"type": "done", "resu')
        sys.stdout.buffer.flush()
        return 0
    elif how == "talks-rubbish":
        sys.stdout.buffer.write(b"not json at all\n\xff\xfe\n")
        tell(type="done", result=None)
    elif how == "floods":
        for i in range(20_000):
            sys.stdout.buffer.write(b'{"type": "log", "text": "line %d"}\n' % i)
        tell(type="done", result=None)
    elif how == "never-exits":
        tell(type="done", result={"ok": True})
        time.sleep(600)
    elif how == "slow-goodbye":
        tell(type="progress", stage="running", done=0)
        sys.stdin.buffer.read()
        time.sleep(0.2)
        tell(type="done", result={"stopped": True})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
