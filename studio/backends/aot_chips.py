"""chip_for: a chip as LiteRT's compiler plug-ins spell it, from the names that phones and people use."""

from __future__ import annotations

import re
from functools import cache

from studio.backends.aot_plugins import AotPlugin
from studio.errors import UnsupportedError
from studio.paths import resources
from studio.records import Record, from_json


class _Chip(Record, forbid_unknown_fields=False):
    """What is needed of a row of the table of chips."""

    code: str
    vendor: str
    marketing: str = ""
    soc_models: tuple[str, ...] = ()


@cache
def _chips() -> dict[str, _Chip]:
    """Upper-case code, model and marketing names → row of `resources/soc.json`."""
    path = resources() / "soc.json"
    result: dict[str, _Chip] = {}
    for row in from_json(path.read_bytes(), tuple[_Chip, ...], where=str(path)):
        for name in (row.code, row.marketing, *row.soc_models):
            result.setdefault(name.upper(), row)
    return result


def chip_for(plugin: AotPlugin, soc: str) -> str:
    """The chip as the plug-in spells it: SM8650, mt6989, Tensor_G4, E9965.

    A chip that the table lacks is passed on for the plug-in to judge. Raises UnsupportedError when none is
    named or when it is another vendor's. Source: ai_edge_litert/aot/vendors/*/target.py of 2.3.0.
    """
    soc = soc.strip()
    hint = f"Name one with --soc, e.g. {plugin.example}, or in the project's settings."
    if not soc:
        raise UnsupportedError(f"LiteRT's {plugin.vendor} plug-in compiles for one chip.", hint=hint)
    row = _chips().get(soc.upper())
    if row is not None and row.vendor != plugin.vendor:
        raise UnsupportedError(f"{soc} is {row.vendor}'s, not {plugin.vendor}'s.", hint=hint)
    if plugin.vendor == "MediaTek":
        return (row.code if row else soc).lower()
    if plugin.vendor == "Google":
        generation = re.search(r"(?:^|[ _])G(\d+)$", row.marketing if row else soc, re.IGNORECASE)
        return f"Tensor_G{generation[1]}" if generation else soc
    code = (row.code if row else soc).upper()
    return code.removeprefix("S5") if plugin.vendor == "Samsung" else code
