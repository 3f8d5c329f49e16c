"""Small projects for the tests of recipes: an ONNX model made on the spot, with or without data."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from studio.recipes.recipe import Preprocessing, Recipe
from studio.recipes.source import DataSet, SourceModel


@dataclass(frozen=True)
class TinyProject:
    """What `run_recipe` needs of a project."""

    source: SourceModel
    recipe: Recipe = field(default_factory=Recipe)
    calibration: DataSet | None = None
    evaluation: DataSet | None = None
    preprocessing: Preprocessing = field(default_factory=Preprocessing)


class Silent:
    """A report that remembers the stages it was told."""

    def __init__(self) -> None:
        self.stages: list[str] = []

    def progress(self, stage: str, done: int, total: int | None = None, unit: str = "") -> None:
        self.stages.append(stage)

    def log(self, text: str) -> None: ...


def save_convolution(path: Path, *, opset: int = 18, batch: int | str = 1) -> Path:
    """Conv 3→8, Relu, GlobalAveragePool, Flatten, Gemm → 4 scores, on `[batch, 3, 16, 16]`."""
    random = np.random.default_rng(0)

    def constant(name: str, *shape: int) -> onnx.TensorProto:
        return numpy_helper.from_array(random.normal(0, 0.5, shape).astype(np.float32), name)

    nodes = [
        helper.make_node("Conv", ["x", "w1", "b1"], ["c"], name="conv", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"], name="relu"),
        helper.make_node("GlobalAveragePool", ["r"], ["g"], name="pool"),
        helper.make_node("Flatten", ["g"], ["f"], name="flatten"),
        helper.make_node("Gemm", ["f", "w2", "b2"], ["scores"], name="gemm", transB=1),
    ]
    nodes[0].metadata_props.add(key="pkg.torch.onnx.name_scopes", value="['', 'conv']")
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [batch, 3, 16, 16])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [batch, 4])],
        [constant("w1", 8, 3, 3, 3), constant("b1", 8), constant("w2", 4, 8), constant("b2", 4)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    onnx.save(model, str(path))
    return path


def save_arrays(path: Path, count: int = 12, *, labels: bool = True) -> Path:
    """`count` float samples `[3, 16, 16]`, with labels 0…3."""
    random = np.random.default_rng(1)
    arrays = {"inputs": random.normal(0, 1, (count, 3, 16, 16)).astype(np.float32)}
    if labels:
        arrays["labels"] = random.integers(0, 4, count)
    np.savez(path, **arrays)
    return path
