"""Stands in for LiteRT's `apply_plugin_main`: the same flags, logs and ends; STAND_IN_* say which.

STAND_IN_FILES: a folder with `partition.tflite`, `apply.tflite` and `log.txt`, of which some may lack;
`ends.json` says per command how it ends: an exit code, a signal's name, "hang" or "empty".
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

FOLDER = Path(os.environ["STAND_IN_FILES"])


def main() -> int:
    flags = dict(a.removeprefix("--").partition("=")[::2] for a in sys.argv[1:])
    command, out = flags["cmd"], Path(flags["o"])
    asked = FOLDER / "asked.jsonl"
    with asked.open("a") as file:
        keys = ("LD_LIBRARY_PATH", "EXYNOS_AI_LITECORE_ROOT", "MTKNN_ADAPTER_DLA_DIR")
        file.write(json.dumps({**flags, **{k: os.environ.get(k, "") for k in keys}}) + "\n")
    out.touch()  # as the real one: opened before anything is known
    if command == "info":
        out.write_text('< LiteRtCompilerPlugin > "Qualcomm" | "SM8550", "SM8650"\n')
        return 0
    print("[LITERT_TOOLS] banner", flush=True)
    log = FOLDER / "log.txt"
    sys.stderr.write(log.read_text() if log.exists() else "")
    sys.stderr.flush()
    ends = json.loads((FOLDER / "ends.json").read_text()) if (FOLDER / "ends.json").exists() else {}
    end = ends.get(command, 0)
    if end == "hang":
        subprocess.run([sys.executable, "-c", "import time; time.sleep(60)"], check=False)
    elif end == "empty":
        return 0
    elif isinstance(end, str):
        os.kill(os.getpid(), getattr(signal, end))
    elif not end:
        out.write_bytes((FOLDER / f"{command}.tflite").read_bytes())
    return int(end) if isinstance(end, int) else 1


if __name__ == "__main__":
    sys.exit(main())
