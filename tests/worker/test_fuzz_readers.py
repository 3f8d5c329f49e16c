"""Thousands of damaged files per reader: a graph or one sentence, soon, in little memory.

Every format is fuzzed in a process of its own (`fuzz_reader.py`). DEPLOYMENT_STUDIO_FUZZ sets the number of
mutations per file (default 200), DEPLOYMENT_STUDIO_FUZZ_FROM the first seed: other seeds, other damage.

    DEPLOYMENT_STUDIO_FUZZ=5000 pytest tests/worker/test_fuzz_readers.py -k tflite

TorchScript is the exception that the worker exists for: torch's own C++ loader may crash on a damaged
archive. Then the process is lost, as the studio's worker would be, and the next one goes on.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

COUNT = int(os.environ.get("DEPLOYMENT_STUDIO_FUZZ", "200"))
FIRST = int(os.environ.get("DEPLOYMENT_STUDIO_FUZZ_FROM", "0"))
MEGABYTES = 512
"""Memory beyond what the reader needed for the undamaged file."""
PATIENCE_S = 60.0
"""Wall clock for one file, after which it counts as a hang; long, since the machine may be busy."""
SCRIPT = Path(__file__).with_name("fuzz_reader.py")
NATIVE = {"pt", "ptl"}
"""Formats that only torch's own loader reads."""


def onnx_file(path: Path) -> None:
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    def info(name: str, shape: list[object] | None) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)

    then = helper.make_graph([helper.make_node("Relu", ["r"], ["t"])], "then", [], [info("t", [2])])
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["go"], ["on"]),
            helper.make_node("Twice", ["s"], ["s2"], domain="own"),
        ],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("go", TensorProto.BOOL, []),
            info("s", [2]),
        ],
        [helper.make_tensor_value_info("on", TensorProto.BOOL, []), info("s2", [2])],
    )
    nodes = [
        helper.make_node("Constant", [], ["c"], value=numpy_helper.from_array(np.array([2], np.int64))),
        helper.make_node("QuantizeLinear", ["x", "scale", "zero"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "scale", "zero"], ["d"]),
        helper.make_node("Reshape", ["d", "c"], ["r"], name="/a/b/Reshape"),
        helper.make_node("Loop", ["n", "b", "r"], ["l"], body=body),
        helper.make_node("If", ["b"], ["y"], then_branch=then, else_branch=then),
    ]
    constants = [
        numpy_helper.from_array(np.array(0.5, np.float32), "scale"),
        numpy_helper.from_array(np.array(3, np.uint8), "zero"),
        numpy_helper.from_array(np.array(4, np.int64), "n"),
        numpy_helper.from_array(np.array(True), "b"),
    ]
    twice = helper.make_function(
        "own",
        "Twice",
        ["a"],
        ["z"],
        [helper.make_node("Add", ["a", "a"], ["z"])],
        [helper.make_opsetid("", 17)],
    )
    sparse = helper.make_sparse_tensor(
        numpy_helper.from_array(np.ones(2, np.float32), "sparse"),
        numpy_helper.from_array(np.array([3, 70], np.int64), "places"),
        [9, 8],
    )
    graph = helper.make_graph(
        nodes, "g", [info("x", ["n", 2])], [info("y", [2]), info("l", [2])], constants,
        sparse_initializer=[sparse],
    )  # fmt: skip
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    model = helper.make_model(graph, opset_imports=opsets, functions=[twice], ir_version=8)
    path.write_bytes(model.SerializeToString())


def ort_file(path: Path) -> None:
    import onnxruntime as ort

    source = path.with_suffix(".onnx")
    onnx_file(source)
    options = ort.SessionOptions()
    options.optimized_model_filepath = str(path)
    options.add_session_config_entry("session.save_model_format", "ORT")
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    ort.InferenceSession(str(source), options, providers=["CPUExecutionProvider"])


def tflite_file(path: Path) -> None:
    import flatbuffers
    from ai_edge_litert import schema_py_generated as tfl

    def tensor(name: str, shape: list[int], buffer: int = 0) -> tfl.TensorT:
        made = tfl.TensorT()
        made.name, made.shape, made.buffer, made.type = name.encode(), shape, buffer, tfl.TensorType.FLOAT32
        return made

    def operator(code: int, inputs: list[int], outputs: list[int]) -> tfl.OperatorT:
        made = tfl.OperatorT()
        made.opcodeIndex, made.inputs, made.outputs = code, inputs, outputs
        return made

    codes = []
    for builtin in (tfl.BuiltinOperator.CONV_2D, tfl.BuiltinOperator.WHILE, tfl.BuiltinOperator.CUSTOM):
        code = tfl.OperatorCodeT()
        code.builtinCode = code.deprecatedBuiltinCode = builtin
        code.customCode = b"Own" if builtin == tfl.BuiltinOperator.CUSTOM else None
        codes.append(code)
    conv = operator(0, [0, 1, -1], [2])
    conv.builtinOptionsType, conv.builtinOptions = tfl.BuiltinOptions.Conv2DOptions, tfl.Conv2DOptionsT()
    loop = operator(1, [2], [3])
    loop.builtinOptionsType, loop.builtinOptions = tfl.BuiltinOptions.WhileOptions, tfl.WhileOptionsT()
    loop.builtinOptions.condSubgraphIndex = loop.builtinOptions.bodySubgraphIndex = 1
    main, body = tfl.SubGraphT(), tfl.SubGraphT()
    weight = tensor("a/conv/w", [2, 1, 1, 2], 1)
    weight.quantization = tfl.QuantizationParametersT()
    weight.quantization.scale, weight.quantization.zeroPoint = [0.1, 0.2], [0, 0]
    main.tensors = [
        tensor("x", [1, 4, 4, 2]),
        weight,
        tensor("a/conv/y", [1, 4, 4, 2]),
        tensor("z", [1, 4, 4, 2]),
    ]
    sparse = tensor("a/sparse", [4, 4], 1)
    sparse.sparsity = tfl.SparsityParametersT()
    rows, columns = tfl.DimensionMetadataT(), tfl.DimensionMetadataT()
    rows.format, rows.denseSize = tfl.DimensionType.DENSE, 4
    columns.format = tfl.DimensionType.SPARSE_CSR
    columns.arraySegmentsType = columns.arrayIndicesType = tfl.SparseIndexVector.Uint8Vector
    columns.arraySegments, columns.arrayIndices = tfl.Uint8VectorT(), tfl.Uint8VectorT()
    columns.arraySegments.values, columns.arrayIndices.values = [0, 1, 1, 3, 4], [2, 0, 3, 1]
    sparse.sparsity.traversalOrder, sparse.sparsity.dimMetadata = [0, 1], [rows, columns]
    main.tensors.append(sparse)
    main.inputs, main.outputs, main.operators = [0], [3], [conv, loop]
    body.tensors = [tensor("s", [1]), tensor("t", [1])]
    body.inputs, body.outputs, body.operators = [0], [1], [operator(2, [0], [1])]
    model = tfl.ModelT()
    buffers = [tfl.BufferT(), tfl.BufferT()]
    buffers[1].data = [0] * 16
    model.version, model.operatorCodes, model.subgraphs, model.buffers = 3, codes, [main, body], buffers
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    path.write_bytes(bytes(builder.Output()))


def torch_files(folder: Path) -> None:
    """net.pt, net.ptl and net.pt2 of one network."""
    import torch

    network = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.Flatten(), torch.nn.Linear(8, 3)).eval()
    x = torch.zeros(1, 1, 4, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        traced = torch.jit.trace(network, x)
        traced.save(str(folder / "net.pt"))
        traced._save_for_lite_interpreter(str(folder / "net.ptl"))
        torch.export.save(torch.export.export(network, (x,)), str(folder / "net.pt2"))


def pte_file(path: Path) -> None:
    import torch

    pytest.importorskip("executorch.exir")
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.exir import to_edge_transform_and_lower

    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(4, 4)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.cumsum(self.linear(x), 1)  # one delegate, one kernel

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.export.export(Net().eval(), (torch.zeros(2, 4),))
        lowered = to_edge_transform_and_lower(program, partitioner=[XnnpackPartitioner()]).to_executorch()
    path.write_bytes(lowered.buffer)


def etrecord_file(path: Path) -> None:
    import torch

    pytest.importorskip("executorch.devtools")
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.exir import to_edge_transform_and_lower

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.export.export(torch.nn.Linear(4, 4).eval(), (torch.zeros(2, 4),))
        edge = to_edge_transform_and_lower(
            program, partitioner=[XnnpackPartitioner()], generate_etrecord=True
        )
        edge.to_executorch().get_etrecord().save(str(path))


def safetensors_file(path: Path) -> None:
    from safetensors.numpy import save_file

    save_file({"a.w": np.ones((2, 3), np.float32), "a.b": np.ones(3, np.float16)}, str(path))


def gguf_file(path: Path) -> None:
    """Version 3, one text, one list and two tensors, as the format's page describes it."""

    def number(value: int, size: int) -> bytes:
        return value.to_bytes(size, "little")

    def text(value: str) -> bytes:
        return number(len(value), 8) + value.encode()

    head = b"GGUF" + number(3, 4) + number(2, 8) + number(2, 8)
    head += text("general.architecture") + number(8, 4) + text("llama")
    head += text("tokens") + number(9, 4) + number(8, 4) + number(2, 8) + text("a") + text("b")
    for name, kind, offset in (("w", 2, 0), ("v", 0, 64)):
        head += text(name) + number(2, 4) + number(32, 8) + number(2, 8) + number(kind, 4) + number(offset, 8)
    path.write_bytes(head + b"\0" * (-len(head) % 32) + b"\1" * 320)


@pytest.fixture(scope="module")
def torch_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("torch")
    torch_files(folder)
    return folder


class Watcher:
    """Runs the script over a range of seeds, and again after each that took the process down."""

    def __init__(self, seed_file: Path, folder: Path) -> None:
        self.seed_file, self.folder = seed_file, folder
        self.ends: Counter[str] = Counter()
        self.said: dict[int, str] = {}  # seed → what went wrong

    def run(self, first: int, last: int) -> None:
        while first < last:
            first = self._run_process(first, last)

    def _run_process(self, first: int, last: int) -> int:
        """Returns the seed to go on with."""
        arguments = [str(self.seed_file), str(self.folder), str(first), str(last), str(MEGABYTES)]
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}
        log = (self.folder / "stderr").open("wb")
        process = subprocess.Popen(
            [sys.executable, "-X", "faulthandler", str(SCRIPT), *arguments],
            stdout=subprocess.PIPE,
            stderr=log,
            env=environment,
        )
        assert process.stdout is not None
        current = -1
        buffer = b""
        until = time.monotonic() + 3 * PATIENCE_S  # imports of torch on a busy machine
        try:
            while True:
                ready, _, _ = select.select([process.stdout], [], [], max(until - time.monotonic(), 0))
                if not ready:
                    self._note(current, "hang", f"no answer in {PATIENCE_S:.0f} s")
                    return current + 1
                chunk = os.read(process.stdout.fileno(), 1 << 16)
                if not chunk:
                    break
                buffer += chunk
                *lines, buffer = buffer.split(b"\n")
                for line in lines:
                    event = json.loads(line)
                    current = int(event["seed"])
                    until = time.monotonic() + PATIENCE_S
                    if event["end"] != "begin":
                        self._note(current, event["end"], event["text"])
        finally:
            process.kill()
            process.wait()
            process.stdout.close()
            log.close()
        tail = (self.folder / "stderr").read_text(errors="replace")[-1_500:]
        if process.returncode == 0:
            return last
        assert current >= 0, f"the undamaged file was not opened: {tail}"
        self._note(current, "crash", f"exit code {process.returncode}: {tail}")
        return current + 1

    def _note(self, seed: int, end: str, text: str) -> None:
        self.ends[end] += 1
        if end in ("bug", "crash", "hang"):
            self.said[seed] = f"{end}: {text}"
        if end == "refused":
            assert text and "\n" not in text and len(text) < 700, (seed, text)


FORMATS = ("onnx", "ort", "tflite", "pt", "ptl", "pt2", "pte", "etrecord", "safetensors", "gguf")
MAKERS = {
    "onnx": onnx_file, "ort": ort_file, "tflite": tflite_file, "pte": pte_file, "etrecord": etrecord_file,
    "safetensors": safetensors_file, "gguf": gguf_file,
}  # fmt: skip


@pytest.mark.parametrize("format_", FORMATS)
def test_damaged_files_end_in_a_graph_or_one_sentence(
    tmp_path: Path, request: pytest.FixtureRequest, format_: str
) -> None:
    path = tmp_path / f"net.{format_}"
    if format_ in MAKERS:
        MAKERS[format_](path)
    else:
        path = request.getfixturevalue("torch_folder") / path.name
    watcher = Watcher(path, tmp_path)
    watcher.run(FIRST, FIRST + COUNT)
    lost = {seed: text for seed, text in watcher.said.items() if text.startswith(("crash", "hang"))}
    bugs = {seed: text for seed, text in watcher.said.items() if seed not in lost}
    print(format_, dict(watcher.ends))
    assert not bugs, next(iter(bugs.items()))
    assert format_ in NATIVE or not lost, next(iter(lost.items()))
    assert sum(watcher.ends.values()) == COUNT
    assert watcher.ends["refused"] > COUNT // 10, "the damage reached no reader"
    assert watcher.ends["graph"] > 0, "nothing but nonsense reached the reader"
