"""The wizard: Export → Quantize → Convert → Verify → Deploy, one page each.

What lives here: the pages and their parts. A page shows the project's choices, says what each means
for the chosen targets, edits the project at once (undo works as everywhere) and runs its step as
a job. What does not: the advice (`recipes.advice`), the shape of recipes (`recipes.shape`), jobs.
"""

from studio.ui.views.wizard.wizard import DeployWizard

__all__ = ["DeployWizard"]
