from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from hypothesis import given

from studio.errors import InputError
from studio.project import Project, SourceModel
from studio.project.migrate import migrate
from studio.project.places import place_inside, relative_to_folder, runs_dir
from studio.project.store import check_project, dump_project, load_project, parse_project, save_project
from studio.recipes.recipe import ConvertStep, QuantizeStep, Recipe
from tests.unit.project.project_strategies import projects

PROJECT = Project(
    name="digits",
    source=SourceModel(path="digits.onnx"),
    targets=("ort/cpu", "litert/gpu"),
    recipe=Recipe(steps=(ConvertStep(id="ort", after="source", format="ort"),)),
)


@given(projects)
def test_save_load_save_is_byte_identical(project: Project) -> None:
    once = dump_project(project)
    again = parse_project(once, where="here")
    assert again == project
    assert dump_project(again) == once


def test_file_round_trip_leaves_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "a.studio"
    save_project(PROJECT, path)
    assert load_project(path) == PROJECT
    assert [p.name for p in tmp_path.iterdir()] == ["a.studio"]


def test_list_items_and_settings_have_lines_of_their_own() -> None:
    lines = dump_project(PROJECT).decode().splitlines()
    assert '    "litert/gpu",' in lines
    assert "[[recipe.steps]]" in lines
    assert lines[lines.index("threads = 1") + 1] == ""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"", "no \u201cschema\u201d"),
        (b"\xff\xfe\x00", "not a text file"),
        (b"schema = 1\nname = ", "cannot be read"),
        (b"schema = 2\n", "newer version"),
        (b"schema = 0\n", "no \u201cschema\u201d"),
        (b"schema = true\n", "no \u201cschema\u201d"),
        (b"schema = 1\nname = 'x'\n", "missing required field `source`"),
        (b"schema = 1\nname = 'x'\n[source]\npath = 'a'\nspeed = 1\n", "field `speed` - at `$.source`"),
        (b"schema = 1\nname = 'x'\ntargets = ['ort/moon']\n[source]\npath = 'a'\n", "$.targets[0]"),
        (b"schema = 1\nname = 'x'\n[source]\npath = '../a'\n", "$.source.path"),
        (b"schema = 1\nname = 'x'\n[source]\npath = '/etc/a'\n", "$.source.path"),
        (b"schema = 1\nname = 'x'\n[source]\npath = 'C:/a'\n", "$.source.path"),
        (b"schema = 1\nname = 'x'\n[source]\npath = 'a'\n[calibration]\npath = '..\\\\b'\n", "$.calibration"),
        (b"schema = 1\nname = 'x'\n[source]\npath = ''\n", "$.source.path is empty"),
        (b"schema=1\nname='x'\n[source]\npath='a'\n[run_settings]\ntarget='ort/cpu'\nthreads=0\n", "threads"),
        (
            b"schema = 1\nname = 'x'\n[source]\npath = 'a'\n[run_settings]\ntarget='ort/cpu'\nseconds=nan\n",
            "$.run_settings.seconds",
        ),
        (
            b"schema=1\nname='x'\n[source]\npath='a'\n[[recipe.steps]]\nkind='verify'\nid='v'\nafter='w'\n",
            "$.recipe.steps[0].after",
        ),
        (b"schema=1\nname='x'\n[source]\npath='a'\n[[recipe.steps]]\nkind='bake'\n", "$.recipe.steps"),
        (b"a = " + b"[" * 100_000, ""),
    ],
)  # fmt: skip
def test_bad_project_is_one_sentence_and_unchanged(tmp_path: Path, text: bytes, words: str) -> None:
    path = tmp_path / "bad.studio"
    path.write_bytes(text)
    with pytest.raises(InputError) as caught:
        load_project(path)
    assert words in caught.value.message
    assert caught.value.hint
    assert path.read_bytes() == text


def test_folder_and_missing_file_are_named(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.studio"):
        with pytest.raises(InputError, match=str(path)):
            load_project(path)


def test_a_project_that_is_not_valid_is_not_saved(tmp_path: Path) -> None:
    bad = Project(name="x", source=SourceModel(path="../up.onnx"))
    with pytest.raises(InputError):
        save_project(bad, tmp_path / "a.studio")
    assert not list(tmp_path.iterdir())


def test_migrations_run_in_order_on_copies() -> None:
    steps = {1: lambda t: {**t, "b": 1}, 2: lambda t: {**t, "c": t["b"] + 1}}
    old = {"schema": 1}
    assert migrate(old, where="x", schema=3, migrations=steps) == {"schema": 3, "b": 1, "c": 2}
    assert old == {"schema": 1}


def test_every_saved_schema_still_opens() -> None:
    folder = Path(__file__).parents[2] / "projects"
    saved = sorted(folder.glob("*.studio"))
    assert saved
    for path in saved:
        assert load_project(path).source.path


def test_links_out_of_the_folder_are_refused(tmp_path: Path) -> None:
    inside = tmp_path / "project"
    inside.mkdir()
    (tmp_path / "secret.onnx").write_bytes(b"x")
    (inside / "link.onnx").symlink_to(tmp_path / "secret.onnx")
    with pytest.raises(InputError, match="leads out"):
        place_inside(inside, "link.onnx", field="source.path")
    project = Project(name="p", source=SourceModel(path="link.onnx"))
    save_project(project, inside / "p.studio")
    with pytest.raises(InputError, match=r"\$\.source\.path"):
        load_project(inside / "p.studio")
    assert place_inside(inside, "a/b.onnx", field="source.path") == inside.resolve() / "a" / "b.onnx"


def test_paths_are_stored_relative_with_forward_slashes(tmp_path: Path) -> None:
    assert relative_to_folder(tmp_path / "data" / "a.npz", tmp_path) == "data/a.npz"
    with pytest.raises(InputError, match="outside"):
        relative_to_folder(tmp_path.parent / "a.npz", tmp_path)
    assert runs_dir(Path("x/digits.studio")) == Path("x/digits.runs")


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_git_merges_edits_of_neighbouring_settings(tmp_path: Path) -> None:
    base = dump_project(PROJECT).decode()
    ours = base.replace("threads = 1", "threads = 4")
    theirs = base.replace("warmup_runs = 5", "warmup_runs = 9").replace("runs = 100", "runs = 300")
    for name, text in (("base", base), ("ours", ours), ("theirs", theirs)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    done = subprocess.run(
        ["git", "merge-file", "-p", "ours", "base", "theirs"], cwd=tmp_path, capture_output=True
    )
    assert done.returncode == 0
    merged = parse_project(done.stdout, where="merged").run_settings
    assert (merged.threads, merged.warmup_runs, merged.runs) == (4, 9, 300)


@pytest.mark.parametrize(
    ("table", "field", "value"),
    [
        ("run_settings", "threads", 10**12),
        ("run_settings", "runs", 10**12),
        ("run_settings", "warmup_runs", -1),
        ("run_settings", "seconds", float("inf")),
        ("run_settings", "seconds", float("nan")),
        ("run_settings", "interval_ms", float("inf")),
        ("run_settings", "sample_hz", 1e300),
        ("preprocessing", "height", -5),
        ("preprocessing", "width", 10**7),
        ("preprocessing", "std", (0.0,)),
        ("preprocessing", "mean", (float("nan"),)),
        ("preprocessing", "scale", float("inf")),
    ],
)
def test_absurd_numbers_are_named_by_their_field(table: str, field: str, value: object) -> None:
    whole = PROJECT
    part = msgspec.structs.replace(getattr(whole, table), **{field: value})
    with pytest.raises(InputError, match=rf"\$\.{table}\.{field}") as caught:
        check_project(msgspec.structs.replace(whole, **{table: part}))
    assert caught.value.hint


@pytest.mark.parametrize("samples", [-5, 0, 10**12])
def test_absurd_numbers_of_samples_are_refused(samples: int) -> None:
    step = QuantizeStep(id="q", after="source", samples=samples)
    with pytest.raises(InputError, match=r"\$\.recipe\.steps\[0\]\.samples"):
        check_project(msgspec.structs.replace(PROJECT, recipe=Recipe(steps=(step,))))


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")])
def test_only_regular_files_are_read(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "endless.studio")
    with pytest.raises(InputError, match="not a regular file"):
        load_project(tmp_path / "endless.studio")
