"""Nothing is sent anywhere."""

from __future__ import annotations

import subprocess
import sys


def test_every_process_of_the_studio_switches_telemetry_off_before_onnx_runtime_loads() -> None:
    code = "import studio, os; print(os.environ['ORT_DISABLE_TELEMETRY'])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "1"
