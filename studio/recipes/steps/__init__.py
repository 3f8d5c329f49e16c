"""One file per kind of step: a blocking function from a StepContext to a file and facts about it.

What lives here: `export.py`, `quantize.py`, `convert.py`, `verify.py`, and `context.py` with what
they are given. What does not: order, cache and keys (`plan.py`, `run.py`).
"""

from studio.recipes.steps.context import RecipeInput, StepContext

__all__ = ["RecipeInput", "StepContext"]
