"""The stronger tier wins, and unknown stays what it is until someone answers."""

from __future__ import annotations

from typing import Any

from studio.support import Tier, Verdict, judge
from studio.support.merge import with_answers


def two_nodes(sketch: Any) -> Any:
    s = sketch()
    return s.graph(s.node("Relu", [s.node("Erf", [s.input(1, 4)], (1, 4))], (1, 4)))


def test_the_tool_overrides_the_rule_and_partitions_follow(sketch: Any) -> None:
    graph = two_nodes(sketch)
    rules = judge(graph, ["ort/nnapi"])["ort/nnapi"]
    assert (rules.verdict(0), rules.verdict(1)) == (Verdict.FALLS_BACK, Verdict.RUNS)
    asked = with_answers(graph, rules, {0: (True, ""), 1: (False, "too old")}, source="a tool 1.0")
    assert (asked.verdict(0), asked.verdict(1)) == (Verdict.RUNS, Verdict.FALLS_BACK)
    assert asked.reason(1).tier == Tier.TOOL
    assert asked.reason(1).text == "The tool does not take it: too old."
    assert [p.nodes for p in asked.partitions] == [(0,)]


def test_the_rules_sentence_follows_the_tools_as_one_of_its_own(sketch: Any) -> None:
    graph = two_nodes(sketch)
    rules = judge(graph, ["ort/nnapi"])["ort/nnapi"]
    asked = with_answers(graph, rules, {0: (False, "not on its list.")}, source="a tool 1.0")
    assert asked.reason(0).text.startswith("The tool does not take it: not on its list. By rule: ")


def test_a_measurement_is_not_overridden_by_a_tool(sketch: Any) -> None:
    graph = two_nodes(sketch)
    rules = judge(graph, ["ort/nnapi"])["ort/nnapi"]
    measured = with_answers(graph, rules, {0: (True, "ran")}, source="Pixel 8", tier=Tier.MEASURED)
    again = with_answers(graph, measured, {0: (False, "")}, source="a tool 1.0")
    assert again.verdict(0) == Verdict.RUNS and again.reason(0).tier == Tier.MEASURED


def test_nodes_that_the_graph_does_not_have_are_ignored(sketch: Any) -> None:
    graph = two_nodes(sketch)
    rules = judge(graph, ["ort/nnapi"])["ort/nnapi"]
    assert with_answers(graph, rules, {99: (True, "")}, source="x").counts() == rules.counts()
