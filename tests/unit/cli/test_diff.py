"""diff: what changed between two files, for people, for programs, and as an exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from studio.cli.main import main
from tests.unit.cli.tiny_models import conv_net


@pytest.fixture
def changed(tmp_path: Path) -> tuple[Path, Path]:
    """A net, and one with a weight doubled, other pads, and a Sigmoid behind the second Conv."""
    first, second = conv_net(tmp_path / "one.onnx"), conv_net(tmp_path / "two.onnx")
    model = onnx.load(second)
    graph = model.graph
    weight = graph.initializer[0]
    weight.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(weight) * 2, weight.name))
    graph.node[2].attribute[0].ints[:] = [2, 2, 0, 0]
    graph.node[3].input[0] = "s"
    graph.node.insert(3, onnx.helper.make_node("Sigmoid", ["c"], ["s"], name="squash"))
    onnx.save(model, second)
    return first, second


def ask(capfd: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> Any:
    assert main(["diff", *arguments, "--json"]) == code
    return json.loads(capfd.readouterr().out)


def test_it_says_what_was_changed_and_nothing_else(
    changed: tuple[Path, Path], capfd: pytest.CaptureFixture[str]
) -> None:
    found = ask(capfd, *map(str, changed), "--weights")
    assert found["counts"] == {"same": 3, "changed": 2, "added": 1, "removed": 0}
    assert found["weights_compared"]
    said = {(c["kind"], (c["second"] or c["first"])["name"], c["what"]) for c in found["changes"]}
    assert said == {
        ("weights", "conv1", "constant w1"), ("attribute", "conv2", "pads"), ("added", "squash", "Sigmoid"),
    }  # fmt: skip
    pads = next(c for c in found["changes"] if c["kind"] == "attribute")
    assert (pads["before"], pads["after"]) == ("[1, 1, 1, 1]", "[2, 2, 0, 0]")
    assert pads["first"] == {"node": 2, "name": "conv2", "op": "Conv"}
    assert next(c for c in found["changes"] if c["kind"] == "added")["first"] is None


def test_large_weights_are_read_when_asked_for(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    paths = []
    for k in (0, 1):
        weight = numpy_helper.from_array(np.full((64, 64), k, np.float32), "w")
        info = onnx.helper.make_tensor_value_info
        graph = onnx.helper.make_graph(
            [onnx.helper.make_node("MatMul", ["x", "w"], ["y"], name="multiply")], "g",
            [info("x", 1, [1, 64])], [info("y", 1, [1, 64])], [weight],
        )  # fmt: skip
        onnx.save(onnx.helper.make_model(graph, ir_version=9), tmp_path / f"{k}.onnx")
        paths.append(str(tmp_path / f"{k}.onnx"))
    assert ask(capfd, *paths)["changes"] == []
    (found,) = ask(capfd, *paths, "--weights")["changes"]
    assert (found["kind"], found["what"], found["after"]) == ("weights", "constant w", "differs by up to 1")


def test_people_read_it_as_a_table(changed: tuple[Path, Path], capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", *map(str, changed)]) == 0
    said = capfd.readouterr().out
    assert said.splitlines()[0] == "3 same · 2 changed · 1 added · 0 removed nodes"
    assert "[1, 1, 1, 1] → [2, 2, 0, 0]" in said
    assert "--weights" in said


def test_the_exit_code_is_one_only_where_it_was_asked_for(
    changed: tuple[Path, Path], capfd: pytest.CaptureFixture[str]
) -> None:
    first, second = map(str, changed)
    ask(capfd, first, second)
    ask(capfd, first, second, "--exit-code", code=1)
    ask(capfd, first, first, "--exit-code")


def test_a_file_that_is_no_model_is_refused(
    changed: tuple[Path, Path], capfd: pytest.CaptureFixture[str]
) -> None:
    (bad := changed[0].with_name("bad.onnx")).write_bytes(b"not a model")
    found = ask(capfd, str(changed[0]), str(bad), code=2)
    assert "bad.onnx" in json.dumps(found)
