"""The transposes that are expected, against those that real tools insert."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from studio.graph import open_graph
from studio.jobs.ask_tool import match_nodes
from studio.support import judge, layout_tax
from studio.support.merge import with_answers

CONV = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
CASES: dict[str, tuple[list[tuple[Any, ...]], list[str]]] = {
    "one region": (
        [("Conv", "x w", "a", CONV), ("Relu", "a", "b", {}), ("GlobalAveragePool", "b", "y", {})], ["y"],
    ),
    "a branch inside": (
        [("Conv", "x w", "a", CONV), ("Relu", "a", "b", {}), ("Conv", "b v", "c", CONV),
         ("Add", "b c", "d", {}), ("MaxPool", "d", "y", {"kernel_shape": [2, 2], "strides": [2, 2]})],
        ["y"],
    ),
    "two outputs": (
        [("Conv", "x w", "a", CONV), ("Relu", "a", "y", {}), ("Conv", "y v", "z", CONV)], ["y", "z"],
    ),
    "an elementwise operator on the CPU goes along": (
        [("Conv", "x w", "a", CONV), ("Erf", "a", "b", {}), ("Conv", "b v", "y", CONV)], ["y"],
    ),
    "two that are joined": (
        [("Conv", "x w", "a", CONV), ("Conv", "x w", "b", CONV), ("Concat", "a b", "c", {"axis": 1}),
         ("Conv", "c u", "y", {})],
        ["y"],
    ),
    "a flatten inside wants the old order": (
        [("Conv", "x w", "a", CONV), ("Flatten", "a", "f", {}), ("Gemm", "f g", "y", {})], ["y"],
    ),
}  # fmt: skip


def save_case(path: Path, nodes: list[tuple[Any, ...]], outputs: list[str]) -> Path:
    rng = np.random.default_rng(0)
    shapes = {"w": (4, 3, 3, 3), "v": (4, 4, 3, 3), "u": (2, 8, 1, 1), "g": (256, 5)}
    used = {name for _, inputs, _, _ in nodes for name in inputs.split()}
    weights = [
        numpy_helper.from_array(rng.normal(size=shape).astype(np.float32), name)
        for name, shape in shapes.items()
        if name in used
    ]
    made = [
        helper.make_node(op, inputs.split(), [output], name=f"n{i}", **attributes)
        for i, (op, inputs, output, attributes) in enumerate(nodes)
    ]
    graph = helper.make_graph(
        made,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 8, 8])],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
        weights,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(onnx.shape_inference.infer_shapes(model), str(path))
    return path


@pytest.mark.parametrize("name", CASES)
def test_onnx_runtime_inserts_as_many_for_qnn_as_expected(name: str, tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime_qnn")
    from studio.backends.ask_ort import ask_qnn

    path = save_case(tmp_path / "m.onnx", *CASES[name])
    answer, graph = ask_qnn(path, "SM8650"), open_graph(path)
    rules = judge(graph, ["ort/qnn"], soc="SM8650")["ort/qnn"]
    verdicts = with_answers(graph, rules, match_nodes(graph, answer), source="QNN")
    inserted = sum(node.op == "Transpose" for node in answer.nodes)
    tax = layout_tax(graph, verdicts)
    assert inserted > 0 and tax.inserted == inserted
    assert len(tax.inserted_nodes) == inserted and tax.inserted_bytes > 0 and not tax.unknown_sizes


@pytest.mark.parametrize("middle", ["relu", "cumsum", "flatten"])
def test_executorch_inserts_as_many_for_xnnpack_as_expected(middle: str, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("executorch")
    from studio.backends.executorch import ExecutorchBackend

    class Net(torch.nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = torch.nn.Conv2d(3, 4, 3), torch.nn.Conv2d(4, 4, 3)
            self.last = torch.nn.Linear(64, 5)

        def forward(self, x: Any) -> Any:
            y = self.first(x)
            y = self.second(torch.cumsum(y, 1) if middle == "cumsum" else torch.relu(y))
            return self.last(torch.flatten(y, 1)) if middle == "flatten" else y

    class Quiet:
        def progress(self, stage: str, done: int, total: int | None = None, unit: str = "") -> None: ...
        def log(self, text: str) -> None: ...

    torch.manual_seed(0)
    path = tmp_path / "m.pt2"
    torch.export.save(torch.export.export(Net().eval(), (torch.randn(1, 3, 8, 8),)), path)
    target = "executorch/xnnpack"
    made = ExecutorchBackend().convert(path, {"target": target}, tmp_path, Quiet())
    inserted = open_graph(Path(made.path)).node_op.count("XNNStaticTranspose")
    graph = open_graph(path)
    tax = layout_tax(graph, judge(graph, [target])[target])
    assert inserted == {"relu": 2, "cumsum": 4, "flatten": 2}[middle]
    assert tax.inserted == inserted
