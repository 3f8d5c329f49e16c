"""How many nodes a model is once its functions are inlined, and who refuses to do it."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from studio.errors import InputError
from studio.graph.onnx_calls import MAX_INLINED_NODES, expanded_nodes, refuse_expansion_of


def nested(path: Path, depth: int, *, endless: bool = False) -> Path:
    """A model of one call whose function calls two, each of which calls two, … down to two Neg."""
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("f", 1)]
    functions = []
    for level in range(depth):
        last = level == depth - 1
        callee, domain = (f"F{level + 1}", "f") if not last else ("F0", "f") if endless else ("Neg", "")
        calls = [
            helper.make_node(callee, ["a"], ["t"], domain=domain),
            helper.make_node(callee, ["t"], ["b"], domain=domain),
        ]
        functions.append(helper.make_function("f", f"F{level}", ["a"], ["b"], calls, imports))
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy")
    graph = helper.make_graph([helper.make_node("F0", ["x"], ["y"], domain="f")], "g", [x], [y])
    model = helper.make_model(graph, opset_imports=imports, functions=functions, ir_version=8)
    path.write_bytes(model.SerializeToString())
    return path


def test_every_call_counts_the_nodes_of_its_function(tmp_path: Path) -> None:
    model = onnx.load(str(nested(tmp_path / "m.onnx", 3)))
    assert expanded_nodes(model, 100) == 1 + 2 + 4 + 8  # calls of three levels, and eight Neg
    assert expanded_nodes(model, 5) > 5


@pytest.mark.parametrize(("depth", "endless"), [(40, False), (2, True)])
def test_models_that_explode_are_refused_for_runtimes(tmp_path: Path, depth: int, endless: bool) -> None:
    path = nested(tmp_path / "bomb.onnx", depth, endless=endless)
    with pytest.raises(InputError, match=r"bomb.onnx call each other .* 200,000 nodes") as caught:
        refuse_expansion_of(path)
    assert caught.value.hint


def test_models_that_do_not_explode_and_other_files_pass(tmp_path: Path) -> None:
    refuse_expansion_of(nested(tmp_path / "m.onnx", 10))
    (tmp_path / "other.ort").write_bytes(b"\x18\0\0\0ORTM" + b"\0" * 50)
    refuse_expansion_of(tmp_path / "other.ort")
    assert MAX_INLINED_NODES == 200_000


def test_no_way_to_onnx_runtime_takes_a_model_that_explodes(tmp_path: Path) -> None:
    """Loading, converting, rewriting, asking: each would hang in a C call that nothing cancels."""
    from studio.backends.ask_ort import ask_cpu
    from studio.backends.backend import Report
    from studio.backends.ort import OrtBackend
    from studio.recipes.fixes.onnx_edit import OnnxEdit

    path = nested(tmp_path / "bomb.onnx", 40)

    class Quiet(Report):
        def progress(self, stage: str, done: float, total: float | None) -> None: ...

    for attempt in (
        lambda: OrtBackend().load(path),
        lambda: OrtBackend().convert(path, {}, tmp_path, Quiet()),  # type: ignore[arg-type]
        lambda: ask_cpu(path),
        lambda: OnnxEdit.load(path),
    ):
        with pytest.raises(InputError, match="call each other"):
            attempt()
