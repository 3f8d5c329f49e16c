"""Graph: what a model file says, in one in-memory form for all formats.

What lives here: `Graph` (flat arrays, not an object per node), one reader per format
(`read_onnx.py`, `read_tflite.py`, …), `open_graph` which picks the reader, scopes, layout,
search, diff and cost. What does not: whether a target takes a node (`support`), making model
files (`backends`, `recipes`), anything that paints.

Why flat arrays: graphs of 50,000 nodes are ordinary, and layout, painting and verdicts all want
columns. Why readers of our own for ONNX, TFLite and .pte instead of the libraries' own object
trees: weights must stay on disk, and a broken file must end in one sentence.
"""

from studio.graph.cost import Costs, node_costs
from studio.graph.formats import detect_format, open_graph
from studio.graph.graph import (
    DataLocation,
    Graph,
    Provenance,
    Quantization,
    Subgraph,
    SubgraphRef,
    TensorKind,
    TensorRef,
)

__all__ = [
    "Costs",
    "DataLocation",
    "Graph",
    "Provenance",
    "Quantization",
    "Subgraph",
    "SubgraphRef",
    "TensorKind",
    "TensorRef",
    "detect_format",
    "node_costs",
    "open_graph",
]
