"""`inspect FILE`: format, opsets, inputs, outputs, parameters, MACs, operators of a model file.

JSON: `studio.graph.summary.GraphSummary`. Weights are not read and nothing is executed. `--csv` writes
a line per node (of a file that holds weights only: per tensor); a cost that is not known is empty.
"""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from studio.cli import tables
from studio.cli.opening import is_project, open_model, open_project
from studio.cli.options import BATCH_IS_1, Parser, add_dims, add_out, dims_of
from studio.cli.output import Output
from studio.graph import node_costs
from studio.graph.node_table import node_csv
from studio.graph.summary import GraphSummary, TensorSummary, summarize
from studio.graph.tensor_list import holds_weights_only, tensor_csv
from studio.records import write_atomically

_OPERATORS_SHOWN = 15
_TENSORS_SHOWN = 30


def parser() -> Parser:
    """The options of `inspect`."""
    result = Parser(
        "inspect",
        summary="Say what a model file holds; of a project, its source model.",
        example="deployment-studio inspect mobilenet.onnx",
    )
    result.add_argument("file", help="a model of any format the studio reads, or a .studio project")
    add_dims(result, otherwise=BATCH_IS_1)
    result.add_argument(
        "--etrecord", default="", metavar="FILE", help="what ExecuTorch recorded of a .pte, if not beside it"
    )
    add_out(
        result, "--csv", text="write the table of nodes, or of tensors where there are weights only, as CSV"
    )
    return result


def run(options: Namespace, output: Output) -> int:
    """Says what the file holds; 0."""
    path = Path(options.file)
    if is_project(path):
        path = open_project(path).graph_path
    etrecord = Path(options.etrecord) if options.etrecord else None
    graph = open_model(path, dims=dims_of(options.dim), etrecord=etrecord)
    summary = summarize(graph)
    if options.csv:
        table = (
            tensor_csv(graph)
            if holds_weights_only(graph)
            else node_csv(graph, node_costs(graph, dims=dims_of(options.dim)))
        )
        write_atomically(Path(options.csv).absolute(), table.encode())
        output.note(f"wrote {options.csv}")
    output.result(summary, text_of(summary))
    return 0


def text_of(summary: GraphSummary) -> str:
    """The summary for people."""
    opsets = ", ".join(f"{domain or 'ai.onnx'} {version}" for domain, version in summary.opsets.items())
    rows = [
        ("file", f"{summary.file} ({tables.size(summary.file_bytes)})"),
        ("format", summary.format_title + (f", opset {opsets}" if opsets else "")),
        ("producer", summary.producer),
        *(("input", _tensor(t)) for t in summary.inputs),
        *(("output", _tensor(t)) for t in summary.outputs),
        ("nodes", f"{summary.nodes:,}" + _and(summary.subgraphs, "subgraphs")),
        ("parameters", f"{summary.parameters:,} ({tables.size(summary.weight_bytes)})"),
        ("MACs", _macs(summary)),
        ("activations", _activations(summary)),
        ("operators", _operators(summary)),
    ]
    lines = [tables.pairs([row for row in rows if row[1]])]
    if summary.tensors:
        lines.append(_tensor_table(summary.tensors))
    lines += [f"note: {note}" for note in summary.notes]
    if opened := _open_dims(summary):
        given = " ".join(f"--dim {dim}={summary.assumed_dims.get(dim, 'SIZE')}" for dim in opened)
        lines.append(f"Sizes that the file leaves open can be given: {given}")
    return "\n".join(lines)


def _tensor(tensor: TensorSummary) -> str:
    shape = " of unknown rank" if tensor.shape is None else tables.shape(tensor.shape)
    return f"{tensor.name} {tensor.dtype or '?'}{shape}"


def _tensor_table(tensors: tuple[TensorSummary, ...]) -> str:
    """What a file of weights holds; the first of many."""
    rows = [
        (t.name, t.dtype or "?", "unknown rank" if t.shape is None else tables.shape(t.shape))
        for t in tensors[:_TENSORS_SHOWN]
    ]
    text = tables.table(("tensor", "type", "shape"), rows)
    rest = len(tensors) - len(rows)
    return f"{text}\n… and {rest:,} more tensors: --csv FILE or --json has them all." if rest > 0 else text


def _open_dims(summary: GraphSummary) -> list[str]:
    """The open dims of the inputs as `--dim` takes them: a symbol, else input and axis."""
    found: dict[str, None] = {}
    for tensor in summary.inputs:
        for axis, dim in enumerate(tensor.shape or ()):
            if not isinstance(dim, int):
                found[dim or f"{tensor.name}:{axis}"] = None
    return list(found)


def _and(count: int, what: str) -> str:
    return f", those of {count} {what} included" if count else ""


def _macs(summary: GraphSummary) -> str:
    if summary.macs is None:
        return "not known"
    text = tables.count(summary.macs)
    if summary.assumed_dims:
        text += f" with {', '.join(f'{name}={size}' for name, size in summary.assumed_dims.items())}"
    if summary.macs_unknown_nodes:
        text += f", without {summary.macs_unknown_nodes} nodes of unknown cost"
    return text


def _activations(summary: GraphSummary) -> str:
    if summary.peak_activation_bytes is None:
        return "not known"
    at_least = "at least " if summary.unknown_activations else ""
    return f"{at_least}{tables.size(summary.peak_activation_bytes)} at the peak"


def _operators(summary: GraphSummary) -> str:
    shown = list(summary.operators.items())[:_OPERATORS_SHOWN]
    text = ", ".join(f"{op} ×{n}" for op, n in shown)
    rest = len(summary.operators) - len(shown)
    return f"{text} and {rest} more kinds" if rest > 0 else text
