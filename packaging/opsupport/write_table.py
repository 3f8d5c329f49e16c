"""How a table file is written: one row a line, so that a diff shows which operators changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def write_table(folder: Path, table: dict[str, Any]) -> None:
    """Writes `<folder>/<table>.json`: a header, then one row a line, empty fields left out."""
    rows = [{k: v for k, v in row.items() if v not in ("", None, [], {}, 0)} for row in table.pop("rows")]
    head = json.dumps({"schema": 1, **table}, ensure_ascii=False, indent=1)[:-2]
    body = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    path = folder / f"{table['table']}.json"
    path.write_text(f'{head},\n "rows": [\n{body}\n]}}\n', encoding="utf-8")
    print(f"{path.name}: {len(rows)} rows")
