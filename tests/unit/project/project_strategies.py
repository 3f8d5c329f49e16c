"""Hypothesis strategies for projects: every field, awkward texts included."""

from __future__ import annotations

from hypothesis import strategies as st

from studio.devices.device import RunMode, RunSettings
from studio.project import Bookmark, DataSet, Project, SourceModel
from studio.recipes.recipe import (
    Calibration,
    ConvertStep,
    Exporter,
    ExportStep,
    InputSpec,
    Preprocessing,
    QuantizeScheme,
    QuantizeStep,
    Recipe,
    VerifyStep,
)
from studio.targets import TARGETS

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
names = st.text("abcdefghij_-é漢", min_size=1, max_size=8)
paths = st.lists(names, min_size=1, max_size=3).map("/".join)
numbers = st.floats(0, 1e5, allow_nan=False)  # within what a project may say

data_sets = st.builds(DataSet, path=paths, labels=st.one_of(st.just(""), paths))
inputs = st.builds(
    InputSpec, name=texts, shape=st.lists(st.one_of(st.integers(0, 9999), names), max_size=4).map(tuple)
)


@st.composite
def recipes(draw: st.DrawFn) -> Recipe:
    """A recipe whose `after` always names an earlier step."""
    ids = draw(st.lists(names.filter(lambda n: n != "source"), unique=True, max_size=5))
    steps = []
    for i, step_id in enumerate(ids):
        after = draw(st.sampled_from(["source", *ids[:i]]))
        kind = draw(st.integers(0, 3))
        if kind == 0:
            exporter = draw(st.sampled_from(Exporter))
            steps.append(
                ExportStep(id=step_id, after=after, opset=draw(st.integers(7, 27)), exporter=exporter)
            )
        elif kind == 1:
            steps.append(
                QuantizeStep(
                    id=step_id,
                    after=after,
                    scheme=draw(st.sampled_from(QuantizeScheme)),
                    calibration=draw(st.sampled_from(Calibration)),
                    per_channel=draw(st.booleans()),
                    keep_float=tuple(draw(st.lists(texts, max_size=3))),
                )
            )
        elif kind == 2:
            steps.append(ConvertStep(id=step_id, after=after, format=draw(st.sampled_from(["ort", "pte"]))))
        else:
            loss = draw(st.one_of(st.none(), numbers))
            steps.append(VerifyStep(id=step_id, after=after, max_accuracy_loss=loss))
    return Recipe(steps=tuple(steps))


projects = st.builds(
    Project,
    name=texts,
    source=st.builds(
        SourceModel, path=paths, factory=texts, weights=st.one_of(st.just(""), paths),
        inputs=st.lists(inputs, max_size=2).map(tuple),
    ),
    targets=st.lists(st.sampled_from(sorted(TARGETS)), unique=True, max_size=4).map(tuple),
    recipe=recipes(),
    calibration=st.one_of(st.none(), data_sets),
    evaluation=st.one_of(st.none(), data_sets),
    preprocessing=st.builds(Preprocessing, mean=st.lists(numbers, max_size=3).map(tuple), scale=numbers),
    devices=st.lists(texts, max_size=3).map(tuple),
    run_settings=st.builds(
        RunSettings, target=st.sampled_from(sorted(TARGETS)), threads=st.integers(1, 64),
        mode=st.sampled_from(RunMode), seconds=numbers,
    ),
    bookmarks=st.lists(st.builds(Bookmark, name=texts, node=texts), max_size=2).map(tuple),
    soc=texts,
    notes=texts,
)  # fmt: skip
