"""The picture of a graph as a file: what `deployment-studio render` and the report write."""

from __future__ import annotations

from pathlib import Path

from studio.errors import InputError
from studio.graph.graph import Graph
from studio.graph.labels import nodes_text
from studio.graph.layout import lay_out
from studio.graph.scopes import initial_view
from studio.graph.view import GraphView
from studio.records import write_atomically
from studio.report.graph_png import svg_to_png
from studio.report.graph_svg import graph_svg
from studio.report.paint import Paint, verdict_paint
from studio.report.palette import PALETTES
from studio.support.verdict import TargetVerdicts
from studio.targets import TARGETS


def picture_svg(
    graph: Graph,
    verdicts: TargetVerdicts | None = None,
    *,
    view: GraphView | None = None,
    theme: str = "light",
    title: str = "",
    header: bool = True,
) -> str:
    """SVG text of a graph as first seen (`initial_view`), coloured by one target's verdicts."""
    if theme not in PALETTES:
        raise InputError(f"There is no theme “{theme}”.", hint="Choose light or dark.")
    palette = PALETTES[theme]
    paint: Paint | None = verdict_paint(verdicts, palette) if verdicts else None
    return graph_svg(
        graph,
        lay_out(graph, view or initial_view(graph)),
        paint,
        title=title or Path(graph.file_path).name or graph.name or "graph",
        subtitle=subtitle_of(graph, verdicts),
        palette=palette,
        header=header,
    )


def subtitle_of(graph: Graph, verdicts: TargetVerdicts | None) -> str:
    """One line under the title: target, partitions, share of MACs kept; or format and size."""
    if verdicts is None:
        return f"{graph.format} · {nodes_text(graph.node_count)}"
    target = TARGETS.get(verdicts.target_id)
    words = [f"on {target.title if target else verdicts.target_id}", nodes_text(graph.node_count)]
    if verdicts.partitions:
        count = len(verdicts.partitions)
        words.append("1 partition" if count == 1 else f"{count} partitions")
    if verdicts.macs_share is not None:
        words.append(f"{verdicts.macs_share * 100:.3g} % of MACs on the accelerator")
    return " · ".join(words)


def write_picture(path: Path, svg: str, *, scale: float = 2.0) -> None:
    """Writes an SVG, or the PNG made of it, as the file's ending says.

    Raises InputError for another ending or a folder that cannot be written.
    """
    ending = path.suffix.lower()
    if ending == ".svg":
        write_atomically(path, svg.encode())
    elif ending == ".png":
        write_atomically(path, svg_to_png(svg, scale=scale))
    else:
        raise InputError(
            f"{path.name}: a picture is written as .svg or .png, not as “{ending or 'no ending'}”.",
            hint="Choose one of these endings.",
        )
