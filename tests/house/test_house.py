"""What no single room can see of itself: pins, scripts, docstrings, and nothing of one machine."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
MODULES = sorted((ROOT / "studio").rglob("*.py"))


def _pins() -> dict[str, str]:
    lines = (ROOT / "packaging" / "constraints.txt").read_text().splitlines()
    pairs = (line.split("==") for line in lines if "==" in line and not line.startswith("#"))
    return {re.sub(r"[-_.]+", "-", name).lower(): version.split(";")[0].strip() for name, version in pairs}


def _requirements() -> list[Requirement]:
    extras = [text for group in PROJECT["optional-dependencies"].values() for text in group]
    return [Requirement(text) for text in (*PROJECT["dependencies"], *extras)]


@pytest.mark.parametrize("requirement", _requirements(), ids=lambda r: r.name)
def test_every_dependency_is_pinned_inside_its_range(requirement: Requirement) -> None:
    pins = _pins()
    name = re.sub(r"[-_.]+", "-", requirement.name).lower()
    assert name in pins, f"{requirement.name} is not in packaging/constraints.txt"
    assert requirement.specifier.contains(pins[name]), f"{requirement} does not admit {pins[name]}"


def test_pins_fit_what_is_installed() -> None:
    """The versions that the tests ran with are the ones that users get."""
    from importlib.metadata import PackageNotFoundError, version

    pins = _pins()
    for requirement in _requirements():
        name = re.sub(r"[-_.]+", "-", requirement.name).lower()
        try:
            found = version(requirement.name)
        except PackageNotFoundError:
            continue
        assert found.split("+")[0] == pins[name], requirement.name


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_every_module_says_what_it_is(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), "no docstring"


@pytest.mark.parametrize("script", ["run.sh", "test.sh", "setup.sh"])
def test_scripts_are_posix_shell(script: str) -> None:
    shell = shutil.which("dash") or shutil.which("sh")
    assert shell
    assert subprocess.run([shell, "-n", str(ROOT / "packaging" / script)]).returncode == 0


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a git checkout")
def test_nothing_names_a_path_of_one_machine() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    bad = re.compile(rb"/(?:work/main|work/shared|tmp/brief|root/\.pyenv|home/(?!me/)[a-z]+/)")
    found = []
    for name in filter(None, listed.decode().split("\0")):
        path = ROOT / name
        if path.is_file() and path != Path(__file__) and bad.search(path.read_bytes()):
            found.append(name)
    assert not found
