"""What we do to a model: Recipe, Step, plan().

What lives here: the records of a recipe (plain data), `steps/` with one file per kind of step (a
pure blocking function from input file and settings to an artifact), `plan.py` (order, keys, what
is cached), `run.py`, `cache.py`, the source (`load_torch.py`, `check_program.py`: what may run and
when), data sets (`data.py`), the float original's outputs (`reference.py`), and what the wizard
thinks with: `shape.py`, `advice.py`, `suggest.py`. What does not: tool chains (`backends`), error
figures (`measure`), processes (`jobs`).
"""

from studio.recipes.recipe import (
    ConvertStep,
    EditStep,
    ExportStep,
    FixStep,
    Preprocessing,
    QuantizeStep,
    Recipe,
    Step,
    VerifyStep,
)
from studio.recipes.source import DataSet, SourceModel

__all__ = [
    "ConvertStep",
    "DataSet",
    "EditStep",
    "ExportStep",
    "FixStep",
    "Preprocessing",
    "QuantizeStep",
    "Recipe",
    "SourceModel",
    "Step",
    "VerifyStep",
]
