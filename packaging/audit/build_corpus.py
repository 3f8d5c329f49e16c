"""Writes the audit's corpus: each architecture as .pt2, traced .pt, .onnx, quantised .onnx and .tflite.

Usage: build_corpus.py OUT [NAME … | held-out | fresh]. The fresh ones come in more kinds: float16, signed
per-channel QDQ, 16-bit activations, and LiteRT's own quantisation, dynamic and static. What a tool cannot
convert is reported and left out; files that are there already are kept.
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
from fresh import ARCHITECTURES as FRESH
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


def quantized(
    source: Path,
    target: Path,
    inputs: tuple[torch.Tensor, ...],
    *,
    activations: str = "QUInt8",
    per_channel: bool = False,
) -> None:
    """Static QDQ with int8 weights; `activations` is a QuantType's name."""
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
        activation_type=QuantType[activations], weight_type=QuantType.QInt8, per_channel=per_channel,
        extra_options={"UseQDQContribOps": activations.endswith("16")},
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


def beside(path: Path) -> Path:
    """The plain file of the same network: `x.onnx` for `x.qdq.onnx`."""
    return path.with_name(path.name.split(".")[0] + path.suffix)


def export_quantized(module: torch.nn.Module, inputs: tuple[torch.Tensor, ...], path: Path) -> None:
    quantized(beside(path), path, inputs)


def export_per_channel(module: torch.nn.Module, inputs: tuple[torch.Tensor, ...], path: Path) -> None:
    quantized(beside(path), path, inputs, activations="QInt8", per_channel=True)


def export_16_bit(module: torch.nn.Module, inputs: tuple[torch.Tensor, ...], path: Path) -> None:
    quantized(beside(path), path, inputs, activations="QUInt16", per_channel=True)


def export_half(module: torch.nn.Module, inputs: tuple[torch.Tensor, ...], path: Path) -> None:
    import onnx
    from onnxruntime.transformers.float16 import convert_float_to_float16

    onnx.save(convert_float_to_float16(onnx.load(str(beside(path)))), str(path))


def quantize_for_litert(source: Path, target: Path, recipe: str) -> None:
    """LiteRT's own quantisation; `recipe` names one of ai_edge_quantizer's."""
    import ai_edge_quantizer
    from ai_edge_litert.interpreter import Interpreter

    quantizer = ai_edge_quantizer.Quantizer(str(source))
    quantizer.load_quantization_recipe(getattr(ai_edge_quantizer.recipe, recipe)())
    calibrated = None
    if quantizer.need_calibration:
        rng = np.random.default_rng(0)
        runner = Interpreter(model_path=str(source))
        details = runner.get_signature_runner("serving_default").get_input_details()
        data = {
            name: rng.standard_normal(d["shape"]).astype(d["dtype"]) if d["dtype"] == np.float32
            else rng.integers(0, 20, d["shape"]).astype(d["dtype"])
            for name, d in details.items()
        }  # fmt: skip
        calibrated = quantizer.calibrate({"serving_default": [data]})
    quantizer.quantize(calibrated).export_model(str(target), overwrite=True)


def export_dynamic(module: torch.nn.Module, inputs: tuple[torch.Tensor, ...], path: Path) -> None:
    quantize_for_litert(beside(path), path, "dynamic_wi8_afp32")


def export_static(module: torch.nn.Module, inputs: tuple[torch.Tensor, ...], path: Path) -> None:
    quantize_for_litert(beside(path), path, "static_wi8_ai8")


KINDS = {
    ".pt2": export_program,
    ".pt": export_script,
    ".onnx": export_onnx,
    ".qdq.onnx": export_quantized,
    ".tflite": export_tflite,
}
LITERT_KINDS = {".qdyn.tflite": export_dynamic, ".qint8.tflite": export_static}
MORE_KINDS = {
    ".pcqdq.onnx": export_per_channel,
    ".a16qdq.onnx": export_16_bit,
    ".half.onnx": export_half,
    **LITERT_KINDS,
}


def main() -> None:
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    known = ARCHITECTURES | HELD_OUT | FRESH
    sets = {"held-out": list(HELD_OUT), "fresh": list(FRESH)}
    names = sys.argv[2:] or list(ARCHITECTURES)
    for name in sets.get(names[0], names):
        build, example = known[name]
        torch.manual_seed(0)
        module, inputs = build().eval(), example()
        for suffix, export in (KINDS | MORE_KINDS if name in FRESH else KINDS | LITERT_KINDS).items():
            attempt(out / f"{name}{suffix}", partial(export, module, inputs))


if __name__ == "__main__":
    main()
