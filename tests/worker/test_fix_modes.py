"""A scalar that decides on a branch: each branch is tried, and a size is chosen only when it fits all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from studio.errors import UnsupportedError
from studio.recipes.fixes import FixOptions, FixOutcome, apply_fix
from studio.recipes.fixes.modes import modes
from studio.recipes.fixes.prove import reference_runs
from studio.recipes.fixes.runner import Runner

N = helper.make_node


def branch(name: str, length: int) -> onnx.GraphProto:
    """Takes `length` numbers, or any count when 0, and tells which branch it is."""
    shape = [1, length] if length else [1, -1]
    nodes = [
        N("Reshape", ["x", f"{name}_shape"], [f"{name}_r"]),
        N("Mul", [f"{name}_r", f"{name}_by"], [f"{name}_y"]),
    ]
    constants = [
        numpy_helper.from_array(np.array(shape, np.int64), f"{name}_shape"),
        numpy_helper.from_array(np.float32(len(name)), f"{name}_by"),
    ]
    out = helper.make_tensor_value_info(f"{name}_y", TensorProto.FLOAT, None)
    return helper.make_graph(nodes, name, [], [out], constants)


def net(decide: list[Any], then: int, other: int, kind: int = TensorProto.INT64) -> onnx.ModelProto:
    """x[1, T] and the scalar `sr` → one of two branches, which take so many numbers."""
    nodes = [
        *decide,
        N("If", ["is_then"], ["i"], then_branch=branch("then", then), else_branch=branch("other", other)),
        N("Dropout", ["i"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes, "two",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, "T"]),
         helper.make_tensor_value_info("sr", kind, [])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, "U"])],
        [numpy_helper.from_array(np.array(16000, np.int64), "rate")],
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


EQUAL = [N("Equal", ["sr", "rate"], ["is_then"])]


def freeze(tmp_path: Path, made: onnx.ModelProto, **options: Any) -> FixOutcome:
    onnx.save(made, str(tmp_path / "net.onnx"))
    return apply_fix(tmp_path / "net.onnx", "freeze-dims", tmp_path / "out.onnx", FixOptions(**options))


@pytest.mark.parametrize(
    ("decide", "kind", "expected"),
    [
        (EQUAL, TensorProto.INT64, [16000, 16001]),
        ([N("Cast", ["sr"], ["w"], to=TensorProto.INT64), N("Less", ["w", "rate"], ["is_then"])],
         TensorProto.INT32, [15999, 16000, 16001, 16002]),
        ([N("Not", ["sr"], ["is_then"])], TensorProto.BOOL, [0, 1]),
    ],
)  # fmt: skip
def test_modes_are_what_the_graph_compares_with_and_another(
    decide: list[Any], kind: int, expected: list[int]
) -> None:
    assert [mode["sr"] for mode in modes(net(decide, 0, 0, kind))] == expected


def test_a_scalar_that_decides_on_nothing_has_no_modes() -> None:
    made = net([N("Equal", ["sr", "rate"], ["unused"]), N("Less", ["rate", "rate"], ["is_then"])], 0, 0)
    assert modes(made) == ({},)


def test_both_branches_are_run_for_a_proof() -> None:
    runs = reference_runs(Runner(net(EQUAL, 0, 0)), "")
    assert {int(feeds["sr"]) for feeds, _ in runs} == {16000, 16001}
    assert {round(float(out["y"][0, 0] / feeds["x"][0, 0])) for feeds, out in runs} == {4, 5}


def test_the_chosen_size_fits_every_branch(tmp_path: Path) -> None:
    outcome = freeze(tmp_path, net(EQUAL, 512, 0))
    assert outcome.changed == ("T=512",)
    assert outcome.proof.samples == 6 and outcome.proof.holds


def test_without_a_size_for_every_branch_it_is_refused_with_what_fits_each(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match=r"sr=16000: T=512; sr=16001: T=128") as refused:
        freeze(tmp_path, net(EQUAL, 512, 128))
    assert "--dim" in refused.value.hint
    assert not (tmp_path / "out.onnx").exists()


def test_a_given_size_is_taken_and_the_branch_that_it_does_not_fit_is_named(tmp_path: Path) -> None:
    outcome = freeze(tmp_path, net(EQUAL, 512, 128), dims={"T": (128,)})
    assert any("does not run for sr=16000" in note for note in outcome.notes)
    assert outcome.proof.samples == 3


def test_a_branch_that_runs_with_no_size_is_not_asked_for(tmp_path: Path) -> None:
    assert freeze(tmp_path, net(EQUAL, 7, 128)).changed == ("T=128",)
