"""Reads the documentation of the operators of a graph, for the inspector."""

from __future__ import annotations

from studio.graph.op_docs import OpDoc, read_op_docs
from studio.jobs.job import Report
from studio.records import Record


class ReadDocs(Record):
    """Which operators: (domain, op) pairs of a graph of this format with these opsets."""

    format: str
    ops: tuple[tuple[str, str], ...]
    opsets: dict[str, int] = {}


class DocsRead(Record):
    """What is known of them."""

    docs: tuple[OpDoc, ...]


def run(spec: ReadDocs, report: Report) -> DocsRead:
    """The documentation that `onnx.defs` and Netron's metadata have."""
    report.progress("reading documentation", 0)
    return DocsRead(docs=read_op_docs(spec.format, spec.ops, spec.opsets))
