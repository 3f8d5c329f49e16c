"""What `benchmark_model --enable_op_profiling=true` says of single operators: means, and nothing else.

Its *Run Order* table has one row per operator: `[first]`, `[avg ms]` (the mean of one call), `[times called]`
per inference, and in `[Name]` the outputs and the number of the node. Older builds have a column `[start]`
more; `--op_profiling_output_mode=csv` separates by commas. Bodies of control flow and a delegate's own
operators have tables of their own. What such a table does not tell, percentiles above all, stays unknown.
Sources: google-ai-edge/LiteRT@f67457790 tflite/profiling/profile_summarizer.cc, profile_summary_formatter.cc;
xla/tsl/util/stats_calculator.cc (HeaderString, ColumnString). Not yet read off a phone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from studio.backends.profile import Kernel
from studio.backends.profile_executorch import UNMATCHED
from studio.backends.xnnpack_kernels import match_in_order
from studio.errors import ToolError
from studio.graph.graph import Graph

DELEGATE = -1
"""The table of a delegate's own operators, in place of a subgraph's number."""

_BEGIN = "Operator-wise Profiling Info for Regular Benchmark Runs"
_RUN_ORDER = re.compile(r"=+ Run Order =+")
_PRIMARY = re.compile(r"Primary graph \(name: ")
_OF_DELEGATE = re.compile(r"^\W*Delegate internal")
_SUBGRAPH = re.compile(r"Subgraph \(index: (\d+), name: ")
_NODE = re.compile(r"^\[.*\]:(\d+)$", re.DOTALL)
_INNER = re.compile(r"^Delegate/(.*):\d+$", re.DOTALL)
_WHOLE = "the delegate as a whole: the tool does not tell its parts apart"
_REST = "what the delegate does besides its operators"
_RUNTIME = "it belongs to a body or to the runtime"


@dataclass(frozen=True, slots=True)
class OpRow:
    """One row. `mean_ms`: of one call; `calls`: per inference; `table`: subgraph, or `DELEGATE`."""

    op: str
    name: str
    mean_ms: float
    calls: int
    table: int

    @property
    def per_inference_ns(self) -> float:
        """The mean time within one inference; old builds say 0 calls, which means that they do not say."""
        return self.mean_ms * max(self.calls, 1) * 1e6


def parse_op_profile(text: str) -> tuple[OpRow, ...]:
    """The rows of every *Run Order* table of the regular runs. Raises ToolError when there is none."""
    rows = tuple(_rows(text.partition(_BEGIN)[2].splitlines()))
    if not rows:
        raise ToolError(
            "No times of operators came from benchmark_model.",
            hint="Use a build that knows --enable_op_profiling.",
            last_lines=tuple(text.splitlines()[-6:]),
        )
    return rows


def _rows(lines: Sequence[str]) -> Iterator[OpRow]:
    table, columns, in_table = 0, dict[str, int](), False
    separator = "\t"
    for line in lines:
        if match := _SUBGRAPH.search(line):
            table = int(match[1])
        elif _PRIMARY.search(line):
            table = 0
        elif _OF_DELEGATE.search(line):
            table = DELEGATE
        if _RUN_ORDER.search(line):
            in_table, columns = True, {}
        elif not line.strip() or line.startswith("="):
            in_table = False
        elif in_table and not columns:
            separator = "\t" if "[node type]" in line else ","
            names = [part.strip(" []").lower().replace("_", " ") for part in _parts(line, separator, -1)]
            columns = {name: k for k, name in enumerate(names)}
            if not {"node type", "avg ms", "name"} <= columns.keys():
                in_table = False
        elif in_table and (row := _row(_parts(line, separator, len(columns) - 1), columns, table)):
            yield row


def _parts(line: str, separator: str, most: int) -> list[str]:
    """The cells of a line; the last one, the name, may hold the separator itself."""
    text = line.lstrip("\t") if separator == "\t" else line
    return [part.strip() for part in text.split(separator, most)]


def _row(parts: list[str], columns: dict[str, int], table: int) -> OpRow | None:
    if len(parts) < len(columns):
        return None
    calls = parts[columns["times called"]] if "times called" in columns else "1"
    try:
        return OpRow(
            op=parts[columns["node type"]],
            name=parts[columns["name"]],
            mean_ms=float(parts[columns["avg ms"]]),
            calls=int(float(calls)),
            table=table,
        )
    except ValueError:
        return None


def kernels_of(rows: Sequence[OpRow], graph: Graph, taken: Sequence[int]) -> list[Kernel]:
    """A kernel per row, with the node that it is where the number and the operator agree.

    `taken`: the main graph's nodes that a delegate has, as far as known. A delegate whose operators are
    listed counts by them, and its own row by the rest; a single one that lists none is a fused kernel.
    """
    main = list(graph.nodes_in(0))
    kernels: list[Kernel] = []
    delegates: list[tuple[OpRow, Kernel]] = []
    inner = [row for row in rows if row.table == DELEGATE]
    for row in rows:
        kernel = _kernel(row, graph, main)
        number = _NODE.match(row.name)
        if row.table == 0 and number and int(number[1]) >= len(main):
            delegates.append((row, kernel))
        kernels.append(kernel)
    if inner and delegates:
        rest = sum(row.per_inference_ns for row, _ in delegates) - sum(row.per_inference_ns for row in inner)
        whole = {id(kernel) for _, kernel in delegates}
        kernels = [kernel for kernel in kernels if id(kernel) not in whole]
        if rest > 0:
            kernels.append(Kernel(name=delegates[0][0].op, op=delegates[0][0].op, why=_REST, mean_ns=rest))
        _match([k for k in kernels if k.why == UNMATCHED], graph, [main[n] for n in taken if n < len(main)])
    elif len(delegates) == 1 and taken:
        delegates[0][1].nodes, delegates[0][1].why = tuple(main[n] for n in taken if n < len(main)), ""
    return kernels


def _kernel(row: OpRow, graph: Graph, main: list[int]) -> Kernel:
    op = row.op.partition("/")[0]
    kernel = Kernel(name=row.op, op=op, mean_ns=row.per_inference_ns, is_inside=row.table > 0)
    number = _NODE.match(row.name)
    if inner := _INNER.match(row.name):
        kernel.name = kernel.op = inner[1]
        kernel.why = UNMATCHED
    elif row.table == 0 and number and int(number[1]) < len(main):
        node = main[int(number[1])]
        kernel.nodes = (node,) if graph.node_op[node] == op else ()
        kernel.why = "" if kernel.nodes else _RUNTIME
    else:
        kernel.why = _WHOLE if row.table == 0 and number else _RUNTIME
    return kernel


def _match(kernels: list[Kernel], graph: Graph, nodes: list[int]) -> None:
    """Gives the delegate's operators their nodes where that is certain."""
    listed = [(node, graph.node_op[node]) for node in nodes]
    for place, node in match_in_order([k.name for k in kernels], listed).items():
        kernels[place].nodes, kernels[place].why = (node,), ""
        kernels[place].op = graph.node_op[node]
