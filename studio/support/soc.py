"""Systems on chip as verdicts need them: the Hexagon version of a Qualcomm name."""

from __future__ import annotations

HTP_ARCH = {
    "SM8350": 68, "SM8450": 69, "SM8475": 69, "SM8550": 73, "SM8650": 75, "SM8750": 79, "SM8850": 81,
    "SM7450": 69, "SM7475": 69, "SM7550": 73, "SM7675": 73, "SM8635": 73, "SA8295": 68, "QCS8550": 73,
}  # fmt: skip
"""Source: github:pytorch/executorch@cff6f4dd32:backends/qualcomm/serialization/qc_schema.py."""


def htp_arch_of(soc: str) -> int:
    """The Hexagon version, e.g. 75 for SM8650; 0 when the name is not known."""
    return HTP_ARCH.get(soc.upper(), 0)
