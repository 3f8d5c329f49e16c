"""Ruling: what a rule says about one OpNode, and the few words to say it with."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from studio.records import Record
from studio.support.op_node import OpNode
from studio.support.verdict import Verdict


class Ruling(NamedTuple):
    """A verdict, its sentence, its evidence, ids of fixes that apply.

    From an accelerator's own rule FALLS_BACK only says *not taken*; `judge` asks the fallback.
    """

    verdict: Verdict
    text: str
    source: str
    fixes: tuple[str, ...] = ()
    engine: bool = True  # whether the accelerator itself runs it (False: its built-in fallback)
    vanishes: bool = False  # nothing is left of the node when the accelerator is asked


class Setting(Record):
    """What a verdict depends on besides the graph."""

    target_id: str
    soc: str = ""
    htp_arch: int = 0  # Hexagon version, e.g. 75; 0 unknown
    android_level: int = 0  # Android API level; 0 = not stated
    graph_format: str = "onnx"


Rule = Callable[[OpNode, Setting], Ruling]


def takes(text: str, source: str, *, engine: bool = True) -> Ruling:
    """It runs."""
    return Ruling(Verdict.RUNS, text, source, (), engine)


def gone(text: str, source: str) -> Ruling:
    """Folded, fused or removed before the accelerator is asked: it belongs to its neighbours."""
    return Ruling(Verdict.RUNS, text, source, engine=False, vanishes=True)


def depends(text: str, source: str, *fixes: str) -> Ruling:
    """It runs if the stated condition holds."""
    return Ruling(Verdict.CONDITIONAL, text, source, fixes)


def refuses(text: str, source: str, *fixes: str) -> Ruling:
    """The accelerator does not take it."""
    return Ruling(Verdict.FALLS_BACK, text, source, fixes)


def fails(text: str, source: str, *fixes: str) -> Ruling:
    """Nothing in this runtime can run it."""
    return Ruling(Verdict.FAILS, text, source, fixes)


def unknown(text: str, source: str) -> Ruling:
    """We cannot say."""
    return Ruling(Verdict.UNKNOWN, text, source)
