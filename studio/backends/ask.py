"""ToolAnswer: what a real partitioner or compiler said about every node, whichever tool was asked.

One file per tool (`ask_*.py`), each with `ask(...) -> ToolAnswer`. They run in a worker: these tools
take seconds, log, and may crash.
"""

from __future__ import annotations

import re

from studio.records import Record

RENAMED = re.compile(r"(_token_\d+|/MatMulAddFusion)+$")
"""What ONNX Runtime's layout transformation and fusion append to a node's name."""


class ToolTensor(Record):
    """A tensor as the tool saw it: dtype, dims (None = symbolic), constant or not."""

    dtype: str = ""
    shape: tuple[int | None, ...] | None = None
    is_constant: bool = False


class ToolNode(Record):
    """A node of the graph that the tool was asked about.

    `index`: the node's index in the file's own graph, −1 when the tool's graph is another (`origin` then
    names the node it came from). `taken` None: the tool did not say.
    """

    name: str
    op: str
    taken: bool | None
    reason: str = ""
    index: int = -1
    origin: str = ""
    attributes: dict[str, int | float | str | bool | list[int | float] | None] = {}
    inputs: tuple[ToolTensor | None, ...] = ()
    outputs: tuple[ToolTensor, ...] = ()
    producers: tuple[str, ...] = ()
    distinct_inputs: int = 0  # how many different tensors, where one is given twice; 0 = all differ


class ToolAnswer(Record):
    """The tool, its version, its nodes in order, and how many partitions it made."""

    tool: str
    version: str
    target_id: str
    nodes: tuple[ToolNode, ...] = ()
    partitions: int = 0
    notes: tuple[str, ...] = ()
