"""Runs stand over rules and tools on their own SoC, and beside the verdicts on any other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from studio.support import Tier, Verdict, judge
from studio.support.measured import with_evidence
from studio.support.merge import with_answers
from studio.support.verdict import Evidence, TargetVerdicts


@pytest.fixture
def graph(sketch: Any) -> Any:
    s = sketch()
    return s.graph(s.node("Relu", [s.node("Erf", [s.input(1, 4)], (1, 4))], (1, 4)))


@pytest.fixture
def asked(graph: Any) -> TargetVerdicts:
    """NNAPI by rule leaves Erf and takes Relu; a tool says the opposite of both."""
    rules = judge(graph, ["ort/nnapi"])["ort/nnapi"]
    return with_answers(graph, rules, {0: (True, ""), 1: (False, "")}, source="a tool 1.0")


def ran(name: str, soc: str, *, taken: tuple[int, ...], left: tuple[int, ...] = (), **more: Any) -> Evidence:
    more.setdefault("applies", True)
    return Evidence(source=f"measured on {name}", soc=soc, taken=taken, left=left, **more)


def test_a_measurement_stands_over_tool_and_rule_and_says_on_what(graph: Any, asked: TargetVerdicts) -> None:
    found = with_evidence(graph, asked, [ran("Pixel 8", "Tensor G3", taken=(1,), left=(0,), words="1 of 2")])
    assert (found.verdict(0), found.verdict(1)) == (Verdict.FALLS_BACK, Verdict.RUNS)
    assert {found.reason(n).tier for n in (0, 1)} == {Tier.MEASURED}
    assert found.reason(1).source == "measured on Pixel 8"
    assert found.reason(0).text.startswith("It did not run on this target: 1 of 2.")
    assert [p.nodes for p in found.partitions] == [(1,)]


def test_the_newest_of_one_soc_wins(graph: Any, asked: TargetVerdicts) -> None:
    old, new = ran("first", "SM8650", taken=(0,)), ran("second", "sm8650", taken=(), left=(0,))
    found = with_evidence(graph, asked, [old, new])
    assert found.verdict(0) is Verdict.FALLS_BACK and found.reason(0).source == "measured on second"


def test_socs_that_disagree_change_nothing_and_are_both_kept(graph: Any, asked: TargetVerdicts) -> None:
    pieces = [ran("A", "SM8650", taken=(0, 1)), ran("B", "MT6985", taken=(1,), left=(0,))]
    found = with_evidence(graph, asked, pieces)
    assert found.reason(0).tier is Tier.TOOL and found.reason(1).tier is Tier.MEASURED
    assert found.evidence == tuple(pieces)


def test_what_does_not_apply_is_kept_and_changes_nothing(graph: Any, asked: TargetVerdicts) -> None:
    found = with_evidence(graph, asked, [ran("other", "X", taken=(), left=(0, 1), applies=False)])
    assert found.counts() == asked.counts() and len(found.evidence) == 1


def test_evidence_is_saved_with_the_verdicts(graph: Any, asked: TargetVerdicts, tmp_path: Path) -> None:
    found = with_evidence(graph, asked, [ran("Pixel 8", "Tensor G3", taken=(0,), file="m.ort")])
    found.save(tmp_path / "v")
    again = TargetVerdicts.load(tmp_path / "v")
    assert again.evidence == found.evidence and again.reason(0) == found.reason(0)
    later = with_answers(graph, again, {1: (True, "")}, source="a tool 2.0")
    assert later.evidence == found.evidence
