"""Our ONNX reader against onnx itself, on every model that the onnx package carries."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from studio.graph import open_graph
from studio.graph.onnx_tensors import type_of

DATA = Path(onnx.__file__).parent / "backend" / "test" / "data"
FOLDERS = ("light", "pytorch-converted", "pytorch-operator", "real", "simple")


def nodes_in(graph: onnx.GraphProto) -> int:
    total = len(graph.node)
    for node in graph.node:
        for attribute in node.attribute:
            total += nodes_in(attribute.g) if attribute.type == 5 else 0
            total += sum(nodes_in(body) for body in attribute.graphs)
    return total


@pytest.mark.parametrize("folder", FOLDERS)
def test_nodes_types_and_shapes_are_those_of_onnx(folder: str) -> None:
    files = sorted((DATA / folder).rglob("*.onnx"))
    if not files:
        pytest.skip("this onnx package carries none of these")
    for file in files:
        model = onnx.load(str(file), load_external_data=False)
        graph = open_graph(file)
        bodies = sum(len(function.node) for function in model.functions)
        assert graph.node_count == nodes_in(model.graph) + bodies, file
        try:
            model = onnx.shape_inference.infer_shapes(model, data_prop=True)
        except onnx.shape_inference.InferenceError:
            assert any("could not be inferred" in note for note in graph.notes), file
        ids = {name: index for index, name in enumerate(graph.tensor_name)}
        constants = {tensor.name for tensor in model.graph.initializer}
        outputs = {info.name for info in model.graph.output}
        infos = [*model.graph.input, *(i for i in model.graph.value_info if i.name not in outputs)]
        for info in [*infos, *model.graph.output]:
            if info.name not in constants:
                found = (graph.tensor_dtype[ids[info.name]], graph.tensor_shape[ids[info.name]])
                assert found == type_of(info.type), (file, info.name)
