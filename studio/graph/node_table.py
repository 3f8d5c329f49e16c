"""The nodes of a graph as a table: one line of CSV per node, with costs and where each came from."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from studio.graph.cost import Costs
from studio.graph.graph import Graph
from studio.graph.labels import shape_text

COLUMNS = (
    "index", "name", "operator", "domain", "scope", "subgraph", "output_dtype", "output_shape",
    "macs", "weight_bytes", "activation_bytes", "source_file", "source_line",
)  # fmt: skip


def node_csv(
    graph: Graph, costs: Costs | None, measured: Mapping[str, npt.NDArray[np.float64]] | None = None
) -> str:
    """The nodes as CSV with a header, in file order; what is not known is empty.

    `measured`: more columns by name, one value per node, NaN = not measured.
    """
    more = dict(measured or {})
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow((*COLUMNS, *more))
    for node in range(graph.node_count):
        outputs = [int(t) for t in graph.outputs_of(node) if t >= 0]
        origin = graph.node_provenance.get(node)
        numbers = (
            (-1, -1, -1)
            if costs is None
            else (costs.macs[node], costs.weight_bytes[node], costs.activation_bytes[node])
        )
        writer.writerow(
            (
                node,
                cell(graph.label(node)),
                cell(graph.node_op[node]),
                cell(graph.node_domain[node]),
                cell(graph.scope_path(int(graph.node_scope[node]))),
                int(graph.node_subgraph[node]),
                graph.tensor_dtype[outputs[0]] if outputs else "",
                shape_text(graph.tensor_shape[outputs[0]]) if outputs else "",
                *("" if number < 0 else int(number) for number in numbers),
                cell(origin.file) if origin else "",
                origin.line if origin and origin.line else "",
                *("" if values[node] != values[node] else f"{values[node]:.6g}" for values in more.values()),
            )
        )
    return text.getvalue()


def cell(text: str) -> str:
    """Text that no spreadsheet takes for a formula: names come from strangers."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
