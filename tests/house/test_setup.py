"""The set-up scripts, function by function: what they say and what they leave alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def shell(code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs shell code after setup.sh; `$root` is the checkout unless given."""
    start = f'set -eu; root="${{ROOT_DIR}}"; . "{ROOT}/packaging/setup.sh"; '
    return subprocess.run(
        ["sh", "-c", start + code], capture_output=True, text=True, timeout=60,
        env={**os.environ, "ROOT_DIR": str(ROOT), **variables},
    )  # fmt: skip


def test_without_root_the_exact_command_is_named() -> None:
    done = shell("is_root() { return 1; }; has() { true; }; apt_install libegl1 libxcb-cursor0")
    assert done.returncode == 1
    assert "sudo apt-get install libegl1 libxcb-cursor0" in done.stderr


def test_without_apt_the_packages_are_named() -> None:
    done = shell("is_root() { true; }; has() { return 1; }; apt_install libegl1")
    assert done.returncode == 1
    assert "libegl1" in done.stderr and "apt-get" not in done.stderr


def test_nothing_missing_installs_nothing() -> None:
    assert shell("apt_install").returncode == 0


def test_python_can_be_chosen_and_must_be_supported(tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    assert shell("supported_python", PYTHON=sys.executable).stdout.strip() == sys.executable
    assert shell("supported_python", PYTHON=str(old)).stdout.strip() != str(old)


def test_an_unchanged_checkout_is_not_installed_again(tmp_path: Path) -> None:
    (tmp_path / "packaging").mkdir()
    for name in ("pyproject.toml", "packaging/constraints.txt"):
        (tmp_path / name).write_text("a pin\n")
    binary = tmp_path / ".venv" / "bin" / "python"
    binary.parent.mkdir(parents=True)
    binary.write_text(f'#!/bin/sh\necho "$@" >> "{tmp_path}/calls"\n')
    binary.chmod(0o755)
    install = "install_studio executorch"
    for _ in range(2):
        assert shell(install, ROOT_DIR=str(tmp_path)).returncode == 0
    calls = (tmp_path / "calls").read_text().splitlines()
    assert len(calls) == 1
    assert "--constraint" in calls[0] and f"{tmp_path}[executorch]" in calls[0]
    shell("install_studio dev,executorch", ROOT_DIR=str(tmp_path))
    for extras in ("executorch,dev", "''"):  # all there, whatever the order; the core is always there
        shell(f"install_studio {extras}", ROOT_DIR=str(tmp_path))
    calls = (tmp_path / "calls").read_text().splitlines()
    assert len(calls) == 2 and f"{tmp_path}[dev]" in calls[1]
    (tmp_path / "pyproject.toml").write_text("another pin\n")
    shell("install_studio ''", ROOT_DIR=str(tmp_path))
    shell(install, ROOT_DIR=str(tmp_path))
    calls = (tmp_path / "calls").read_text().splitlines()
    assert calls[2].endswith(str(tmp_path))  # core only
    assert f"{tmp_path}[executorch]" in calls[3] and len(calls) == 4


def test_missing_libraries_are_named_as_packages() -> None:
    code = (
        "import sys; sys.path.insert(0, 'packaging'); import system_libraries as s\n"
        "s.PACKAGES = {'libnothing.so.99': 'libnothing99', 'libc.so.6': 'libc6'}\n"
        "print(s.missing())"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.strip() == "['libnothing99']"
