"""The words on a box: short names, shapes, counts. Shared by the canvas, pictures and tables."""

from __future__ import annotations

import re

from studio.graph.graph import Graph, Quantization, Shape

_SHORT = {
    "float32": "f32", "float16": "f16", "bfloat16": "bf16", "float64": "f64",
    "int8": "i8", "uint8": "u8", "int16": "i16", "int32": "i32", "int64": "i64",
    "int4": "i4", "uint4": "u4",
}  # fmt: skip


def shape_text(shape: Shape | None) -> str:
    """A shape as people write it: `[1,3,H,W]`; `?` for an unknown dim, nothing for an unknown rank."""
    if shape is None:
        return ""
    return f"[{','.join('?' if dim is None else str(dim) for dim in shape)}]"


_ROOM = 18  # characters of a shape that a box of the usual width shows, beside the type
_IDENTIFIER = re.compile(r"[\w.:\-]+")


def short_shape_text(shape: Shape | None) -> str:
    """A shape for a box: every dim is there. Where names are too long for it they lose their middle, and
    a computed size is `(…)`: `[Dy…0,96,(…),(…)]`."""
    text = shape_text(shape)
    for longest in (12, 8, 6, 4):
        if shape is None or len(text) + text.count("…") <= _ROOM:  # it is twice as wide as a digit
            return text
        text = f"[{','.join(_short_dim(dim, longest) for dim in shape)}]"
    return text


def _short_dim(dim: int | str | None, longest: int) -> str:
    text = "?" if dim is None else str(dim)
    if isinstance(dim, int) or len(text) <= longest:
        return text
    if not _IDENTIFIER.fullmatch(text[:200]):
        return "(…)"
    tail = longest // 2 - 1
    return f"{text[: longest - tail - 1]}…{text[-tail:].lstrip('._')}"


def tensor_text(graph: Graph, tensor: int, *, is_whole: bool = False) -> str:
    """Shape and element type of a tensor in a few characters: `[1,64,56,56] f32`; with long names of dims
    in full when it `is_whole`."""
    dtype, shape = graph.tensor_dtype[tensor], graph.tensor_shape[tensor]
    return f"{shape_text(shape) if is_whole else short_shape_text(shape)} {_SHORT.get(dtype, dtype)}".strip()


def scale_text(quantization: Quantization) -> str:
    """`s 0.0123 z −4`, or the range of the scales when there is one per channel."""
    scales, zeros = quantization.scale, quantization.zero_point
    if not scales:
        return ""
    if len(scales) > 1:
        return f"s {min(scales):.3g}…{max(scales):.3g} ×{len(scales)}"
    zero = f" z {zeros[0]}".replace("-", "−") if zeros else ""
    return f"s {scales[0]:.3g}{zero}"


def output_text(graph: Graph, node: int, *, is_whole: bool = False) -> str:
    """Shape and type of a node's first output, and how many more it has."""
    outputs = [t for t in graph.outputs_of(node).tolist() if t >= 0]
    if not outputs:
        return ""
    more = f" +{len(outputs) - 1}" if len(outputs) > 1 else ""
    return tensor_text(graph, outputs[0], is_whole=is_whole) + more


def short_name(graph: Graph, node: int, limit: int = 80) -> str:
    """A node's name without its scope's path and without the operator that its box shows anyway."""
    name = graph.node_name[node]
    if len(name) > 4 * limit:
        name = name[-4 * limit :]
    if len(graph.node_scope) and graph.node_scope[node]:
        path = graph.scope_path(int(graph.node_scope[node]))
        for prefix in (path + "/", "/" + path + "/", path.replace("/", ".") + "."):
            if path and name.startswith(prefix):
                name = name[len(prefix) :]
                break
    op = graph.node_op[node]
    if name.startswith(op) and name[len(op) :].strip("_@.:-#").isdigit():
        return name[len(op) :]
    if name == op:
        return ""
    for suffix in ("/" + op, "_" + op, "." + op):
        if name.endswith(suffix):
            name = name[: -len(suffix)]
    return name[-limit:].strip("/")


def short_tensor(name: str, limit: int = 40) -> str:
    """The telling end of a tensor's name: `/mask/Mul_output_0` → `mask/Mul`."""
    name = name[-200:]
    head, _, number = name.rpartition("_output_")
    if head and number.isdigit():
        name = head if number == "0" else f"{head}:{number}"
    return "/".join(part for part in name.split("/")[-2:] if part)[-limit:]


def elide_left(text: str, columns: int) -> str:
    """The end of a text that fits into so many columns, with `…` before it when it was cut."""
    return text if len(text) <= columns else "…" + text[len(text) - max(columns - 1, 0) :]


def elide_right(text: str, columns: int) -> str:
    """The beginning of a text that fits into so many columns, with `…` after it when it was cut."""
    return text if len(text) <= columns else text[: max(columns - 1, 0)] + "…"


def count_text(value: float) -> str:
    """A count in three digits and a letter: 950, 12.3 k, 4.56 M, 1.20 G."""
    for unit, size in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if abs(value) >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value:.3g}"


def value_text(value: float, unit: str) -> str:
    """A value with its unit, in three figures: `1.25 M MACs`, `12.3 kB`, `43.2 µs`."""
    if value != value:
        return ""
    size = abs(value)
    if size == float("inf"):
        return f"{'−' if value < 0 else ''}∞ {unit}".strip()
    for limit, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if size >= limit:
            scaled, mark = value / limit, prefix
            break
    else:
        scaled, mark = value, ""
        if unit == "s":
            scaled, mark = _small(value)
    figures = f"{scaled:.3g}" if abs(scaled) < 1000 else f"{scaled:.0f}"
    gap = " " if mark and len(unit) > 2 and unit.isalpha() else ""  # a word, not the sign of a unit
    return f"{figures} {mark}{gap}{unit}" if unit or mark else figures


def percent_text(share: float, digits: int = 1) -> str:
    """A share as percent, written like any other unit: `12.8 %`."""
    return f"{100 * share:.{digits}f} %"


def _small(seconds: float) -> tuple[float, str]:
    """Seconds below one in thousandths, millionths or billionths, with their letter."""
    for limit, mark in ((1.0, ""), (1e-3, "m"), (1e-6, "µ")):
        if abs(seconds) >= limit or not seconds:
            return seconds / limit, mark
    return seconds * 1e9, "n"


def nodes_text(count: int) -> str:
    """`1 node`, `34 nodes`."""
    return f"{count:,} node" if count == 1 else f"{count:,} nodes"
