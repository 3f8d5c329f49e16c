"""The overlays of the studio: verdicts, partitions, values, quantisation, differences."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QCoreApplication

from studio.graph import Graph
from studio.support import TargetVerdicts, Verdict
from studio.support.verdict import VERDICTS
from studio.targets import TARGETS
from studio.ui.canvas.overlay import NO_CATEGORY, Category, Gather, Hatch, Icon, Outline, Overlay


def _tr(text: str) -> str:
    return QCoreApplication.translate("canvas", text)


def verdict_categories() -> tuple[Category, ...]:
    """Legend of verdicts, in the order of VERDICTS. What fails wins over what falls back, and so on."""
    looks = {
        Verdict.RUNS: Category(_tr("runs"), "runs", Icon.CHECK, Hatch.SOLID, 0),
        Verdict.CONDITIONAL: Category(_tr("conditional"), "conditional", Icon.DIAMOND, Hatch.DOTTED, 1, True),
        Verdict.FALLS_BACK: Category(_tr("falls back"), "falls_back", Icon.TRIANGLE, Hatch.DIAGONAL, 3, True),
        Verdict.FAILS: Category(_tr("fails"), "fails", Icon.CROSS, Hatch.CROSSED, 4, True),
        Verdict.UNKNOWN: Category(_tr("unknown"), "unknown", Icon.QUESTION, Hatch.STRIPES, 2),
    }
    return tuple(looks[v] for v in VERDICTS)


def verdict_sentence(verdicts: TargetVerdicts, node: int) -> str:
    """What a target does with a node, why, and who says so."""
    if not 0 <= node < len(verdicts.codes):
        return ""
    word = verdict_categories()[int(verdicts.codes[node])].title
    reason = verdicts.reason(node)
    source = f"\n{reason.source}" if reason.source else ""
    return f"{_target_title(verdicts.target_id)}: {word}. {reason.text}{source}"


def _target_title(target_id: str) -> str:
    target = TARGETS.get(target_id)
    return target.title if target else target_id


def verdict_overlay(verdicts: TargetVerdicts) -> Overlay:
    """Every node in the colour of what a target does with it."""
    return Overlay(
        name=_target_title(verdicts.target_id),
        categories=verdict_categories(),
        codes=verdicts.codes,
        sentence=lambda node: verdict_sentence(verdicts, node),
    )


def partition_overlay(graph: Graph, verdicts: TargetVerdicts) -> Overlay:
    """The partitions of a target: a colour and an outline each, and the edges that cross their borders."""
    count = len(verdicts.partitions)
    hatches = (Hatch.SOLID, Hatch.DIAGONAL, Hatch.STRIPES, Hatch.DOTTED, Hatch.CROSSED)
    shown = min(count, NO_CATEGORY - 2)
    categories = [
        Category(
            _tr("partition {number} of {count}").format(number=k + 1, count=count),
            f"partition:{k}",
            hatch=hatches[k // 8 % len(hatches)],
        )
        for k in range(shown)
    ]
    off = Category(_tr("not on the accelerator"), "falls_back", Icon.TRIANGLE, Hatch.DIAGONAL, 1, True)
    place = verdicts.partition_of
    if len(place) != graph.node_count:
        place = np.full(graph.node_count, -1, np.int32)
        for k, partition in enumerate(verdicts.partitions):
            place[list(partition.nodes)] = k
    # beyond the 253rd the colours repeat; the outlines still tell partitions apart
    codes = np.where(place < 0, shown, place % max(shown, 1)).astype(np.uint8)
    outlines = tuple(
        Outline(category.title, category.color, np.flatnonzero(place == k).astype(np.int32))
        for k, category in enumerate(categories)
    )
    source, target, tensor = graph.edges
    crossing = place[source] != place[target]
    weight = {t: float(max(int(graph.tensor_bytes[t]), 0)) for t in np.unique(tensor[crossing]).tolist()}

    def sentence(node: int) -> str:
        k = int(place[node]) if 0 <= node < len(place) else -1
        where = categories[k % shown].title if k >= 0 and shown else off.title
        return f"{where}\n{verdict_sentence(verdicts, node)}"

    return Overlay(
        name=_tr("Partitions · {target}").format(target=_target_title(verdicts.target_id)),
        categories=(*categories, off),
        codes=codes,
        outlines=outlines,
        tensor_weight=weight,
        tensor_note={t: value_text(b, "B") for t, b in weight.items() if b},
        sentence=sentence,
    )


def value_text(value: float, unit: str) -> str:
    """A value with its unit, in three figures: `1.25 M MACs`, `12.3 kB`."""
    if value != value:
        return ""
    size = abs(value)
    for limit, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if size >= limit:
            scaled, mark = value / limit, prefix
            break
    else:
        scaled, mark = value, ""
    figures = f"{scaled:.3g}" if abs(scaled) < 1000 else f"{scaled:.0f}"
    space = "" if unit.startswith("%") and not mark else " "
    return f"{figures}{space}{mark}{unit}" if unit or mark else figures


def value_overlay(
    name: str,
    values: npt.NDArray[np.floating] | npt.NDArray[np.integer],
    unit: str,
    *,
    gather: Gather = Gather.SUM,
) -> Overlay:
    """A heat map of one figure per node; negative and NaN mean unknown. Figures of a collapsed scope
    are added up, or with Gather.MAX the largest counts (errors)."""
    figures = np.asarray(values, np.float64).copy()
    figures[~np.isfinite(figures) | (figures < 0)] = np.nan
    total = float(np.nansum(figures)) if gather is Gather.SUM else 0.0

    def sentence(node: int) -> str:
        value = float(figures[node]) if 0 <= node < len(figures) else float("nan")
        if value != value:
            return f"{name}: {_tr('unknown')}"
        share = f" ({value / total:.1%})" if total > 0 else ""
        return f"{name}: {value_text(value, unit)}{share}"

    return Overlay(name=name, values=figures, unit=unit, gather=gather, sentence=sentence)


QUANTIZE_OPS = frozenset({"QuantizeLinear", "QUANTIZE", "quantize_per_tensor", "quantize_per_channel"})
DEQUANTIZE_OPS = frozenset(
    {"DequantizeLinear", "DEQUANTIZE", "dequantize_per_tensor", "dequantize_per_channel"}
)
_WHOLE = frozenset({"int4", "uint4", "int8", "uint8", "int16", "uint16"})
_FLOATS = frozenset({"float16", "bfloat16", "float32", "float64"})
INTEGER, FLOAT, BORDER, REQUANTIZE, ISLAND, OTHER = range(6)


def quantization_overlay(graph: Graph) -> Overlay:
    """Where a graph computes in integers: integer nodes, the borders to float, pairs that only change
    the scale (a dequantize straight into a quantize), and float islands in a quantised model."""
    codes = quantization_codes(graph)
    return Overlay(
        name=_tr("Quantisation"),
        categories=(
            Category(_tr("integer"), "integer", Icon.CHECK, Hatch.SOLID, 1),
            Category(_tr("float"), "same", Icon.NONE, Hatch.STRIPES, 0),
            Category(_tr("quantize / dequantize"), "boundary", Icon.DOT, Hatch.DOTTED, 2),
            Category(_tr("requantize pair"), "conditional", Icon.DIAMOND, Hatch.CROSSED, 3, True),
            Category(_tr("float island"), "floating", Icon.TRIANGLE, Hatch.DIAGONAL, 4, True),
            Category(_tr("no arithmetic on activations"), "same", Icon.NONE, Hatch.SOLID, 0),
        ),
        codes=codes,
        sentence=lambda node: _quantization_sentence(graph, int(codes[node]), node),
    )


def quantization_codes(graph: Graph) -> npt.NDArray[np.uint8]:
    """[nodes] INTEGER, FLOAT, BORDER, REQUANTIZE, ISLAND or OTHER.

    A node counts as integer when its activations are quantised tensors, or when all its float
    activations come from dequantize nodes and go to quantize nodes (the QDQ form).
    """
    base = [op.rsplit("::", 1)[-1].split(".")[0] for op in graph.node_op]
    is_quantize = np.array([b in QUANTIZE_OPS for b in base], np.bool_)
    is_dequantize = np.array([b in DEQUANTIZE_OPS for b in base], np.bool_)
    tensor_is_float = np.array([d in _FLOATS for d in graph.tensor_dtype], np.bool_)
    tensor_is_whole = np.array(
        [
            d in _WHOLE or (d == "int32" and t in graph.tensor_quantization)
            for t, d in enumerate(graph.tensor_dtype)
        ],
        np.bool_,
    )
    codes = np.full(graph.node_count, OTHER, np.uint8)
    constant = graph.tensor_kind == 2
    for node in range(graph.node_count):
        if is_quantize[node] or is_dequantize[node]:
            codes[node] = BORDER
            continue
        inputs = [t for t in graph.inputs_of(node).tolist() if t >= 0 and not constant[t]]
        outputs = [t for t in graph.outputs_of(node).tolist() if t >= 0]
        floats_in = [t for t in inputs if tensor_is_float[t]]
        floats_out = [t for t in outputs if tensor_is_float[t]]
        if not floats_in and not floats_out:
            if any(tensor_is_whole[t] for t in (*inputs, *outputs)):
                codes[node] = INTEGER
            continue
        fed = all(graph.producer_of[t] >= 0 and is_dequantize[graph.producer_of[t]] for t in floats_in)
        drained = all(
            len(graph.consumers_of(t)) and is_quantize[graph.consumers_of(t)].all() for t in floats_out
        )
        codes[node] = INTEGER if fed and drained else FLOAT
    source, target, tensor = graph.edges
    pair = is_dequantize[source] & is_quantize[target]
    codes[source[pair]] = REQUANTIZE
    codes[target[pair]] = REQUANTIZE
    # a tflite QUANTIZE between two integer tensors changes the scale as well
    whole_step = is_quantize[target] & tensor_is_whole[tensor]
    codes[target[whole_step]] = REQUANTIZE
    if (codes == INTEGER).any():
        codes[codes == FLOAT] = ISLAND
    return codes


def _quantization_sentence(graph: Graph, code: int, node: int) -> str:
    from studio.ui.canvas.labels import quantization_text

    word = {
        INTEGER: _tr("Computes in integers."),
        FLOAT: _tr("Computes in floating point."),
        BORDER: _tr("Goes between floating point and integers."),
        REQUANTIZE: _tr("Only changes scale or zero point: often a sign of mismatched parameters."),
        ISLAND: _tr("Computes in floating point inside a quantised model."),
        OTHER: _tr("Does not compute on activations."),
    }[code]
    notes = [
        quantization_text(graph.tensor_quantization[t])
        for t in graph.outputs_of(node).tolist()
        if t in graph.tensor_quantization
    ]
    return f"{word} {' · '.join(n for n in notes if n)}".strip()
