"""The colours and signs of pictures, light and dark. Source: the design's table of looks (`LOOK.md`)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Palette:
    """One theme's colours, as `#rrggbb`."""

    window: str
    panel: str
    canvas: str
    line: str
    text: str
    quiet: str
    accent: str
    selection: str
    runs: str
    conditional: str
    falls_back: str
    fails: str
    unknown: str
    integer: str
    boundary: str
    is_dark: bool = False


LIGHT = Palette(
    window="#f6f7f9", panel="#ffffff", canvas="#fbfbfc", line="#e2e5ea", text="#1c2430", quiet="#66707f",
    accent="#2563c9", selection="#e8f0fd", runs="#0a8f6a", conditional="#b97a00", falls_back="#c4560a",
    fails="#b3261e", unknown="#7b8594", integer="#0072b2", boundary="#7a5cc2",
)  # fmt: skip
DARK = Palette(
    window="#15181d", panel="#1c2026", canvas="#181b20", line="#2c323b", text="#e4e8ee", quiet="#98a2b0",
    accent="#6aa5ff", selection="#24344f", runs="#35c79a", conditional="#e8b04a", falls_back="#ff9050",
    fails="#ff7b72", unknown="#8b95a3", integer="#56b4e9", boundary="#b49cf0", is_dark=True,
)  # fmt: skip
PALETTES = {"light": LIGHT, "dark": DARK}

ICONS = {
    "check": ("M2 7.5L5.5 11L12 3.5", False),
    "diamond": ("M7 1.5L12.5 7L7 12.5L1.5 7Z", True),
    "triangle": ("M7 1.5L13 12.5H1Z", True),
    "cross": ("M2.5 2.5L11.5 11.5M11.5 2.5L2.5 11.5", False),
    "question": ("M4 4.6C4 1 10 1 10 4.6C10 6.9 7 6.8 7 9.2M7 11.7V12.3", False),
    "plus": ("M7 2V12M2 7H12", False),
    "minus": ("M2 7H12", False),
    "tilde": ("M1.5 8C3.5 4.5 5.5 4.5 7 7C8.5 9.5 10.5 9.5 12.5 6", False),
    "dot": (
        "M7 3.5C8.93 3.5 10.5 5.07 10.5 7C10.5 8.93 8.93 10.5 7 10.5C5.07 10.5 3.5 8.93 3.5 7"
        "C3.5 5.07 5.07 3.5 7 3.5Z",
        True,
    ),
    "": ("", False),
}
"""Signs on a 14 × 14 grid: (path, filled; else stroked). Drawn, so that no font must have them."""

VERDICT_ICONS = {
    "runs": "check", "conditional": "diamond", "falls_back": "triangle", "fails": "cross",
    "unknown": "question",
}  # fmt: skip
"""Verdict → its sign in `ICONS`: the same in pictures, the report and the Netron page."""


def mix(one: str, other: str, share: float) -> str:
    """The colour `share` of the way from one to the other."""
    a = [int(one[i : i + 2], 16) for i in (1, 3, 5)]
    b = [int(other[i : i + 2], 16) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(p + (q - p) * share):02x}" for p, q in zip(a, b))
