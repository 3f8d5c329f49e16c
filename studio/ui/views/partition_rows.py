"""The partitions of the current target, and what transposing costs there."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtWidgets import QVBoxLayout

from studio.support import LayoutTax, Partition
from studio.targets import TARGETS
from studio.ui import theme
from studio.ui.canvas.colors import of_theme
from studio.ui.session import Session
from studio.ui.texts import fill, translate
from studio.ui.views.step_texts import bytes_text, count_text
from studio.ui.widgets.parts import heading, label
from studio.ui.widgets.row import Row

_MOST_SHOWN = 8


def _tr(text: str) -> str:
    return translate("PartitionRows", text)


def partition_rows(session: Session, on_nodes: Callable[[tuple[int, ...], str], object]) -> QVBoxLayout:
    """The accelerator's partitions, the largest first, then the layout tax; empty for a plain CPU."""
    column = QVBoxLayout()
    column.setSpacing(2)
    opened, target = session.opened, TARGETS.get(session.target_id)
    verdicts = session.verdicts
    if opened is None or target is None or verdicts is None or not target.is_accelerator:
        return column
    n, colors = len(verdicts.partitions), of_theme(theme.current())
    title = _tr("1 partition") if n == 1 else fill(_tr("{n} partitions"), n=f"{n:,}")
    column.addWidget(heading(f"{target.title} · {title}"))
    order = sorted(range(n), key=lambda i: -len(verdicts.partitions[i].nodes))
    for index in order[:_MOST_SHOWN]:
        part = verdicts.partitions[index]
        row = Row()
        nodes = len(part.nodes)
        words = _tr("1 node") if nodes == 1 else fill(_tr("{n} nodes"), n=f"{nodes:,}")
        macs = _tr("MACs unknown") if part.macs is None else f"{count_text(part.macs)} MACs"
        color = colors.role(f"partition:{index}").name()  # that of its outline in the graph
        row.show_texts(
            f"{index + 1} · {words}", value=macs, note=_borders(part), icon="partition", icon_color=color
        )
        name = fill(_tr("partition {number} of {count}"), number=index + 1, count=n)
        row.clicked.connect(partial(on_nodes, part.nodes, name))
        column.addWidget(row)
    if n > _MOST_SHOWN:
        column.addWidget(label(fill(_tr("… and {n} smaller"), n=f"{n - _MOST_SHOWN:,}"), "small"))
    tax = opened.layout_tax(target.id)
    if tax is not None and (tax.held or tax.inserted):
        column.addWidget(label(tax_text(tax), "small", wrap=True, selectable=True))
    return column


def _borders(part: Partition) -> str:
    return fill(
        _tr("{weights} weights, {inside} in, {outside} out"),
        weights=bytes_text(part.weight_bytes),
        inside=_at_least(part.boundary_in_bytes, part.unknown_sizes),
        outside=_at_least(part.boundary_out_bytes, part.unknown_sizes),
    )


def _at_least(size: int, unknown_sizes: int) -> str:
    """Bytes; "≥" where some sizes are not known, and never 0 for what is not known."""
    if not unknown_sizes:
        return bytes_text(size)
    return f"≥ {bytes_text(size)}" if size else "?"


def tax_text(tax: LayoutTax) -> str:
    """ "Layout: 4 transposes in the graph (1.2 MB), about 2 more around the partitions (0.8 MB)"; "≥" where
    sizes are not all known."""
    if not tax.held:
        text = _tr("Layout: about {n} transposes expected around the partitions ({size})")
        return fill(text, n=f"{tax.inserted:,}", size=_at_least(tax.inserted_bytes, tax.unknown_sizes))
    held = fill(_tr("Layout: transposes in the graph: {n} ({size})"), n=f"{tax.held:,}",
                size=_at_least(tax.held_bytes, tax.unknown_sizes))  # fmt: skip
    if not tax.inserted:
        return held
    more = fill(_tr("about {n} more expected around the partitions ({size})"), n=f"{tax.inserted:,}",
                size=_at_least(tax.inserted_bytes, tax.unknown_sizes))  # fmt: skip
    return f"{held}, {more}"


def node_tax_text(tax: LayoutTax | None, node: int, held_bytes: int) -> str:
    """What transposing costs at this node; empty when nothing."""
    if tax is None:
        return ""
    if node in tax.held_nodes:
        size = bytes_text(held_bytes) if held_bytes >= 0 else _tr("a size that is not known")
        return fill(_tr("Layout tax: this node only moves {size}."), size=size)
    n = tax.inserted_nodes.count(node)
    if n:
        return fill(_tr("Layout tax: transposes expected here, where layouts meet: about {n}."), n=n)
    return ""
