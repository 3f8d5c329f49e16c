"""`fix` and `edit` on the command line: answers, exit codes, nothing written when refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from studio.cli.main import main
from studio.recipes.fixes import FIXES


@pytest.fixture
def net(tmp_path: Path) -> Path:
    """x [N, 3, L] → Conv (1-D) → Relu → y."""
    graph = helper.make_graph(
        [
            helper.make_node("Conv", ["x", "w"], ["c"], name="conv", pads=[1, 1]),
            helper.make_node("Relu", ["c"], ["y"], name="relu"),
        ],
        "tiny",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3, "L"])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 4, "L"])],
        [numpy_helper.from_array(np.ones((4, 3, 3), np.float32), "w")],
    )
    path = tmp_path / "net.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10), path)
    return path


def test_a_fix_says_verdicts_before_and_after(net: Path, capfd: pytest.CaptureFixture[str]) -> None:
    argv = ["fix", str(net), "--fix", "freeze-dims", "--dim", "N=1,2", "--dim", "L=16"]
    assert main([*argv, "--target", "ort/nnapi", "--json"]) == 0
    answer = json.loads(capfd.readouterr().out)
    assert [Path(f).name for f in answer["files"]] == ["net-freeze-dims-N1.onnx", "net-freeze-dims-N2.onnx"]
    assert all(Path(f).is_file() for f in answer["files"])
    assert answer["proof"]["max_relative_error"] <= answer["proof"]["tolerance"]
    assert set(answer["before"]) == {"ort/nnapi"} and len(answer["after"]) == 2


def test_dims_that_nobody_gave_are_chosen_and_said(net: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["fix", str(net), "--fix", "freeze-dims", "--json"]) == 0
    answer = json.loads(capfd.readouterr().out)
    assert answer["notes"][0].startswith("Sizes chosen here: N=1, L=128.")
    shape = onnx.load(answer["files"][0]).graph.output[0].type.tensor_type.shape
    assert [d.dim_value for d in shape.dim] == [1, 4, 128]


def test_every_fix_is_listed(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["fix", "--list", "--json"]) == 0
    assert [f["id"] for f in json.loads(capfd.readouterr().out)["fixes"]] == list(FIXES)


def test_of_a_file_only_the_fixes_that_help_a_target_are_listed(
    net: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["fix", str(net), "--list", "--target", "ort/nnapi", "--json"]) == 0
    found = json.loads(capfd.readouterr().out)
    assert [f["id"] for f in found["fixes"]] == ["freeze-dims"]
    assert found["offers"] and {o["target"] for o in found["offers"]} == {"ort/nnapi"}
    assert main(["fix", str(net), "--list", "--target", "ort/nnapi", "--dim", "N=1", "--dim", "L=8,16"]) == 0
    assert "conv1d-to-conv2d" in capfd.readouterr().out, "of the graph with these sizes"
    assert main(["fix", str(net), "--list", "--target", "ort/cpu"]) == 0
    assert "No fix helps" in capfd.readouterr().out


def test_nothing_to_fix_is_exit_code_3_and_writes_nothing(
    net: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["fix", str(net), "--fix", "fold-batchnorm"]) == 3
    assert "nothing to fix" in capfd.readouterr().err
    assert [p.name for p in net.parent.glob("*.onnx")] == ["net.onnx"]


@pytest.mark.parametrize(
    "argv",
    [
        ["--fix", "no-such-fix"],
        ["--fix", "freeze-dims", "--dim", "N=1"],
        ["--fix", "freeze-dims", "--dim", "N=zero"],
        ["--fix", "opset-up", "--opset", "99"],
        ["--fix", "fold-chains", "--out", "{net}"],
        [],
    ],
)
def test_a_wrong_call_is_exit_code_2_in_one_line(
    net: Path, argv: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    before = net.read_bytes()
    assert main(["fix", str(net), *(a.format(net=net) for a in argv)]) == 2
    said = capfd.readouterr().err.strip().splitlines()
    assert said[-1].startswith("error: ") and "Traceback" not in " ".join(said)
    assert net.read_bytes() == before


def test_edits_are_done_in_the_order_given(net: Path, capfd: pytest.CaptureFixture[str]) -> None:
    out = net.with_name("out.onnx")
    argv = [
        "edit",
        str(net),
        "--rename",
        "relu=last",
        "--remove",
        "last",
        "--freeze",
        "N=1",
        "--out",
        str(out),
    ]
    assert main([*argv, "--json"]) == 0
    assert len(json.loads(capfd.readouterr().out)["done"]) == 3
    assert [n.op_type for n in onnx.load(out).graph.node] == ["Conv", "Identity"]


def test_attribute_values_are_json(net: Path) -> None:
    out = net.with_name("out.onnx")
    assert main(["edit", str(net), "--set", "conv.pads=[2, 0]", "--out", str(out)]) == 0
    assert list(onnx.load(out).graph.node[0].attribute[0].ints) == [2, 0]


@pytest.mark.parametrize(
    "argv", [["--remove", "nobody"], ["--set", "conv.pads"], ["--rename", "conv"], ["--cut", "x"], []]
)
def test_a_wrong_edit_writes_nothing(net: Path, argv: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    out = net.with_name("out.onnx")
    assert main(["edit", str(net), *argv, "--out", str(out)]) == 2
    assert capfd.readouterr().err.strip().splitlines()[-1].startswith("error: ")
    assert not out.exists()
