"""The artifact cache: whole or absent, whatever happens."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from studio.errors import InputError
from studio.paths import artifacts_dir
from studio.recipes.cache import Making, cached_or_made, find_cached, sweep


def write(text: str, made: list[str]) -> object:
    def make(folder: Path) -> Making:
        made.append(text)
        (folder / "model.bin").write_text(text)
        return Making(path=folder / "model.bin", format="bin", notes=("a note",), facts={"n": 1})

    return make


def test_a_key_is_made_once(own_home: Path) -> None:
    made: list[str] = []
    first, was_cached = cached_or_made("k", write("one", made), made_by="test")  # type: ignore[arg-type]
    again, was_cached_again = cached_or_made("k", write("two", made), made_by="test")  # type: ignore[arg-type]
    assert (was_cached, was_cached_again, made) == (False, True, ["one"])
    assert again == first
    assert Path(first.path).read_text() == "one"
    assert first.facts == {"n": 1} and first.notes == ("a note",)


def test_force_makes_it_anew() -> None:
    made: list[str] = []
    cached_or_made("k", write("one", made), made_by="test")  # type: ignore[arg-type]
    found, was_cached = cached_or_made("k", write("two", made), made_by="test", force=True)  # type: ignore[arg-type]
    assert not was_cached and Path(found.path).read_text() == "two"


@pytest.mark.parametrize("damage", ["content", "size", "manifest", "missing"])
def test_a_damaged_entry_is_made_again(damage: str) -> None:
    made: list[str] = []
    found, _ = cached_or_made("k", write("one", made), made_by="test")  # type: ignore[arg-type]
    path = Path(found.path)
    if damage == "content":
        path.write_text("eno")
    elif damage == "size":
        path.write_text("much longer")
    elif damage == "manifest":
        (path.parent / "artifact.json").write_text("{")
    else:
        path.unlink()
    assert find_cached("k") is None
    again, was_cached = cached_or_made("k", write("two", made), made_by="test")  # type: ignore[arg-type]
    assert not was_cached and Path(again.path).read_text() == "two"


def test_a_failing_maker_leaves_the_old_artifact_and_nothing_aside() -> None:
    made: list[str] = []
    cached_or_made("k", write("one", made), made_by="test")  # type: ignore[arg-type]

    def fail(folder: Path) -> Making:
        (folder / "half").write_text("half")
        raise InputError("no")

    with pytest.raises(InputError):
        cached_or_made("k", fail, made_by="test", force=True)
    assert find_cached("k") is not None
    assert [p.name for p in artifacts_dir().iterdir()] == ["k"]


def test_no_space_is_said_in_words() -> None:
    def fail(folder: Path) -> Making:
        raise OSError(28, "No space left on device")

    with pytest.raises(InputError, match="No space left") as caught:
        cached_or_made("k", fail, made_by="test")
    assert "DEPLOYMENT_STUDIO_CACHE" in caught.value.hint


def test_sweep_removes_what_dead_processes_left_and_nothing_else() -> None:
    dead = subprocess.Popen([sys.executable, "-c", "pass"])
    dead.wait()
    for name in (f"a.partial-{dead.pid}", f"b.old-{dead.pid}", f"c.partial-{os.getpid()}", "d"):
        (artifacts_dir() / name).mkdir()
    sweep()
    assert sorted(p.name for p in artifacts_dir().iterdir()) == [f"c.partial-{os.getpid()}", "d"]
