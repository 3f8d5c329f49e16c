"""A layer normalisation recognised in its parts: mean, variance, root, scale and bias."""

from __future__ import annotations

from typing import Any

from studio.recipes.fixes.onnx_edit import OnnxEdit
from studio.recipes.fixes.protos import attribute, label
from studio.recipes.fixes.subgraphs import Match, made_by, scalar_of


def layernorm_of(edit: OnnxEdit, add: Any) -> Match | None:
    """The LayerNormalization that ends in an Add, else None."""
    if add.op_type != "Add":
        return None
    for scaled_name, bias_name in ((add.input[0], add.input[1]), (add.input[1], add.input[0])):
        scaled = made_by(edit, scaled_name, "Mul")
        bias = edit.constant(bias_name)
        if scaled is None or bias is None:
            continue
        for normal_name, scale_name in (
            (scaled.input[0], scaled.input[1]),
            (scaled.input[1], scaled.input[0]),
        ):
            scale = edit.constant(scale_name)
            found = _normalized(edit, normal_name) if scale is not None else None
            if found is None or scale is None:
                continue
            group, x, axes, epsilon = found
            shape = edit.shape(x)
            rank = len(shape) if shape else 0
            axis = min(a % rank for a in axes) if rank else -1
            is_last = rank and sorted(a % rank for a in axes) == list(range(axis, rank))
            if not is_last or scale.ndim > len(axes) or bias.shape != scale.shape:
                continue
            made = edit.make(
                "LayerNormalization",
                [x, scale_name, bias_name],
                [add.output[0]],
                f"{label(add)}_layernorm",
                axis=axis - rank,
                epsilon=epsilon,
            )
            return [*group, scaled, add], [made]
    return None


def _normalized(edit: OnnxEdit, tensor: str) -> tuple[list[Any], str, list[int], float] | None:
    """(nodes, x, axes, epsilon) of (x − mean) / sqrt(mean((x − mean)²) + ε)."""
    div = made_by(edit, tensor, "Div")
    if div is None:
        return None
    centred, root = made_by(edit, div.input[0], "Sub"), made_by(edit, div.input[1], "Sqrt")
    shifted = made_by(edit, root.input[0], "Add") if root is not None else None
    if centred is None or root is None or shifted is None:
        return None
    for variance_name, epsilon_name in (
        (shifted.input[0], shifted.input[1]),
        (shifted.input[1], shifted.input[0]),
    ):
        epsilon = scalar_of(edit, epsilon_name)
        variance = made_by(edit, variance_name, "ReduceMean")
        mean = made_by(edit, centred.input[1], "ReduceMean")
        square = edit.producer.get(variance.input[0]) if variance is not None else None
        if epsilon is None or variance is None or mean is None or square is None:
            continue
        again = made_by(edit, square.input[0], "Sub")
        is_square = (square.op_type == "Pow" and scalar_of(edit, square.input[1]) == 2.0) or (
            square.op_type == "Mul" and square.input[0] == square.input[1]
        )
        same_mean = again is not None and list(again.input) == list(centred.input)
        axes, mean_axes = _axes(edit, variance), _axes(edit, mean)
        if (
            not is_square
            or not same_mean
            or mean.input[0] != centred.input[0]
            or axes is None
            or axes != mean_axes
        ):
            continue
        if not attribute(mean, "keepdims", 1) or not attribute(variance, "keepdims", 1):
            continue
        group = [mean, centred, square, variance, shifted, root, div]
        if again is not None and again is not centred:
            group.insert(2, again)
        return group, str(centred.input[0]), axes, epsilon
    return None


def _axes(edit: OnnxEdit, node: Any) -> list[int] | None:
    axes = attribute(node, "axes")
    if axes is None and len(node.input) > 1:
        value = edit.constant(node.input[1])
        axes = value.reshape(-1).tolist() if value is not None else None
    return [int(a) for a in axes] if axes is not None else None
