"""`render FILE --out picture.svg`: the graph as a picture, coloured by what a target does with it.

JSON: `{"out", "width", "height", "nodes", "target" | null}`. No display is needed.
"""

from __future__ import annotations

import re
from argparse import Namespace
from pathlib import Path

from studio.cli.opening import is_project, open_model, open_project
from studio.cli.options import Parser, add_dims, add_phone, dims_of
from studio.cli.output import Output
from studio.errors import InputError
from studio.records import Record, write_atomically
from studio.targets import find_target

_SIZE = re.compile(r'<svg [^>]*?width="(\d+)" height="(\d+)"')


class RenderAnswer(Record):
    """What `render --json` prints; sizes in pixels of the SVG."""

    out: str
    width: int
    height: int
    nodes: int
    target: str | None


def parser() -> Parser:
    """The options of `render`."""
    result = Parser(
        "render",
        summary="Draw the graph as SVG or PNG, coloured by what a target does with each node.",
        example="deployment-studio render mobilenet.onnx --out mobilenet.png --target ort/nnapi",
    )
    result.add_argument("file", help="a model, or a .studio project (then its source model)")
    result.add_argument("--out", required=True, metavar="PICTURE", help="a file that ends in .svg or .png")
    result.add_argument("--target", default="", metavar="T", help="colour by this target's verdicts")
    result.add_argument("--theme", choices=("light", "dark"), default="light")
    add_phone(result)
    add_dims(result)
    return result


def run(options: Namespace, output: Output) -> int:
    """Writes the picture; 0."""
    from studio.graph.layout import lay_out
    from studio.graph.view import GraphView
    from studio.report.graph_png import svg_to_png
    from studio.report.graph_svg import graph_svg
    from studio.report.paint import verdict_paint
    from studio.report.palette import PALETTES
    from studio.support import judge

    out = Path(options.out).absolute()
    if out.suffix not in (".svg", ".png"):
        raise InputError(
            f"{out.name} is neither .svg nor .png.", hint="Name the picture NAME.svg or NAME.png."
        )
    if options.target:
        find_target(options.target)
    path, soc = Path(options.file), options.soc
    if is_project(path):
        opened = open_project(path)
        path, soc = opened.graph_path, soc or opened.project.soc
    graph = open_model(path, dims=dims_of(options.dim))
    palette = PALETTES[options.theme]
    paint, subtitle = None, path.name
    if options.target:
        verdicts = judge(graph, (options.target,), soc=soc, android_level=options.android_level)
        paint = verdict_paint(verdicts[options.target], palette)
        subtitle = f"{path.name} on {find_target(options.target).title}"
    layout = lay_out(graph, GraphView())
    svg = graph_svg(graph, layout, paint, title=graph.name or path.stem, subtitle=subtitle, palette=palette)
    write_atomically(out, svg.encode() if out.suffix == ".svg" else svg_to_png(svg))
    width, height = map(int, _SIZE.search(svg).groups())  # type: ignore[union-attr]
    answer = RenderAnswer(
        out=str(out), width=width, height=height, nodes=graph.node_count, target=options.target or None
    )
    output.result(answer, f"Drew {graph.node_count:,} nodes, {width} × {height}: {out}")
    return 0
