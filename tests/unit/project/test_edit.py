from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.errors import InputError
from studio.project import Bookmark, Project, SourceModel, edit
from studio.project.edit import History
from studio.project.store import check_project
from studio.recipes.recipe import ConvertStep, ExportStep, QuantizeStep, Recipe, VerifyStep
from studio.targets import TARGETS

START = Project(name="p", source=SourceModel(path="m.onnx"))


def test_removing_a_step_relinks_its_followers() -> None:
    steps = (
        ExportStep(id="export"),
        QuantizeStep(id="quantize", after="export"),
        ConvertStep(id="ort", after="quantize", format="ort"),
        VerifyStep(id="verify", after="ort"),
    )
    project = edit.remove_step(edit.set_recipe(START, Recipe(steps=steps)), "quantize")
    assert [(s.id, s.after) for s in project.recipe.steps] == [
        ("export", "source"),
        ("ort", "export"),
        ("verify", "ort"),
    ]
    check_project(project)


def test_set_step_replaces_in_place_or_adds() -> None:
    project = edit.set_step(edit.set_step(START, ExportStep(id="e")), QuantizeStep(id="q", after="e"))
    project = edit.set_step(project, ExportStep(id="e", opset=13))
    assert project.recipe.steps == (ExportStep(id="e", opset=13), QuantizeStep(id="q", after="e"))
    with pytest.raises(InputError):
        edit.add_step(project, ExportStep(id="e"))
    with pytest.raises(InputError):
        edit.add_step(project, ExportStep(id="source"))


def test_targets_are_known_and_unique() -> None:
    project = edit.add_target(edit.add_target(START, "ort/cpu"), "ort/cpu")
    assert project.targets == ("ort/cpu",)
    assert edit.remove_target(project, "ort/cpu").targets == ()
    with pytest.raises(InputError):
        edit.add_target(START, "ort/moon")


def test_bookmark_of_the_same_name_is_replaced() -> None:
    project = edit.add_bookmark(START, Bookmark(name="here", node="a"))
    project = edit.add_bookmark(project, Bookmark(name="here", node="b"))
    assert [b.node for b in project.bookmarks] == ["b"]
    assert edit.remove_bookmark(project, "here").bookmarks == ()


def test_merged_edits_are_one_step_of_undo() -> None:
    history = History.start(START)
    for text in ("a", "ab", "abc"):
        history = history.do(edit.set_notes(history.project, text), "Edit notes", merge=True)
    assert history.project.notes == "abc"
    assert history.undo().project == START


def test_merging_never_swallows_a_saved_state() -> None:
    history = History.start(START).do(edit.set_notes(START, "a"), "Edit notes", merge=True).mark_saved()
    history = history.do(edit.set_notes(START, "ab"), "Edit notes", merge=True)
    assert not history.is_saved
    assert history.undo().is_saved
    assert history.undo().project.notes == "a"


def test_labels_say_what_undo_and_redo_do() -> None:
    history = History.start(START).do(edit.rename(START, "q"), "Rename")
    assert (history.undo_label, history.redo_label) == ("Rename", "")
    assert (history.undo().undo_label, history.undo().redo_label) == ("", "Rename")


_edits = st.one_of(
    st.sampled_from(sorted(TARGETS)).map(lambda t: ("add target", lambda p: edit.add_target(p, t))),
    st.sampled_from(sorted(TARGETS)).map(lambda t: ("remove target", lambda p: edit.remove_target(p, t))),
    st.text(max_size=3).map(lambda s: ("notes", lambda p: edit.set_notes(p, s))),
    st.sampled_from("abc").map(lambda i: ("step", lambda p: edit.set_step(p, ExportStep(id=i)))),
    st.sampled_from("abc").map(lambda i: ("remove", lambda p: edit.remove_step(p, i))),
)
_moves = st.lists(st.one_of(_edits, st.just("undo"), st.just("redo"), st.just("save")), max_size=30)


@given(_moves)
def test_any_interleaving_of_edits_and_undo(moves: list) -> None:
    """Against the plainest model there is: a list and a cursor."""
    history = History.start(START)
    states, at, saved = [START], 0, START
    for move in moves:
        if move == "undo":
            history, at = history.undo(), max(at - 1, 0)
        elif move == "redo":
            history, at = history.redo(), min(at + 1, len(states) - 1)
        elif move == "save":
            history, saved = history.mark_saved(), states[at]
        else:
            label, function = move
            project = function(history.project)
            history = history.do(project, label)
            if project != states[at]:
                states = [*states[: at + 1], project]
                at += 1
        assert history.project == states[at]
        assert history.can_undo == (at > 0)
        assert history.can_redo == (at < len(states) - 1)
        if history.is_saved:
            assert history.project == saved
        check_project(history.project)
    for _ in states:
        history = history.undo()
    assert history.project == START
