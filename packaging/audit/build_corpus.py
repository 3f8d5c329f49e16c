"""Writes the audit's corpus: each architecture as .pt2, traced .pt, .onnx, quantised .onnx and .tflite.

Usage: build_corpus.py OUT [NAME … | held-out]. What a tool cannot convert is reported and left out;
files that are there already are kept.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import torch
from architectures import ARCHITECTURES
from held_out import ARCHITECTURES as HELD_OUT

warnings.filterwarnings("ignore")


def attempt(path: Path, make: Callable[[Path], None]) -> None:
    """Makes a file unless it is there; says so when that fails."""
    if path.exists():
        return
    try:
        make(path)
        print(f"{path.name}", flush=True)
    except Exception as error:
        path.unlink(missing_ok=True)
        print(
            f"{path.name}: not made, {type(error).__name__}: {str(error).splitlines()[0][:120]}", flush=True
        )


def quantized(source: Path, target: Path, inputs: tuple[torch.Tensor, ...]) -> None:
    """Static QDQ, uint8 activations, int8 weights."""
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

    class Once(CalibrationDataReader):
        def __init__(self) -> None:
            import onnx

            names = [i.name for i in onnx.load(str(source)).graph.input]
            self.rows = iter([{n: np.asarray(t) for n, t in zip(names, inputs)}])

        def get_next(self) -> dict[str, np.ndarray] | None:
            return next(self.rows, None)

    quantize_static(
        str(source), str(target), Once(), quant_format=QuantFormat.QDQ,
        activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8,
    )  # fmt: skip


def export_onnx(module: torch.nn.Module, inputs: tuple[torch.Tensor, ...], path: Path) -> None:
    torch.onnx.export(module, inputs, str(path), dynamo=True, external_data=False, verbose=False)


def export_tflite(module: torch.nn.Module, inputs: tuple[torch.Tensor, ...], path: Path) -> None:
    import litert_torch

    litert_torch.convert(module, inputs).export(str(path))


def export_program(module: torch.nn.Module, inputs: tuple[torch.Tensor, ...], path: Path) -> None:
    torch.export.save(torch.export.export(module, inputs), str(path))


def export_script(module: torch.nn.Module, inputs: tuple[torch.Tensor, ...], path: Path) -> None:
    torch.jit.save(torch.jit.freeze(torch.jit.trace(module, inputs)), str(path))


def export_quantized(module: torch.nn.Module, inputs: tuple[torch.Tensor, ...], path: Path) -> None:
    quantized(path.with_name(path.name.replace(".qdq", "")), path, inputs)


KINDS = {
    ".pt2": export_program,
    ".pt": export_script,
    ".onnx": export_onnx,
    ".qdq.onnx": export_quantized,
    ".tflite": export_tflite,
}


def main() -> None:
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    known = ARCHITECTURES | HELD_OUT
    names = sys.argv[2:] or list(ARCHITECTURES)
    for name in list(HELD_OUT) if names == ["held-out"] else names:
        build, example = known[name]
        torch.manual_seed(0)
        module, inputs = build().eval(), example()
        for suffix, export in KINDS.items():
            attempt(out / f"{name}{suffix}", partial(export, module, inputs))


if __name__ == "__main__":
    main()
