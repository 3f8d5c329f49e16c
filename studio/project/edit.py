"""Edits: functions Project → Project, and History, the list that undo walks."""

from __future__ import annotations

from dataclasses import dataclass, replace

from msgspec.structs import replace as changed

from studio.devices.device import RunSettings
from studio.errors import InputError
from studio.project.project import Bookmark, DataSet, Project, SourceModel
from studio.recipes.edit_records import Edit
from studio.recipes.recipe import SOURCE, EditStep, Preprocessing, Recipe, Step
from studio.targets import find_target


def rename(project: Project, name: str) -> Project:
    """The project under another name."""
    return changed(project, name=name)


def set_source(project: Project, source: SourceModel) -> Project:
    """The project with another model to start from."""
    return changed(project, source=source)


def set_targets(project: Project, target_ids: tuple[str, ...]) -> Project:
    """The project with these targets, duplicates dropped. Raises InputError for an unknown id."""
    for target_id in target_ids:
        find_target(target_id)
    return changed(project, targets=tuple(dict.fromkeys(target_ids)))


def add_target(project: Project, target_id: str) -> Project:
    """The project with one more target. Raises InputError for an unknown id."""
    return set_targets(project, (*project.targets, target_id))


def remove_target(project: Project, target_id: str) -> Project:
    """The project without that target."""
    return changed(project, targets=tuple(t for t in project.targets if t != target_id))


def set_soc(project: Project, soc: str) -> Project:
    """The project for another SoC; empty = none chosen."""
    return changed(project, soc=soc)


def set_recipe(project: Project, recipe: Recipe) -> Project:
    """The project with another recipe."""
    return changed(project, recipe=recipe)


def add_step(project: Project, step: Step, *, index: int | None = None) -> Project:
    """The project with one more step, at the end or at `index`. Raises InputError for a taken id."""
    steps = list(project.recipe.steps)
    if step.id in {s.id for s in steps} or step.id == "source":
        raise InputError(f"There is already a step “{step.id}”.", hint="Give the new step another id.")
    steps.insert(len(steps) if index is None else index, step)
    return set_recipe(project, Recipe(steps=tuple(steps)))


def set_step(project: Project, step: Step) -> Project:
    """The project with the step of the same id replaced, or added when there is none."""
    if step.id not in {s.id for s in project.recipe.steps}:
        return add_step(project, step)
    return set_recipe(
        project, Recipe(steps=tuple(step if s.id == step.id else s for s in project.recipe.steps))
    )


def insert_step(project: Project, step: Step) -> Project:
    """The project with a step put in between: what followed `step.after` follows the step.

    Raises InputError for a taken id.
    """
    steps = project.recipe.steps
    at = next((i + 1 for i, s in enumerate(steps) if s.id == step.after), 0)
    moved = tuple(changed(s, after=step.id) if s.after == step.after else s for s in steps)
    return add_step(set_recipe(project, Recipe(steps=moved)), step, index=at)


def free_step_id(project: Project, wanted: str) -> str:
    """`wanted`, or with the first number that makes it an id that no step has."""
    taken = {s.id for s in project.recipe.steps} | {SOURCE}
    number, step_id = 1, wanted
    while step_id in taken:
        number += 1
        step_id = f"{wanted}-{number}"
    return step_id


def add_edits(project: Project, stage_id: str, edits: tuple[Edit, ...]) -> tuple[Project, str]:
    """(the project with light edits of what a stage holds, the id of the step that makes them).

    An edit step at or right after the stage takes them; else a new one is put in between.
    """
    steps = project.recipe.steps
    for step in steps:
        if isinstance(step, EditStep) and stage_id in (step.id, step.after):
            return set_step(project, changed(step, edits=(*step.edits, *edits))), step.id
    made = EditStep(id=free_step_id(project, "edit"), after=stage_id, edits=edits)
    return insert_step(project, made), made.id


def remove_step(project: Project, step_id: str) -> Project:
    """The project without that step; steps that followed it follow its predecessor."""
    gone = next((s for s in project.recipe.steps if s.id == step_id), None)
    if gone is None:
        return project
    steps = (
        changed(s, after=gone.after) if s.after == step_id else s
        for s in project.recipe.steps
        if s.id != step_id
    )
    return set_recipe(project, Recipe(steps=tuple(steps)))


def set_calibration(project: Project, data: DataSet | None) -> Project:
    """The project with other calibration data."""
    return changed(project, calibration=data)


def set_evaluation(project: Project, data: DataSet | None) -> Project:
    """The project with other evaluation data."""
    return changed(project, evaluation=data)


def set_preprocessing(project: Project, preprocessing: Preprocessing) -> Project:
    """The project with another way from an image to the model's input."""
    return changed(project, preprocessing=preprocessing)


def set_devices(project: Project, device_ids: tuple[str, ...]) -> Project:
    """The project that runs on these devices, duplicates dropped."""
    return changed(project, devices=tuple(dict.fromkeys(device_ids)))


def set_run_settings(project: Project, settings: RunSettings) -> Project:
    """The project with other run settings."""
    return changed(project, run_settings=settings)


def set_notes(project: Project, notes: str) -> Project:
    """The project with other notes."""
    return changed(project, notes=notes)


def add_bookmark(project: Project, bookmark: Bookmark) -> Project:
    """The project with one more bookmark; one of the same name is replaced."""
    kept = tuple(b for b in project.bookmarks if b.name != bookmark.name)
    return changed(project, bookmarks=(*kept, bookmark))


def rename_bookmark(project: Project, name: str, new_name: str) -> Project:
    """The project with a bookmark under another name. Raises InputError for an empty or taken name."""
    if not new_name.strip() or (new_name != name and any(b.name == new_name for b in project.bookmarks)):
        raise InputError(
            f"A bookmark cannot be called “{new_name}”.", hint="Choose a name that is not taken."
        )
    kept = (changed(b, name=new_name) if b.name == name else b for b in project.bookmarks)
    return changed(project, bookmarks=tuple(kept))


def remove_bookmark(project: Project, name: str) -> Project:
    """The project without that bookmark."""
    return changed(project, bookmarks=tuple(b for b in project.bookmarks if b.name != name))


@dataclass(frozen=True, slots=True)
class History:
    """A project with what undo and redo lead to; frozen: each operation returns the next history.

    `labels[i]` says in a few words what made `states[i]` ("Add target litert/gpu"); the label of
    state 0 is empty. `saved` is the index that is on disk, −1 when none is.
    """

    states: tuple[Project, ...]
    labels: tuple[str, ...] = ("",)
    position: int = 0
    saved: int = 0

    @staticmethod
    def start(project: Project, *, is_saved: bool = True) -> History:
        """A history of one state; `is_saved` False for a project that is not on disk yet."""
        return History(states=(project,), saved=0 if is_saved else -1)

    @property
    def project(self) -> Project:
        return self.states[self.position]

    @property
    def is_saved(self) -> bool:
        return self.position == self.saved

    @property
    def can_undo(self) -> bool:
        return self.position > 0

    @property
    def can_redo(self) -> bool:
        return self.position + 1 < len(self.states)

    @property
    def undo_label(self) -> str:
        """What `undo` would take back; empty when nothing."""
        return self.labels[self.position] if self.can_undo else ""

    @property
    def redo_label(self) -> str:
        """What `redo` would do again; empty when nothing."""
        return self.labels[self.position + 1] if self.can_redo else ""

    def do(self, project: Project, label: str, *, merge: bool = False) -> History:
        """The history after an edit; what was undone before is dropped. No change, no entry.

        `merge` joins an edit with the one before it of the same label (typing in one field).
        """
        if project == self.project:
            return self
        keep = self.position + 1
        if merge and self.can_undo and not self.is_saved and self.labels[self.position] == label:
            keep = self.position
        saved = self.saved if self.saved < keep else -1
        return History(
            states=(*self.states[:keep], project),
            labels=(*self.labels[:keep], label),
            position=keep,
            saved=saved,
        )

    def undo(self) -> History:
        """One step back, or the same history at the beginning."""
        return replace(self, position=self.position - 1) if self.can_undo else self

    def redo(self) -> History:
        """One step forward, or the same history at the end."""
        return replace(self, position=self.position + 1) if self.can_redo else self

    def mark_saved(self) -> History:
        """The same history, with the present state as the one on disk."""
        return replace(self, saved=self.position)
