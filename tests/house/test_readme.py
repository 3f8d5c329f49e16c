"""The README says nothing that the program does not."""

from __future__ import annotations

import re
from pathlib import Path

from studio.cli.main import COMMANDS
from studio.targets import TARGETS

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def test_every_command_is_named_and_every_named_command_exists() -> None:
    named = set(re.findall(r"^deployment-studio ([a-z-]+)", README, re.MULTILINE))
    assert named <= set(COMMANDS)
    assert all(f"`{name}`" in README or f"deployment-studio {name}" in README for name in COMMANDS)


def test_every_target_has_its_row_and_no_more() -> None:
    rows = "\n".join(line for line in README.splitlines() if line.startswith("| `") and "/" in line)
    named = set(re.findall(r"`([a-z-]+/[a-z-]+)`", rows))
    assert named == set(TARGETS)


def test_the_options_in_the_examples_exist() -> None:
    import importlib

    for line in re.findall(r"^deployment-studio .*$", README, re.MULTILINE):
        words = line.split("#")[0].split()
        parser = importlib.import_module(COMMANDS[words[1]][0]).parser()
        parser.parse_args(words[2:])


def test_files_that_it_points_to_are_there() -> None:
    root = Path(__file__).parents[2]
    for name in re.findall(r"`((?:packaging|tests|studio|resources)/[\w./-]*)`", README):
        assert (root / name).exists(), name
