"""Fixes: rewrites of an ONNX graph that a target takes better, each proven equal or refused.

What lives here: the table of fixes (`fix.py`), one module per family of rewrites, `onnx_edit.py`
(the few edits that all of them need), `protos.py` (questions about single nodes and tensors),
`subgraphs.py` (about a few nodes together), `made_inputs.py`, `runner.py` and `prove.py` (both models on
the same inputs) and `apply.py` (the whole way, with verdicts and partitions before and after). What does
not: finding out that a fix applies (`support` names fix ids in its reasons, as far as
`support.fix_reach`, `graph_reach` and `stand_in` let it), asking the user (`ui`, `cli`).

Why ONNX only: it is the form that every path of the studio passes through; for a torch source the
fix's `torch_advice` says what to change in Python, and the verdict's provenance says where.
Why the main graph only: bodies of If and Loop run on the CPU on every target we know. Local functions
are written out first, as runtimes do.
"""

from studio.recipes.fixes.apply import FixOutcome, apply_fix
from studio.recipes.fixes.fix import FIXES, Fix, FixOptions, find_fix

__all__ = ["FIXES", "Fix", "FixOptions", "FixOutcome", "apply_fix", "find_fix"]
