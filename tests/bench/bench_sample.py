"""How long the sample takes in float and in int8, interleaved: `python tests/bench/bench_sample.py`.

One thread; medians of 500 inferences each. On x86 without VNNI the exact int8 kernels take about as long as
float (0.54 against 0.53 ms, 2026-11-30); with VNNI about half of it.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path

import numpy as np
from bench_steps import Silent

from studio.backends.ort import OrtBackend
from studio.paths import resources
from studio.project.store import load_project
from studio.recipes.run import run_recipe


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "sample"
        shutil.copytree(resources() / "sample", folder)
        project = load_project(folder / "digits.studio")
        result = run_recipe(project, folder, Silent(), trusted=True, only=["verify-ort"])
        paths = {step.step_id: Path(step.artifact.path) for step in result.steps}
        models = [OrtBackend().load(paths[name], threads=1) for name in ("export", "ort")]
        times: list[list[int]] = [[], []]
        for count in range(520):
            for loaded, taken in zip(models, times):
                if not count:
                    loaded.bind({"image": np.zeros((1, 1, 32, 32), np.float32)})
                start = time.perf_counter_ns()
                loaded.invoke()
                taken.append(time.perf_counter_ns() - start)
        plain, integer = (float(np.median(taken[20:])) / 1e6 for taken in times)
        print(f"float {plain:.3f} ms, int8 {integer:.3f} ms, float / int8 {plain / integer:.2f}")


if __name__ == "__main__":
    main()
