"""Starts the jobs that run a recipe, and keeps what they say of each step in the session."""

from __future__ import annotations

from collections.abc import Callable

from studio.jobs.job import Done, Failed, Progress
from studio.recipes.run import RecipeResult
from studio.records import from_json
from studio.ui.job_runner import COMPUTE, LIGHT
from studio.ui.session import Session
from studio.ui.texts import fill


def needs_trust(session: Session) -> bool:
    """Whether the source is Python in a folder that is not trusted as it is now."""
    from studio.project.trust import is_trusted

    project, folder = session.project, session.folder
    return bool(
        project is not None
        and folder is not None
        and project.source.path.endswith(".py")
        and not is_trusted(folder)
    )


def when_trusted(session: Session, go_on: Callable[[], object]) -> None:
    """Does it now, or after the person has trusted the folder."""
    if needs_trust(session):
        session.ask_for_trust(go_on)
    else:
        go_on()


def run_steps(session: Session, *, only: tuple[str, ...] = (), force: bool = False) -> str:
    """Starts the recipe or some of its steps; returns the job id, "" when it must wait for trust."""
    from studio.jobs.run_recipe import RunRecipe

    project, folder = session.project, session.folder
    if project is None or folder is None:
        return ""
    if needs_trust(session):
        session.ask_for_trust(lambda: run_steps(session, only=only, force=force))
        return ""
    wanted = only or tuple(step.id for step in project.recipe.steps)
    for step_id in wanted:
        session.step_failures.pop(step_id, None)
    spec = RunRecipe(project=project, folder=str(folder), only=only, force=force)
    title = session.tr("Run recipe") if len(wanted) != 1 else fill(session.tr("Run {step}"), step=wanted[0])
    followed = _Follower(session, wanted)
    job_id = session.start(spec, title=title, lane=COMPUTE, then=followed.on_end)
    followed.job_id = job_id
    session.job_event.connect(followed.on_event)
    return job_id


def find_artifacts(session: Session) -> None:
    """Lets a worker look for what the cache already holds for the project."""
    from studio.jobs.find_artifacts import FindArtifacts

    project, folder = session.project, session.folder
    if project is None or folder is None or not project.recipe.steps:
        return
    spec = FindArtifacts(project=project, folder=str(folder))

    def take(outcome: Done | Failed) -> None:
        if isinstance(outcome, Done) and session.project is not None:
            take_results(session, from_json(bytes(outcome.result), RecipeResult, where="find_artifacts"))

    session.start(spec, title=session.tr("Look for artifacts"), lane=LIGHT, then=take, quiet=True)


def take_results(session: Session, result: RecipeResult) -> None:
    """Keeps the figures and the broken budgets of steps that ran or were found."""
    for step in result.steps:
        session.step_results[step.step_id] = step
        session.step_failures.pop(step.step_id, None)
    session.stages_changed.emit()


class _Follower:
    """Turns the progress of one recipe job into a word per step."""

    def __init__(self, session: Session, wanted: tuple[str, ...]) -> None:
        self.job_id = ""
        self._session = session
        self._wanted = wanted
        self._running = ""

    def on_event(self, job_id: str, event: object) -> None:
        if job_id != self.job_id or not isinstance(event, Progress):
            return
        session = self._session
        step_id = event.stage.partition(":")[0]
        if session.stage(step_id) is None:
            return
        if step_id != self._running:
            session.step_progress.pop(self._running, None)
            self._running = step_id
        is_share = event.total and event.unit != "steps"
        text = f"{100 * event.done // (event.total or 1)} %" if is_share else "…"
        if session.step_progress.get(step_id) != text:
            session.step_progress[step_id] = text
            session.stages_changed.emit()

    def on_end(self, outcome: Done | Failed) -> None:
        session = self._session
        session.job_event.disconnect(self.on_event)
        session.step_progress.clear()
        if isinstance(outcome, Done):
            take_results(session, from_json(bytes(outcome.result), RecipeResult, where="run_recipe"))
        elif outcome.error != "cancelled" and self._running:
            session.step_failures[self._running] = outcome
        session.stages_changed.emit()
