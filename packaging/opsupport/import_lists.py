"""Turns collected operator lists (one JSON per backend, fields op, ir, status, constraints, dtypes,
since_version, source) into `resources/opsupport/`. Usage: import_lists.py COLLECTED OUT"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from write_table import write_table

LEVELS = ("nnapi_feature_level", "min_sdk", "feature_level")
FLAGS = ("arm", "vulkan", "int8", "in_model_builder")
NATIVE_DOMAINS = ("ai.onnx", "")
COLLECTED_HERE = ("ort_cpu",)  # dumped anew from the installed wheel by collect_installed.py


def origins_of(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Repositories and packages that the rows cite, each with its files."""
    found: dict[tuple[str, str, str], set[str]] = {}
    for row in rows:
        for part in re.split(r"\s*[;+]\s+|\s+\+\s+", row.get("source", "")):
            if match := re.match(r"github:([\w.-]+/[\w.-]+)@([0-9a-z-]+):(.*?)(#L\d+)?$", part):
                found.setdefault(("github", match[1], match[2]), set()).add(match[3].strip())
            elif match := re.match(r"pip:([\w.-]+)==([\w.]+)", part):
                found.setdefault(("pip", match[1], match[2]), set())
            elif match := re.match(r"(https?://\S+)", part):
                found.setdefault(("web", match[1], ""), set())
    result = []
    for (kind, name, revision), paths in sorted(found.items()):
        listed = sorted(paths)[:40]
        result.append({"kind": kind, "name": name, "revision": revision, "paths": listed})
    return result or [{"kind": "other", "name": rows[0].get("source", "")}]


def convert(source: dict[str, Any]) -> dict[str, Any]:
    """One collected list in the schema of `studio.support.tables`."""
    rows = []
    for old in source["rows"]:
        domain = old.get("domain", "")
        rows.append(
            {
                "op": old["op"],
                "domain": "" if domain in NATIVE_DOMAINS else domain,
                "status": old["status"],
                "condition": old["constraints"],
                "dtypes": old["dtypes"],
                "since": old["since_version"],
                "source": old["source"],
                "level": next((old[k] for k in LEVELS if old.get(k)), 0),
                "device": old.get("device") or old.get("backend") or old.get("sdk_backend") or "",
                "flags": {k: bool(old[k]) for k in FLAGS if k in old},
            }
        )
    return {
        "table": source["backend"],
        "title": source["title"],
        "ir": source["rows"][0]["ir"],
        "collected": source["collected"],
        "notes": source["notes"].strip(),
        "origins": origins_of(source["rows"]),
        "rows": rows,
    }


def main() -> None:
    collected, out = Path(sys.argv[1]), Path(sys.argv[2])
    for path in sorted(collected.glob("*.json")):
        if path.stem not in COLLECTED_HERE:
            write_table(out, convert(json.loads(path.read_text(encoding="utf-8"))))


if __name__ == "__main__":
    main()
