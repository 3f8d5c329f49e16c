"""Deployment Studio: takes a trained PyTorch or ONNX model to an Android phone.

The house is described in README.md; every room's `__init__.py` says what lives there.
"""

__version__ = "0.1.0"
