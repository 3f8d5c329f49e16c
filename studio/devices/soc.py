"""The systems on chip that we know, and which of them a phone has.

Table: `resources/soc.json` (177 rows; each with its sources). A phone says `ro.soc.model` from
Android 12 on, else `ro.board.platform`, else `ro.hardware`; never the product model, since one name is
sold with different chips. *Unknown* is an answer: a chip that is not in the table keeps its own
name, and where rows conflict none is chosen.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from studio.paths import resources
from studio.records import Record, from_json


class SocRow(Record):
    """A system on chip: how phones name it, and its accelerator."""

    code: str
    vendor: str
    marketing: str = ""
    soc_models: tuple[str, ...] = ()
    platforms: tuple[str, ...] = ()
    hardware: tuple[str, ...] = ()
    npu: str = ""
    npu_generation: str = ""
    htp_arch: str = ""
    source: str = ""


class Soc(Record):
    """What a phone's properties say about its chip; `row` is None for one that the table lacks."""

    model: str  # the phone's own word
    vendor: str
    row: SocRow | None = None

    @property
    def title(self) -> str:
        """The marketing name when it is known, else empty."""
        return self.row.marketing if self.row is not None else ""


@lru_cache(maxsize=1)
def soc_table() -> tuple[SocRow, ...]:
    """All rows of `resources/soc.json`."""
    path = resources() / "soc.json"
    return from_json(path.read_bytes(), tuple[SocRow, ...], where=str(path))


def identify_soc(properties: Mapping[str, str]) -> Soc:
    """The chip that `getprop` speaks of. Empty model = the phone does not say."""
    vendor = properties.get("ro.soc.manufacturer", "")
    for key, field in (
        ("ro.soc.model", "soc_models"),
        ("ro.vendor.qti.soc_model", "soc_models"),
        ("ro.board.platform", "platforms"),
        ("ro.hardware", "hardware"),
    ):
        said = properties.get(key, "").strip()
        if not said or said.lower() in ("unknown", "qcom"):
            continue
        rows = [row for row in soc_table() if said.lower() in (n.lower() for n in getattr(row, field))]
        if len(rows) == 1:
            model = said if field == "soc_models" else rows[0].code
            return Soc(model=model, vendor=vendor or rows[0].vendor, row=rows[0])
        if field == "soc_models":
            return Soc(model=said, vendor=vendor)  # it named its chip: a codename says no more
    said = properties.get("ro.board.platform") or properties.get("ro.hardware") or ""
    return Soc(model=said, vendor=vendor)
