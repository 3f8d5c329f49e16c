"""Does the runner's clock tell the truth? Its median against a bare loop over the same runtime.

    python tests/bench/bench_runner.py [MODEL.onnx] [--rounds N]

One process, two sessions of the same model: a bare loop over onnxruntime's Python API, and the runner's
own loop over the backend, writing its records to a pipe that another process reads. They take
turns of 0.3 s, so that a machine that gets slower gets slower for both; the figure is the ratio of
the medians over all turns. Goal: within 2 %. Without a model a stack of MatMuls is made.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from studio.devices.device import RunSettings
from studio.devices.stream import Inference, encode_record

TURN_SECONDS = 0.3


def make_model(path: Path) -> Path:
    """A model of about 1 ms: six 256 × 256 MatMuls on 64 rows."""
    import onnx
    from onnx import TensorProto, helper

    random = np.random.default_rng(0)
    nodes, constants = [], []
    for i in range(6):
        weights = random.normal(size=(256, 256)).astype(np.float32)
        constants.append(
            helper.make_tensor(f"w{i}", TensorProto.FLOAT, [256, 256], weights.tobytes(), raw=True)
        )
        nodes.append(helper.make_node("MatMul", [f"x{i}", f"w{i}"], [f"x{i + 1}"]))
    graph = helper.make_graph(
        nodes,
        "bench",
        [helper.make_tensor_value_info("x0", TensorProto.FLOAT, [64, 256])],
        [helper.make_tensor_value_info("x6", TensorProto.FLOAT, [64, 256])],
        constants,
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def bare_loop(model: Path) -> Callable[[], list[int]]:
    """A turn of the bare loop: latencies in ns."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = ort.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    for value in session.get_inputs():
        shape = [d if isinstance(d, int) else 1 for d in value.shape]
        binding.bind_cpu_input(value.name, np.random.default_rng(0).random(shape).astype(np.float32))
    for value in session.get_outputs():
        binding.bind_output(value.name)

    def turn() -> list[int]:
        times = []
        until = time.perf_counter() + TURN_SECONDS
        while time.perf_counter() < until:
            begin = time.perf_counter_ns()
            session.run_with_iobinding(binding)
            times.append(time.perf_counter_ns() - begin)
        return times

    return turn


def runner_loop(model: Path, pipe: int) -> Callable[[], list[int]]:
    """A turn of the runner's loop: latencies in ns, its records written to `pipe` as in a deploy."""
    from studio.backends.registry import open_backend
    from studio.devices.run_inputs import make_inputs
    from studio.jobs.timing import measure

    loaded = open_backend("ort").load(model, target="ort/cpu", threads=1)
    loaded.bind(make_inputs(loaded.inputs, {}).sample(0))
    settings = RunSettings(target="ort/cpu", runs=1, seconds=TURN_SECONDS)

    def turn() -> list[int]:
        seen: list[Inference] = []

        def send(*records: Any) -> None:
            seen.extend(records)
            os.write(pipe, b"".join(encode_record(r) for r in records))

        measure(loaded.invoke, settings, send, lambda: False)
        return [record.latency_ns for record in seen]

    return turn


def main() -> None:
    """Prints both medians and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", nargs="?", type=Path)
    parser.add_argument("--rounds", type=int, default=20)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model = asked.model or make_model(Path(folder) / "bench.onnx")
        reader = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        assert reader.stdin is not None
        bare, runner = bare_loop(model), runner_loop(model, reader.stdin.fileno())
        for turn in (bare, runner):
            turn()
        times: tuple[list[int], list[int]] = ([], [])
        for number in range(asked.rounds):
            for which in (0, 1) if number % 2 else (1, 0):
                times[which].extend((bare, runner)[which]())
        reader.stdin.close()
        reader.wait()
    low, high = (float(np.median(t)) / 1e6 for t in times)
    print(f"bare loop  median {low:.4f} ms over {len(times[0])} inferences")
    print(f"runner     median {high:.4f} ms over {len(times[1])} inferences")
    print(f"ratio      {high / low:.4f}")


if __name__ == "__main__":
    main()
