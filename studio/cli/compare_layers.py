"""`compare-layers A B`: runs both files on the same inputs and says how far apart each layer is.

JSON: `studio.measure.layer_errors.LayerErrors`. The comparison is kept beside the runs, so that the window
shows it on the graph. Exit code 1: a layer gives NaN or infinity where the original does not.

Memory: an ONNX file with its weights inside takes several times its size, since the protobuf stands beside
what ONNX Runtime makes of it. Two files of 512 MiB took 2.6 GiB at most; with weights beside them (external
data), 0.1 GiB (ONNX Runtime 1.32, matrix products, one sample, 2026-12-01).
"""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from studio.cli import tables
from studio.cli.layer_options import SHOWN, add_layer_options, inputs_of, interrupting, shown_name
from studio.cli.options import Parser, positive
from studio.cli.output import Output, stopping
from studio.jobs.compare_layers import SAMPLES, CompareLayers
from studio.jobs.compare_layers import run as compare_layers
from studio.measure.fact_file import load_fact
from studio.measure.layer_errors import LayerError, LayerErrors, worst_first


def parser() -> Parser:
    """The options of `compare-layers`."""
    result = Parser(
        "compare-layers",
        summary="Compare two files of one model layer by layer: where does the error begin?",
        example="deployment-studio compare-layers net.onnx net-int8.onnx --data samples.npz\n"
        "deployment-studio compare-layers net.onnx net.tflite --json",
    )
    result.add_argument("a", help="the float original: .tflite or .onnx (external data spares memory)")
    result.add_argument("b", help="the file made from it: .onnx or .tflite")
    result.add_argument("--samples", type=positive, default=SAMPLES, metavar="N", help=f"at most ({SAMPLES})")
    add_layer_options(result)
    return result


def run(options: Namespace, output: Output) -> int:
    """Compares and lists the worst layers; 0, or 1 when values are broken."""
    spec = CompareLayers(
        a=str(Path(options.a).absolute()),
        b=str(Path(options.b).absolute()),
        inputs=inputs_of(options),
        samples=options.samples,
        threads=options.threads,
    )
    with stopping(output.report), interrupting(output.report):
        done = compare_layers(spec, output.report)
    found = load_fact(Path(done.fact_path), LayerErrors)
    output.result(found, text_of(found, top=options.top))
    output.note(f"kept in {done.fact_path}")
    return 1 if any(layer.nonfinite for layer in found.layers) else 0


def text_of(found: LayerErrors, *, top: int = SHOWN) -> str:
    """The comparison for people: on what it was made, and the worst layers."""
    label = "" if found.is_real else " (made up: real data tells more)"
    rows = [
        ("original", f"{found.a.file}, {found.a.target_ran}"),
        ("compared", f"{found.b.file}, {found.b.target_ran}"),
        ("inputs", f"{found.samples} × {found.inputs}{label}"),
        ("layers", f"{len(found.layers):,} compared" + _left_out(found)),
    ]
    body = [_row(layer) for layer in worst_first(found.layers)[:top]]
    header = ("layer", "operator", "SQNR dB", "cosine", "mean abs", "max abs")
    parts = [tables.pairs(rows), tables.table(header, body, right="llrrrr")]
    if len(found.layers) > top:
        parts.append(f"and {len(found.layers) - top:,} better ones; --top N or --json shows them")
    return "\n\n".join([*parts, *(f"note: {note}" for note in found.notes)])


def _left_out(found: LayerErrors) -> str:
    parts = []
    if found.unmatched:
        parts.append(f"{found.unmatched:,} have no counterpart")
    if found.incomparable:
        parts.append(f"{found.incomparable:,} differ in size or are integers without a scale")
    return f"; {', '.join(parts)}" if parts else ""


def _row(layer: LayerError) -> tuple[str, ...]:
    sqnr = "equal" if layer.sqnr_db is None else f"{layer.sqnr_db:.1f}"
    if layer.nonfinite:
        sqnr = f"{layer.nonfinite} NaN"
    return (
        shown_name(layer.name_a),
        layer.op,
        sqnr,
        f"{layer.cosine:.5f}",
        f"{layer.mean_abs:.3g}",
        f"{layer.max_abs:.3g}",
    )
