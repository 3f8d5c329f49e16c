"""What the steps cost beside the bare library call: `python tests/bench/bench_steps.py`.

Prints seconds of the studio's step and of the same call without it, on the sample project, as a
ratio; the promise is at most 1.1, and under a second for an unchanged recipe.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")


class Silent:
    def progress(self, stage: str, done: int, total: int | None = None, unit: str = "") -> None: ...
    def log(self, text: str) -> None: ...


def seconds(run: Callable[[], object]) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


def bare_export(folder: Path, out: Path) -> None:
    import torch

    from studio.recipes.load_torch import load_torch
    from studio.recipes.recipe import InputSpec
    from studio.recipes.source import SourceModel

    inputs = (InputSpec(name="image", shape=(1, 1, 32, 32)),)
    source = SourceModel(
        path="mobilenet_digits.py", factory="build", weights="mobilenet_digits.safetensors", inputs=inputs
    )
    module = load_torch(source, folder, trusted=True)
    torch.onnx.export(
        module.call,
        module.examples,
        str(out),
        dynamo=True,
        opset_version=18,
        external_data=False,
        verbose=False,
    )


def bare_quantize(model: Path, folder: Path, out: Path) -> None:
    import numpy as np
    from onnxruntime.quantization import QuantType, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process
    from PIL import Image

    class Reader:
        def __init__(self) -> None:
            self._files = iter(sorted((folder / "calibration").glob("*.png")))

        def get_next(self) -> dict[str, np.ndarray] | None:
            file = next(self._files, None)
            if file is None:
                return None
            pixels = np.asarray(Image.open(file), np.float32)[None, None] / 255
            return {"image": (pixels - np.float32(0.3)) / np.float32(0.36)}

    prepared = out.with_suffix(".prepared.onnx")
    quant_pre_process(str(model), str(prepared), skip_symbolic_shape=True)
    quantize_static(
        str(prepared), str(out), Reader(), per_channel=True,
        activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8,
    )  # fmt: skip


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        os.environ["DEPLOYMENT_STUDIO_CACHE"] = str(work / "cache")
        from studio.paths import resources
        from studio.project.store import load_project
        from studio.recipes.run import run_recipe

        folder = work / "sample"
        shutil.copytree(resources() / "sample", folder)
        project = load_project(folder / "digits.studio")

        def step(step_id: str) -> Path:
            result = run_recipe(project, folder, Silent(), trusted=True, only=[step_id])
            found = result.of(step_id)
            assert found is not None
            return Path(found.artifact.path)

        bare_export(folder, work / "warm.onnx")  # imports and torch's own caches, paid once
        rows = []
        bare = min(seconds(lambda: bare_export(folder, work / "bare.onnx")) for _ in range(2))
        rows.append(("export", seconds(lambda: step("export")), bare))
        model = step("export")
        bare_quantize(model, folder, work / "warm-int8.onnx")
        bare = min(seconds(lambda: bare_quantize(model, folder, work / "int8.onnx")) for _ in range(2))
        rows.append(("quantize", seconds(lambda: step("quantize")), bare))
        print(f"{'step':10} {'studio s':>9} {'bare s':>9} {'ratio':>6}")
        for title, ours, theirs in rows:
            print(f"{title:10} {ours:9.2f} {theirs:9.2f} {ours / theirs:6.2f}")
        step("verify-ort")
        print(f"unchanged recipe again: {seconds(lambda: step('verify-ort')):.2f} s")


if __name__ == "__main__":
    main()
