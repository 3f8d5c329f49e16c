"""The tensors of a file that holds weights and no graph: what `inspect` and the window list of it."""

from __future__ import annotations

import csv
import io

from studio.graph.dtypes import element_count
from studio.graph.graph import Graph
from studio.graph.labels import shape_text
from studio.graph.node_table import cell

COLUMNS = ("name", "dtype", "shape", "elements", "bytes")


def holds_weights_only(graph: Graph) -> bool:
    """Whether there are tensors and no node: nothing to draw, to judge or to run."""
    return graph.node_count == 0 and graph.tensor_count > 0 and not graph.main_outputs()


def tensor_csv(graph: Graph) -> str:
    """The tensors as CSV with a header, in file order; what is not known is empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for tensor, name in enumerate(graph.tensor_name):
        elements, size = element_count(graph.tensor_shape[tensor]), int(graph.tensor_bytes[tensor])
        writer.writerow(
            (
                cell(name),
                graph.tensor_dtype[tensor],
                shape_text(graph.tensor_shape[tensor]),
                elements if elements >= 0 else "",
                size if size >= 0 else "",
            )
        )
    return text.getvalue()
