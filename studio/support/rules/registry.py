"""Which rule answers for a target, in whose operator names it speaks, and what catches what it refuses."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from functools import cache

from studio.support.rules.by_table import ByTable
from studio.support.ruling import Rule


@dataclass(frozen=True, slots=True)
class RuleSet:
    """How one target is judged.

    `ir`: onnx, tflite, aten, or another list's names reached through `predict`. `fallback`: the rule of
    the engine that runs what the accelerator refuses (None: refusing means the node cannot run).
    `engine`, `fallback_name`: how sentences name them. `limit`: partitions that the runtime takes, 0 = all.
    """

    ir: str
    rule: Rule
    engine: str
    fallback: Rule | None = None
    fallback_name: str = ""
    partitioning: str = "phases"
    limit: int = 0


def _module(name: str) -> Rule:
    rule: Rule = importlib.import_module(f"studio.support.rules.{name}").judge_node
    return rule


@cache
def rule_for(target_id: str) -> RuleSet:
    """The rule set of a target. Raises KeyError for an id that `studio.targets` does not know."""
    return _BUILD[target_id]()


VALIDATED = "Qualcomm's own validation for the SoC decides"


def _ort(module: str, engine: str) -> RuleSet:
    return RuleSet("onnx", _module(module), engine, _module("ort_cpu"), "ONNX Runtime's CPU")


_BUILD = {
    "ort/cpu": lambda: RuleSet("onnx", _module("ort_cpu"), "ONNX Runtime"),
    "ort/xnnpack": lambda: _ort("ort_xnnpack", "XNNPACK"),
    "ort/nnapi": lambda: _ort("ort_nnapi", "NNAPI"),
    "ort/qnn": lambda: RuleSet(
        "onnx",
        ByTable("ort_qnn", "QNN", is_complete=True, needs_static=True, condition=VALIDATED),
        "QNN", _module("ort_cpu"), "ONNX Runtime's CPU",
    ),
}  # fmt: skip
