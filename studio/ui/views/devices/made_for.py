"""What a stage's file was made for: the first target to offer for a run."""

from __future__ import annotations

from studio.recipes.recipe import ConvertStep
from studio.ui.session import Session


def made_for(session: Session, stage_id: str) -> str:
    """The target that a conversion names or that the file holds compiled code for, "" when there is none."""
    steps = session.project.recipe.steps if session.project else ()
    named = next((s.target for s in steps if s.id == stage_id and isinstance(s, ConvertStep)), "")
    stage = session.stage(stage_id)
    if named or stage is None or stage.opened is None:
        return named
    from studio.support.lowered_file import targets_of_graph

    return next(iter(targets_of_graph(stage.opened.graph)), "")
