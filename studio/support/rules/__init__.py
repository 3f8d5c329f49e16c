"""Rules: per target, code that judges one OpNode by attributes, shapes, dtypes and constants.

What lives here: `rule_for(target_id)`, one module per target with conditions of its own, and
`by_table.py` for targets of which only a list is public. What does not: conversions (`predict`), the
graph around a node. A rule never says yes because it knows nothing: no row → unknown or not taken,
as its source is a complete registry or not.
"""

from studio.support.rules.registry import RuleSet, rule_for

__all__ = ["RuleSet", "rule_for"]
