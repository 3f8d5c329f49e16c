"""`render FILE --out picture.svg`: the graph as a picture, coloured by verdicts, costs or what was measured.

JSON: `{"out", "width", "height", "nodes", "boxes", "target" | null, "overlay" | null, "fact" | null}`. No
display is needed. A large graph is drawn with its inner scopes closed; `--depth 0` opens all.
"""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

from studio.cli.known_facts import KnownFact, known_fact
from studio.cli.opening import is_project, open_model, open_project
from studio.cli.options import BATCH_IS_1, Parser, add_dims, add_out, add_phone, dims_of
from studio.cli.output import Output
from studio.errors import InputError
from studio.graph import Graph, node_costs
from studio.graph.tensor_list import holds_weights_only
from studio.graph.view import GraphView
from studio.records import Record, write_atomically
from studio.report.overlays import OF_A_TARGET, OVERLAYS, Facts
from studio.report.paint import Paint
from studio.report.palette import Palette
from studio.support import judge
from studio.targets import find_target

_SIZE = re.compile(r'<svg [^>]*?width="(\d+)" height="(\d+)"')
_MANY = 1_000  # boxes whose drawing takes more than a moment


class RenderAnswer(Record):
    """What `render --json` prints; sizes in pixels of the SVG."""

    out: str
    width: int
    height: int
    nodes: int
    boxes: int  # fewer than nodes where scopes are closed
    target: str | None
    overlay: str | None
    fact: str | None = None  # the profile or the comparison that is drawn


def parser() -> Parser:
    """The options of `render`."""
    result = Parser(
        "render",
        summary="Draw the graph as SVG, PNG or PDF, coloured by what a target does with each node.",
        example="deployment-studio render mobilenet.onnx --out mobilenet.png --target ort/nnapi\n"
        "deployment-studio render mobilenet.onnx --out times.svg --overlay latency",
    )
    result.add_argument("file", help="a model, or a .studio project (then its source model)")
    add_out(result, text="ends in .svg, .png or .pdf", metavar="PICTURE", required=True)
    result.add_argument("--target", default="", metavar="T", help="colour by what this target does")
    result.add_argument(
        "--overlay",
        choices=tuple(OVERLAYS),
        help="what the colours say (default: verdict with --target, else none); verdict and partitions are "
        "of a target, a project's first one when none is named; latency and error are of the newest profile "
        "(see profile) and comparison (see compare-layers) that is kept of the file",
    )
    result.add_argument("--profile", default="", metavar="FACT", help="draw this profile's times instead")
    result.add_argument("--layers", default="", metavar="FACT", help="draw this comparison's errors instead")
    result.add_argument(
        "--depth", type=int, metavar="N", help="close scopes N deep; 0 opens all (default: as reads well)"
    )
    result.add_argument("--theme", choices=("light", "dark"), default="light")
    add_phone(result)
    add_dims(result, otherwise=BATCH_IS_1)
    return result


def run(options: Namespace, output: Output) -> int:
    """Writes the picture; 0."""
    from studio.graph.layout import lay_out
    from studio.jobs import draw_apart
    from studio.report.graph_pdf import svg_to_pdf
    from studio.report.graph_png import missing_characters, svg_to_png
    from studio.report.graph_svg import graph_svg
    from studio.report.palette import PALETTES

    out = Path(options.out).absolute()
    ending = out.suffix.lower()
    if ending not in (".svg", ".png", ".pdf"):
        raise InputError(
            f"{out.name} is neither .svg, .png nor .pdf.",
            hint="Name the picture NAME.svg, NAME.png or NAME.pdf.",
        )
    path, soc, target_id = Path(options.file), options.soc, options.target
    overlay = _overlay(options)
    project_path: Path | None = None
    if target_id and overlay not in OF_A_TARGET:
        raise InputError(
            f"The overlay {overlay} is not of a target.", hint="Give either --target or this --overlay."
        )
    if is_project(path):
        opened = open_project(path)
        path, soc, project_path = opened.graph_path, soc or opened.project.soc, opened.path
        if overlay in OF_A_TARGET and not target_id:
            target_id = next(iter(opened.project.targets), "")
    graph = open_model(path, dims=dims_of(options.dim))
    if holds_weights_only(graph):
        raise InputError(
            f"{path.name} holds weights only: there is no graph to draw.",
            hint=f"See its tensors with: deployment-studio inspect {path.name}",
        )
    palette = PALETTES[options.theme]
    fact = known_fact(graph, overlay, options, project_path, output)
    paint, what = _paint(graph, overlay, target_id, soc, options, palette, fact)
    subtitle = f"{path.name}{what}"
    layout = lay_out(graph, _view(graph, options.depth))
    svg = graph_svg(graph, layout, paint, title=graph.name or path.stem, subtitle=subtitle, palette=palette)
    is_large = len(layout.item_x) > _MANY
    to_png = draw_apart.svg_to_png if is_large else svg_to_png
    made: dict[str, Callable[[str], bytes]] = {".svg": str.encode, ".png": to_png, ".pdf": svg_to_pdf}
    if ending != ".svg" and is_large:
        output.report.progress(f"drawing {out.name}", 0)
    write_atomically(out, made[ending](svg))
    width, height = map(int, _SIZE.search(svg).groups())  # type: ignore[union-attr]
    answer = RenderAnswer(
        out=str(out),
        width=width,
        height=height,
        nodes=graph.node_count,
        boxes=len(layout.item_x),
        target=target_id or None,
        overlay=overlay or None,
        fact=str(fact.path) if fact else None,
    )
    output.result(answer, f"Drew {graph.node_count:,} nodes, {width} × {height}: {out}")
    if fact:
        output.note(f"drawn from {fact.path}")
    if ending == ".png" and (missing := missing_characters(svg)):
        some = missing[:12] + ("…" if len(missing) > 12 else "")
        output.note(
            f"No font here has {some}: not readable in the picture. "
            "Install a font that has them, such as Noto Sans CJK for Chinese, or write the picture as .svg."
        )
    return 0


def _overlay(options: Namespace) -> str:
    """The overlay's name, "" for none: a fact or a target that is named says which."""
    named = {"latency": options.profile, "error": options.layers}
    for overlay, given in named.items():
        option = "--profile" if overlay == "latency" else "--layers"
        if given and (options.overlay or overlay) != overlay:
            raise InputError(
                f"{option} is drawn by --overlay {overlay}, not by --overlay {options.overlay}.",
                hint=f"Leave out {option} or --overlay.",
            )
    if options.profile and options.layers:
        raise InputError("A picture has one overlay.", hint="Give either --profile or --layers.")
    implied = next((overlay for overlay, given in named.items() if given), "")
    return options.overlay or implied or ("verdict" if options.target else "")


def _paint(
    graph: Graph,
    overlay: str,
    target_id: str,
    soc: str,
    options: Namespace,
    palette: Palette,
    fact: KnownFact | None,
) -> tuple[Paint | None, str]:
    """The colouring asked for, and what it shows, in words for the subtitle."""
    if not overlay:
        return None, ""
    verdicts, what = None, ""
    if target_id:
        target = find_target(target_id)
        verdicts = judge(graph, (target.id,), soc=soc, android_level=options.android_level)[target.id]
        what = f" on {target.title}"
    facts = Facts(
        graph,
        palette,
        verdicts,
        lambda: node_costs(graph, dims=dims_of(options.dim)),
        profile=fact.profile if fact else None,
        layers=fact.layers if fact else None,
    )
    paint = OVERLAYS[overlay](facts)
    if fact:
        return paint, f" · {fact.subtitle}"
    name = paint.name.split(" · ")[0]
    return paint, f"{what}, {name}" if name else what


def _view(graph: Graph, depth: int | None) -> GraphView:
    from studio.graph.scopes import depth_view, initial_view

    return initial_view(graph) if depth is None else depth_view(graph, GraphView(), max(depth, 0))
