"""Where a command writes is checked before it works, for every option that names a file to write."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from studio.cli.main import COMMANDS, main
from studio.cli.options import Parser
from studio.project.store import load_project, save_project
from studio.recipes.recipe import ConvertStep
from tests.unit.cli.tiny_models import conv_net


def writing_commands() -> list[tuple[str, str]]:
    """Each command with each option that names a file to write."""
    found = []
    for name, (address, _) in COMMANDS.items():
        parser: Parser = importlib.import_module(address).parser()
        found += [(name, option) for option in ("--out", "--csv") if option in parser.format_help()]
    return found


def test_the_commands_that_write_are_known() -> None:
    names = {name for name, _ in writing_commands()}
    assert names == {"inspect", "render", "export", "edit", "fix", "quantize", "convert", "report"}


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("absent/{}", "No such file or directory"),
        ("file/{}", "Not a directory"),
        ("folder", "it is a folder"),
        ("/proc/{}", ""),  # which takes no files, not even from root
    ],
)
@pytest.mark.parametrize(("command", "option"), writing_commands())
def test_a_place_that_takes_no_file_is_refused_before_the_model_is_looked_at(
    command: str,
    option: str,
    place: str,
    reason: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    out = place.format("made.onnx")
    assert main([command, "nothing.onnx", option, out, "--json"]) == 2
    error = json.loads(capfd.readouterr().out)["error"]
    assert error["message"].startswith(f"Cannot write {Path(out).absolute()}: {reason}")
    assert error["hint"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "folder"]


def test_a_place_that_takes_a_file_is_left_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.onnx").write_text("old")
    assert main(["quantize", "nothing.onnx", "--scheme", "dynamic", "--out", "q.onnx"]) == 2
    assert "nothing.onnx" in capfd.readouterr().err
    assert [p.name for p in tmp_path.iterdir()] == ["q.onnx"]
    assert (tmp_path / "q.onnx").read_text() == "old"


def test_the_place_that_fix_chooses_itself_is_checked_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    model = conv_net(tmp_path / "net.onnx", batch="N")
    (tmp_path / "net-freeze-dims.onnx").mkdir()

    def worked(*_: object) -> None:
        raise AssertionError("the fix was applied before its place was checked")

    monkeypatch.setattr("studio.cli.fix.apply", worked)
    assert main(["fix", str(model), "--fix", "freeze-dims", "--dim", "N=1"]) == 2
    assert "net-freeze-dims.onnx: it is a folder" in capfd.readouterr().err


def test_one_place_for_several_made_files_is_refused_before_they_are_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    conv_net(tmp_path / "net.onnx")
    assert main(["new", "p.studio", "--model", "net.onnx", "--target", "ort/cpu"]) == 0
    project = load_project(tmp_path / "p.studio")
    first = next(s for s in project.recipe.steps if isinstance(s, ConvertStep))
    steps = (*project.recipe.steps, replace(first, id="again"))
    save_project(replace(project, recipe=replace(project.recipe, steps=steps)), tmp_path / "p.studio")
    capfd.readouterr()

    def worked(*_: object) -> None:
        raise AssertionError("the recipe was run before the places were counted")

    monkeypatch.setattr("studio.cli.single_step.run_recipe", worked)
    assert main(["convert", "p.studio", "--out", "one.ort"]) == 2
    assert f"--out takes one file, and 2 are made. Add --step: {first.id}, again." in capfd.readouterr().err
