"""Systems on chip as verdicts need them: the Hexagon version of a Qualcomm name."""

from __future__ import annotations

import re
from functools import cache

from studio.paths import resources
from studio.records import from_json


@cache
def _arches() -> dict[str, int]:
    """Upper-case code, model and marketing names → Hexagon version, from `resources/soc.json`."""
    path = resources() / "soc.json"
    rows = from_json(path.read_bytes(), list[dict[str, object]], where=str(path))
    result: dict[str, int] = {}
    for row in rows:
        match = re.search(r"\d+", str(row.get("htp_arch") or ""))
        if match is None:
            continue
        models = row.get("soc_models")
        names = [row.get("code"), row.get("marketing"), *(models if isinstance(models, list) else [])]
        for name in names:
            if name:
                result.setdefault(str(name).upper(), int(match[0]))
    return result


def htp_arch_of(soc: str) -> int:
    """The Hexagon version, e.g. 75 for SM8650; 0 when the name is not known or has none."""
    return _arches().get(soc.strip().upper(), 0) if soc else 0
