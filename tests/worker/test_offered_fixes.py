"""What is offered is kept: every fix that a verdict names applies, proves equal and makes nothing worse."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from studio.errors import UnsupportedError
from studio.graph import open_graph
from studio.recipes.fixes import FIXES, FixOptions, FixOutcome, apply_fix, find_fix
from studio.recipes.fixes.apply import Judged
from studio.recipes.fixes.fix import Fix, Needs, Rewrite, rewriter_of
from studio.recipes.fixes.onnx_edit import OnnxEdit
from studio.support import Verdict, judge
from studio.targets import TARGETS
from tests.worker.fix_corpus import NAMES, array, between, build, half, model, one, tcn, value

SOC = "SM8650"
Offers = dict[str, set[str]]
_SEEN: dict[str, Offers] = {}


def offers(path: Path) -> Offers:
    """Fix → targets whose verdicts name it, as the verdict card and the problems list do."""
    graph = open_graph(path)
    found: Offers = {}
    for target, verdicts in judge(graph, list(TARGETS), soc=SOC).items():
        for node in range(graph.node_count):
            if verdicts.verdict(node) is not Verdict.RUNS:
                for fix in verdicts.reason(node).fixes:
                    found.setdefault(fix, set()).add(target)
    return found


def saved(name: str, folder: Path) -> Path:
    path = folder / f"{name}.onnx"
    onnx.save(build(name), path)
    _SEEN[name] = offers(path)
    return path


def real_inputs(path: Path) -> str:
    """A file of inputs for a fix that does not work without."""
    rng = np.random.default_rng(1)
    arrays = {}
    for info in onnx.load(str(path)).graph.input:
        shape = [d.dim_value or 2 for d in info.type.tensor_type.shape.dim]
        arrays[info.name] = rng.standard_normal((4, *shape)).astype(np.float32)
    np.savez(path.with_suffix(".npz"), **arrays)
    return str(path.with_suffix(".npz"))


def apply(path: Path, fix: str, targets: set[str]) -> FixOutcome:
    options = FixOptions(
        target=min(targets),
        soc=SOC,
        inputs_path=real_inputs(path) if Needs.INPUTS in find_fix(fix).needs else "",
    )
    return apply_fix(path, fix, path.with_name(f"{fix}.onnx"), options, targets=tuple(TARGETS))


def is_worse(before: Judged, after: Judged) -> bool:
    """Fewer MACs on the accelerator, more nodes off it for none gained, or more partitions for no gain."""
    taken = [sum(j.counts[v] for v in ("runs", "conditional")) for j in (before, after)]
    left = [sum(j.counts.values()) - t for j, t in zip((before, after), taken)]
    shares = [j.macs_share for j in (before, after)]
    if None not in shares and shares[1] < shares[0] - 1e-6:  # type: ignore[operator]
        return True
    gains = taken[1] > taken[0] or left[1] < left[0] or (shares[1] or 0) > (shares[0] or 0)
    loses = left[1] > left[0] and taken[1] <= taken[0]
    return loses or (after.partitions > max(before.partitions, 1) and not gains)


@pytest.mark.parametrize("name", NAMES)
def test_every_offered_fix_applies_proves_equal_and_makes_nothing_worse(name: str, tmp_path: Path) -> None:
    path = saved(name, tmp_path)
    for fix, targets in _SEEN[name].items():
        outcome = apply(path, fix, targets)
        assert outcome.proof.samples > 0 and outcome.changed, fix
        assert outcome.proof.max_relative_error <= outcome.proof.tolerance <= 0.05, fix
        for target, before in outcome.before.items():
            worse = all(is_worse(before, made[target]) for made in outcome.after)
            assert not (worse and target in targets), (fix, target, outcome.notes)
            said = any(TARGETS[target].title in note for note in outcome.notes if note.startswith("Worse on"))
            assert said == worse, (fix, target, "harm to another target is told")


def test_the_corpus_draws_every_fix_that_verdicts_offer(tmp_path: Path) -> None:
    for name in NAMES:
        if name not in _SEEN:
            saved(name, tmp_path)
    drawn = {fix for found in _SEEN.values() for fix in found}
    assert drawn >= {
        "freeze-dims", "opset-up", "opset-down", "fold-batchnorm", "conv1d-to-conv2d", "convtranspose-axis",
        "decompose-hardswish", "decompose-hardsigmoid", "decompose-gelu", "decompose-layernorm",
        "decompose-attention", "resize-half-pixel", "resize-asymmetric", "rank5-to-4", "clamp-inf-masks",
        "dynamic-quantize-to-static", "split-concat", "reducemean-to-gap", "einsum-to-matmul", "cut-tail",
    }  # fmt: skip
    assert drawn <= set(FIXES)


@pytest.mark.parametrize(
    ("name", "fix"),
    [
        ("tcn-computed-weights", "conv1d-to-conv2d"),
        ("topk-alone", "cut-tail"),
        ("rows-found", "freeze-dims"),
        ("einsum-diagonal", "einsum-to-matmul"),
        ("einsum-outer", "einsum-to-matmul"),
        ("mean-channels", "reducemean-to-gap"),
        ("rank5-transpose-all", "rank5-to-4"),
        ("rank5-no-shape", "rank5-to-4"),
        ("resize-nearest-odd-factor", "resize-asymmetric"),
        ("resize-nearest-half-pixel-floor", "resize-asymmetric"),
        ("resize-nearest-prefer-floor-3", "resize-asymmetric"),
        ("resize-pytorch-to-one", "resize-half-pixel"),
        ("in-a-body", "decompose-hardswish"),
        ("head-quantised-inside", "split-concat"),
        ("random-numbers", "opset-down"),
        ("range-returned", "dynamic-quantize-to-static"),
    ],
)
def test_a_fix_that_would_refuse_is_not_offered(name: str, fix: str, tmp_path: Path) -> None:
    path = saved(name, tmp_path)
    assert fix not in _SEEN[name]
    with pytest.raises(UnsupportedError):
        apply(path, fix, {"ort/nnapi"})


# Fixes broken on purpose: the proof must say no to each


def narrow_hardswish(edit: OnnxEdit, options: FixOptions) -> Rewrite:
    """Saturates at 5 in place of 6: wrong beyond x = 2 only."""
    done = rewriter_of(find_fix("decompose-hardswish"))(edit, options)
    for tensor in done.models[0][1].graph.initializer:
        if tensor.name.endswith("_high"):
            tensor.CopyFrom(numpy_helper.from_array(np.array(5.0, np.float32), tensor.name))
    return done


def no_dilation(edit: OnnxEdit, options: FixOptions) -> Rewrite:
    done = rewriter_of(find_fix("conv1d-to-conv2d"))(edit, options)
    for node in done.models[0][1].graph.node:
        for item in node.attribute:
            if item.name == "dilations":
                item.ints[:] = [1, 1]
            elif item.name == "pads":
                item.ints[:] = [0, 1, 0, 1]
    return done


def bias_forgotten(edit: OnnxEdit, options: FixOptions) -> Rewrite:
    done = rewriter_of(find_fix("fold-batchnorm"))(edit, options)
    for tensor in done.models[0][1].graph.initializer:
        if "bias" in tensor.name or "shift" in tensor.name:
            tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor) * 0, tensor.name))
    return done


def one_percent_off(edit: OnnxEdit, options: FixOptions) -> Rewrite:
    done = rewriter_of(find_fix("fold-batchnorm"))(edit, options)
    for tensor in done.models[0][1].graph.initializer:
        if "weight" in tensor.name:
            value_ = numpy_helper.to_array(tensor)
            tensor.CopyFrom(numpy_helper.from_array((value_ * 1.02).astype(value_.dtype), tensor.name))
    return done


def outputs_swapped(edit: OnnxEdit, options: FixOptions) -> Rewrite:
    done = rewriter_of(find_fix("fold-chains"))(edit, options)
    nodes = {n.output[0]: n for n in done.models[0][1].graph.node}
    nodes["y"].output[0], nodes["z"].output[0] = "z", "y"
    return done


def axis_forgotten(edit: OnnxEdit, options: FixOptions) -> Rewrite:
    done = rewriter_of(find_fix("rank5-to-4"))(edit, options)
    for node in done.models[0][1].graph.node:
        if node.op_type == "Softmax":
            next(a for a in node.attribute if a.name == "axis").i = 2
    return done


def output_lost(edit: OnnxEdit, options: FixOptions) -> Rewrite:
    done = rewriter_of(find_fix("fold-chains"))(edit, options)
    del done.models[0][1].graph.output[-1]
    return done


def _two_outputs() -> onnx.ModelProto:
    nodes = [
        helper.make_node("Identity", ["x"], ["i"]),
        helper.make_node("Relu", ["i"], ["y"]),
        helper.make_node("Abs", ["i"], ["z"]),
    ]
    return model(nodes, {"x": [1, 8]}, ["y", "z"])


def _norm() -> onnx.ModelProto:
    constants = [array("g", 4), array("b", 4), array("m", 4), value("v", [1, 2, 1, 0.5])]
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"]),
        helper.make_node("BatchNormalization", ["c", *(c.name for c in constants)], ["y"]),
    ]
    return model(nodes, {"x": [1, 3, 6, 6]}, ["y"], [array("w", 4, 3, 3, 3), *constants])


@pytest.mark.parametrize(
    ("broken", "make"),
    [
        (narrow_hardswish, lambda: between("HardSwish")),
        (no_dilation, tcn),
        (bias_forgotten, _norm),
        (one_percent_off, _norm),
        (one_percent_off, lambda: half(_norm())),
        (outputs_swapped, _two_outputs),
        (output_lost, _two_outputs),
        (axis_forgotten, lambda: one("Softmax", [1, 2, 3, 4, 5], axis=-1)),
    ],
)
def test_a_fix_broken_on_purpose_is_refused_and_writes_nothing(
    broken: Callable[[OnnxEdit, FixOptions], Rewrite],
    make: Callable[[], onnx.ModelProto],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = types.ModuleType("broken_fixes")
    module.rewrite = broken  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "broken_fixes", module)
    fix = Fix(id="broken", title="Broken", gain="None.", address="broken_fixes:rewrite")
    monkeypatch.setitem(FIXES, "broken", fix)
    onnx.save(make(), tmp_path / "in.onnx")
    with pytest.raises(UnsupportedError):
        apply_fix(tmp_path / "in.onnx", "broken", tmp_path / "out.onnx", FixOptions())
    assert [p.name for p in tmp_path.iterdir()] == ["in.onnx"]
