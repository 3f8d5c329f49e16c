"""Operator tables: what published lists and registries say, one schema for all of them.

A table is a file of `resources/opsupport/`; a row says what one operator's status is on one
backend, since which version, with which dtypes, and where that is written. Tables know operators
only: what depends on attributes, shapes or dtypes is code in `support.rules`.
"""

from __future__ import annotations

from functools import cache, cached_property

from studio.paths import resources
from studio.records import Choice, Record, from_json


class Status(Choice):
    """What the list says. PARTIAL: a builder exists, attributes or the vendor's compiler decide."""

    YES = "yes"
    PARTIAL = "partial"
    NO = "no"


class Kernel(Record):
    """One registered kernel: opset range (`until` 0 = open) and the dtypes of each type variable."""

    since: int
    until: int = 0
    types: dict[str, tuple[str, ...]] = {}
    inputs: tuple[str, ...] = ()
    """Type variable (or concrete dtype) of each input; the last one repeats when `is_variadic`."""
    outputs: tuple[str, ...] = ()
    is_variadic: bool = False


class Row(Record):
    """One operator. `level`: Android API level, feature level or op version, as the table says."""

    op: str
    status: Status
    domain: str = ""
    condition: str = ""
    dtypes: tuple[str, ...] = ()
    since: str = ""
    source: str = ""
    level: int = 0
    device: str = ""
    flags: dict[str, bool] = {}
    kernels: tuple[Kernel, ...] = ()


class Origin(Record):
    """Where rows come from, readable by a script: a package or repository, its revision, its files."""

    kind: str  # "github", "pip", "web", "other"
    name: str
    revision: str = ""
    paths: tuple[str, ...] = ()


class Table(Record):
    """A file of rows. `ir`: whose operator names (onnx, tflite, torch, nnapi, …)."""

    schema: int
    table: str
    title: str
    ir: str
    collected: str
    notes: str
    origins: tuple[Origin, ...]
    rows: tuple[Row, ...]


class Lookup:
    """A table and an index by (domain, operator)."""

    def __init__(self, table: Table) -> None:
        self.table = table

    @cached_property
    def by_op(self) -> dict[tuple[str, str], list[Row]]:
        index: dict[tuple[str, str], list[Row]] = {}
        for row in self.table.rows:
            index.setdefault((row.domain, row.op), []).append(row)
        return index

    def find(self, op: str, domain: str = "", device: str = "") -> Row | None:
        """The row of an operator (of a device, where a table has several), or None."""
        for row in self.by_op.get((domain, op), ()):
            if not device or row.device == device:
                return row
        return None

    def cite(self, row: Row) -> str:
        """The row's evidence in one line: table, row, source, date."""
        return f"table {self.table.table}, {row.op}: {row.source} ({self.table.collected})"

    def cite_op(self, op: str, domain: str = "") -> str:
        """What to cite for an operator, whether the table has it or not."""
        row = self.find(op, domain)
        return self.cite(row) if row else self.cite_absence()

    def cite_absence(self) -> str:
        """What to cite when the table has no such row."""
        return f"table {self.table.table}: no such row ({self.table.collected})"


@cache
def load_table(name: str) -> Lookup:
    """The table of that name. Raises InputError when it is missing or damaged."""
    path = resources() / "opsupport" / f"{name}.json"
    return Lookup(from_json(path.read_bytes(), Table, where=str(path)))


def table_names() -> tuple[str, ...]:
    """Names of all tables, sorted."""
    return tuple(sorted(p.stem for p in (resources() / "opsupport").glob("*.json")))
