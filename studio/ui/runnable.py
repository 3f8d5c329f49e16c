"""What of a project some runtime loads: whether there is anything to deploy, now or after the steps."""

from __future__ import annotations

from collections.abc import Sequence

from studio.graph.tensor_list import holds_weights_only
from studio.recipes.recipe import SOURCE
from studio.targets import TARGETS
from studio.ui.session import Session
from studio.ui.stages import Stage


def format_of(stage: Stage) -> str:
    """The format of a stage's file, by its artifact or its name."""
    if stage.artifact is not None:
        return stage.artifact.format
    return stage.path.suffix.lstrip(".").lower() if stage.path else ""


def runnable_stages(stages: Sequence[Stage]) -> list[Stage]:
    """The stages whose file some runtime loads."""
    loadable = {fmt for target in TARGETS.values() for fmt in target.formats}
    return [s for s in stages if s.has_graph and s.path is not None and format_of(s) in loadable]


def can_ever_run(session: Session) -> bool:
    """Whether the open file is loaded by a runtime or its recipe makes one that is; weights alone are not."""
    source = session.stage(SOURCE)
    if source is None or session.project is None:
        return False
    if source.opened is not None and holds_weights_only(source.opened.graph):
        return False
    return bool(session.project.recipe.steps) or bool(runnable_stages([source]))
