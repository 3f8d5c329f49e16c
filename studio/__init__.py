"""Deployment Studio: takes a trained PyTorch or ONNX model to an Android phone.

The house is described in README.md; every room's `__init__.py` says what lives there.
"""

import os

# Nothing is sent anywhere. ONNX Runtime's official builds carry telemetry and read this before they
# load; every process of the studio, workers and runners included, passes through here.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

__version__ = "0.1.0"
