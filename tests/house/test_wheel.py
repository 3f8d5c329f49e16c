"""A wheel built from this checkout and installed elsewhere starts and finds its resources."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy, so that no `build/` folder of the checkout is used or left."""
    source = tmp_path_factory.mktemp("source") / "checkout"
    names = ["studio", "resources", "pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE"]
    source.mkdir()
    for name in [*names, "THIRD_PARTY_NOTICES.md"]:
        _copy(ROOT / name, source / name)
    out = tmp_path_factory.mktemp("wheel")
    # Without isolation: the setuptools of this environment, no network.
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation",
         "--wheel-dir", str(out), str(source)],
        check=True,
    )  # fmt: skip
    (found,) = out.glob("deployment_studio-*.whl")
    return found


def _copy(source: Path, target: Path) -> None:
    import shutil

    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copyfile(source, target)


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The python of a fresh environment that holds the wheel; its dependencies come from ours."""
    home = tmp_path_factory.mktemp("fresh")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    python = home / "bin" / "python"
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps",
         "--no-index", str(wheel)],
        check=True,
    )  # fmt: skip
    here = [path for path in sys.path if "site-packages" in path]
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    libraries = subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=True)
    # A .pth with the folders alone: site does not follow our own .pth files, so the checkout stays out.
    (Path(libraries.stdout.strip()) / "dependencies.pth").write_text("\n".join(here) + "\n")
    return python


def _run(python: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    clean = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    return subprocess.run(
        [str(python), *arguments], cwd=cwd, env=clean, capture_output=True, text=True, timeout=120
    )


def test_the_wheel_carries_resources_and_nothing_else_of_the_checkout(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert tops == {"studio", next(t for t in tops if t.endswith(".dist-info"))}
    for wanted in ("sample/digits.studio", "sample/mobilenet_digits.safetensors", "opsupport/ort_nnapi.json"):
        assert f"studio/resources/{wanted}" in names
    assert not [name for name in names if "__pycache__" in name or name.endswith(".partial")]


def test_it_runs_from_the_wheel_and_not_from_the_checkout(installed: Path, tmp_path: Path) -> None:
    done = _run(installed, "-c", "import studio; print(studio.__file__)", cwd=tmp_path)
    assert Path(done.stdout.strip()).is_relative_to(installed.parents[1])


def test_the_command_starts_and_finds_its_resources(installed: Path, tmp_path: Path) -> None:
    command = installed.parent / "deployment-studio"
    assert command.is_file()
    version = subprocess.run([str(command), "--version"], capture_output=True, text=True, cwd=tmp_path)
    assert version.stdout.startswith("deployment-studio ")
    code = "from studio.paths import resources; print(resources())"
    found = Path(_run(installed, "-c", code, cwd=tmp_path).stdout.strip())
    assert found.is_relative_to(installed.parents[1]) and (found / "sample" / "digits.studio").is_file()


def test_inspect_and_support_work_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    import onnx
    from onnx import TensorProto, helper

    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node("Relu", ["x"], ["y"])], "one",
        [value("x", TensorProto.FLOAT, [1, 4])], [value("y", TensorProto.FLOAT, [1, 4])],
    )  # fmt: skip
    model = tmp_path / "one.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)]), model)
    done = _run(installed, "-m", "studio", "inspect", str(model), "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["operators"] == {"Relu": 1}
    done = _run(
        installed, "-m", "studio", "support", str(model), "--target", "ort/nnapi", "--json", cwd=tmp_path
    )
    assert json.loads(done.stdout)["targets"]["ort/nnapi"]["counts"]["runs"] == 1
