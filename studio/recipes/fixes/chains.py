"""Constants folded, Identity removed, chains of Slice merged into one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from studio.graph.onnx_inference import inferred
from studio.graph.onnx_tensors import type_of
from studio.recipes.fixes.fix import FixOptions, Rewrite
from studio.recipes.fixes.onnx_edit import OnnxEdit
from studio.recipes.fixes.protos import attribute, dtype_of, label, nothing_to_do

_LARGEST_ELEMENTS = 4096  # shape arithmetic is small; folding a big constant would only grow the file
_NOT_FOLDED = {
    "RandomNormal",
    "RandomUniform",
    "RandomNormalLike",
    "RandomUniformLike",
    "Bernoulli",
    "Multinomial",
}
_QUANTIZATION = {"QuantizeLinear", "DequantizeLinear"}


def fold(edit: OnnxEdit, options: FixOptions) -> Rewrite:
    """The model without what can be computed now. Raises UnsupportedError when nothing can."""
    changed = [*fold_constants(edit), *_drop_identities(edit), *_merge_slices(edit)]
    if not changed:
        raise nothing_to_do("no constant arithmetic, Identity or Slice chain")
    return Rewrite(models=[("", edit.model)], changed=tuple(changed), tolerance=1e-6)


def fold_constants(edit: OnnxEdit) -> list[str]:
    """Folds nodes whose inputs are known, Shape of a static tensor included; names of the folded."""
    from onnx.reference import ReferenceEvaluator

    folded: list[str] = []
    known: dict[str, Any] = {}
    for node in edit.nodes:
        if node.op_type in _NOT_FOLDED | _QUANTIZATION | {"Constant"} or node.domain not in ("", "ai.onnx"):
            continue
        if any(a.HasField("g") or a.graphs for a in node.attribute):
            continue
        if node.op_type == "Shape":
            shape = edit.static_shape(node.input[0])
            if shape is None:
                continue
            start, end = _bounds(node, len(shape))
            values = [np.array(shape[start:end], np.int64)]
        elif node.op_type == "CastLike" and (like := edit.element_type(node.input[1])):
            known_input = known.get(node.input[0], edit.constant(node.input[0]))
            if known_input is None or known_input.size > _LARGEST_ELEMENTS:
                continue
            values = [known_input.astype(dtype_of(like))]
        else:
            inputs = {n: known.get(n, edit.constant(n)) for n in node.input if n}
            if not inputs or any(v is None or v.size > _LARGEST_ELEMENTS for v in inputs.values()):
                continue
            alone = _alone(edit, node)
            if _makes_much(alone, inputs):
                continue
            try:
                values = ReferenceEvaluator(alone).run(None, inputs)
            except Exception:  # the reference lacks the operator or the inputs are wrong: leave it
                continue
        if any(not isinstance(v, np.ndarray | np.generic) or np.size(v) > _LARGEST_ELEMENTS for v in values):
            continue
        if any(edit.is_output(out) for out in node.output):
            continue
        for out, value in zip(node.output, values):
            known[out] = np.asarray(value)
            edit.rename_reads(out, edit.add_constant(np.asarray(value), f"{out}_folded"))
        folded.append(label(node))
    if folded:
        edit.prune()
    return folded


def _bounds(node: Any, rank: int) -> tuple[int, int]:
    start, end = attribute(node, "start", 0), attribute(node, "end", rank)
    return max(start + rank if start < 0 else start, 0), min(end + rank if end < 0 else end, rank)


def _alone(edit: OnnxEdit, node: Any) -> Any:
    """A model of one node, for the reference evaluator."""
    from onnx import helper

    inputs = [helper.make_value_info(n, helper.make_tensor_type_proto(0, None)) for n in node.input if n]
    outputs = [helper.make_value_info(n, helper.make_tensor_type_proto(0, None)) for n in node.output if n]
    graph = helper.make_graph([node], "alone", inputs, outputs)
    return helper.make_model(graph, opset_imports=list(edit.model.opset_import))


def _makes_much(alone: Any, inputs: dict[str, Any]) -> bool:
    """Whether a node's results are known to be too large to fold: eight bytes can ask for a terabyte."""
    from onnx import numpy_helper

    stated = type(alone)()
    stated.CopyFrom(alone)
    stated.graph.initializer.extend(numpy_helper.from_array(v, name) for name, v in inputs.items())
    del stated.graph.input[:]
    shaped = inferred(stated)
    for value in [*shaped.graph.output, *shaped.graph.value_info]:
        shape = type_of(value.type)[1]
        known = [dim for dim in shape or () if isinstance(dim, int)]
        if 0 not in known and math.prod(known) > _LARGEST_ELEMENTS:
            return True
    return False


def _drop_identities(edit: OnnxEdit) -> list[str]:
    dropped = []
    for node in edit.named("Identity"):
        if edit.is_output(node.output[0]):
            continue
        source = node.input[0]
        while (maker := edit.producer.get(source)) is not None and maker.op_type == "Identity":
            source = maker.input[0]
        if edit.is_captured(node.output[0]):
            continue
        edit.rename_reads(node.output[0], source)
        dropped.append(label(node))
    if dropped:
        edit.prune()
    return dropped


def _merge_slices(edit: OnnxEdit) -> list[str]:
    merged = []
    for first in edit.named("Slice"):
        if edit.is_replaced(first):
            continue
        chain, parts = [first], _slice_parts(edit, first)
        if parts is None:
            continue
        while (following := edit.only_reader(chain[-1].output[0])) is not None:
            if following.op_type != "Slice" or edit.is_replaced(following):
                break
            more = _slice_parts(edit, following)
            if more is None or set(more) & set(parts):
                break
            parts |= more
            chain.append(following)
        if len(chain) < 2:
            continue
        axes = sorted(parts)
        base = label(chain[-1])
        columns = [np.array([parts[a][k] for a in axes], np.int64) for k in range(3)]
        starts, ends, steps = (
            edit.add_constant(column, f"{base}_{name}")
            for column, name in zip(columns, ("starts", "ends", "steps"))
        )
        axes_name = edit.add_constant(np.array(axes, np.int64), f"{base}_axes")
        inputs = [first.input[0], starts, ends, axes_name, steps]
        edit.replace(chain, [edit.make("Slice", inputs, [chain[-1].output[0]], f"{base}_merged")])
        merged += [label(node) for node in chain]
    if merged:
        edit.prune()
    return merged


def _slice_parts(edit: OnnxEdit, node: Any) -> dict[int, tuple[int, int, int]] | None:
    """axis → (start, end, step), None when something is computed."""
    if len(node.input) < 3:
        return None
    starts, ends = edit.constant(node.input[1]), edit.constant(node.input[2])
    shape = edit.shape(node.input[0])
    if starts is None or ends is None or shape is None:
        return None
    axes = edit.constant(node.input[3]) if len(node.input) > 3 and node.input[3] else np.arange(len(starts))
    steps = edit.constant(node.input[4]) if len(node.input) > 4 and node.input[4] else np.ones(len(starts))
    if axes is None or steps is None:
        return None
    return {int(a) % len(shape): (int(s), int(e), int(t)) for a, s, e, t in zip(axes, starts, ends, steps)}
