"""Does the runner's clock tell the truth? Its median against a bare loop over the same runtime.

    python tests/bench/bench_runner.py [MODEL.onnx] [--rounds N] [--seconds S]

Both run in processes of their own, turn and turn about, so that a machine that gets slower gets
slower for both; the figure is the ratio of the medians over all rounds. Goal: within 2 %.
Without a model a stack of MatMuls of about 1 ms is made.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

BARE = """
import sys, time, json, numpy as np, onnxruntime as ort
path, seconds = sys.argv[1], float(sys.argv[2])
options = ort.SessionOptions(); options.intra_op_num_threads = 1; options.inter_op_num_threads = 1
session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
random = np.random.default_rng(0)
binding = session.io_binding()
for value in session.get_inputs():
    shape = [d if isinstance(d, int) else 1 for d in value.shape]
    binding.bind_cpu_input(value.name, random.random(shape).astype(np.float32))
for value in session.get_outputs():
    binding.bind_output(value.name)
for _ in range(20): session.run_with_iobinding(binding)
times, until = [], time.perf_counter() + seconds
while time.perf_counter() < until:
    begin = time.perf_counter_ns(); session.run_with_iobinding(binding)
    times.append(time.perf_counter_ns() - begin)
print(json.dumps(times))
"""


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


def bare(model: Path, seconds: float) -> list[int]:
    """Latencies of the bare loop, ns."""
    out = subprocess.run(
        [sys.executable, "-c", BARE, str(model), str(seconds)], check=True, capture_output=True, text=True
    )
    return list(json.loads(out.stdout))


def ours(model: Path, seconds: float) -> list[int]:
    """Latencies that our runner streamed, ns, with samples taken beside it as in a real deploy."""
    from studio.devices.device import RunRequest, RunSettings
    from studio.devices.registry import open_device
    from studio.devices.stream import Inference
    from studio.jobs import runner

    request = RunRequest(
        artifact_path=str(model),
        artifact_format="onnx",
        artifact_sha256="",
        settings=RunSettings(target="ort/cpu", warmup_runs=20, runs=1, seconds=seconds),
    )
    device = open_device("this-computer", runner_command=runner.command())
    stream = device.run(request, on_push=lambda *_: None, should_stop=lambda: False)
    return [record.latency_ns for record in stream if isinstance(record, Inference)]


def main() -> None:
    """Prints the medians of every round and the ratio over all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", nargs="?", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3.0)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model = asked.model or make_model(Path(folder) / "bench.onnx")
        medians = []
        for number in range(asked.rounds):
            loop, runner = np.median(bare(model, asked.seconds)), np.median(ours(model, asked.seconds))
            medians.append((loop, runner))
            print(f"round {number}: {_row(loop, runner)}")
        print(f"median of medians: {_row(*np.median(np.array(medians), axis=0))}")


def _row(loop: float, runner: float) -> str:
    return f"bare {loop / 1e6:.4f} ms, runner {runner / 1e6:.4f} ms, ratio {runner / loop:.4f}"


if __name__ == "__main__":
    main()
