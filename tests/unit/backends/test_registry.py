"""Every tool chain answers; an absent one says how to get it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from studio.backends.registry import BACKENDS, FORMATS, backend_for_format, open_backend, probe_all
from studio.backends.vendor_tools import VENDOR_TOOLS, probe_vendor_tools
from studio.errors import InputError, UnsupportedError
from studio.paths import config_dir
from studio.targets import TARGETS


def test_every_backend_probes_without_its_heavy_import() -> None:
    heavy = {"torch", "executorch", "litert_torch"}
    before = heavy & set(sys.modules)
    found = {availability.backend_id: availability for availability in probe_all()}
    assert set(BACKENDS) <= set(found)
    assert heavy & set(sys.modules) == before
    for availability in found.values():
        assert availability.is_available or (availability.reason and availability.fix)
        assert availability.targets and set(availability.targets) <= set(TARGETS)


def test_every_format_of_the_targets_that_run_here_has_a_backend() -> None:
    for format_ in FORMATS:
        assert backend_for_format(format_).backend_id in BACKENDS
    with pytest.raises(UnsupportedError, match=r"runs a \.om file"):
        backend_for_format("om")


def test_an_unknown_backend_is_named() -> None:
    with pytest.raises(InputError, match="no tool chain “x”"):
        open_backend("x")


def test_vendor_tools_are_found_in_path_variable_and_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def executable(folder: Path, name: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)

    executable(tmp_path / "path", "ncc-tflite")
    executable(tmp_path / "qairt" / "bin" / "x86_64-linux-clang", "qairt-converter")
    executable(tmp_path / "ms" / "tools" / "converter" / "converter", "converter_lite")
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setenv("QAIRT_SDK_ROOT", str(tmp_path / "qairt"))
    (config_dir() / "preferences.json").write_text(json.dumps({"tool_folders": [str(tmp_path / "ms")]}))
    found = {tool.backend_id: tool for tool in probe_vendor_tools()}
    assert [name for name, tool in found.items() if tool.is_available] == [
        "qairt",
        "neuropilot",
        "mindspore-lite",
    ]
    assert found["omg"].fix.startswith("Download")


def test_vendor_tools_serve_known_targets() -> None:
    for tool in VENDOR_TOOLS:
        assert set(tool.targets) <= set(TARGETS)


@pytest.mark.parametrize(
    ("backend", "target"),
    [("ort", "ort/nnapi"), ("litert", "litert/gpu"), ("pytorch-mobile", "pytorch-mobile/nnapi")],
)
def test_a_target_that_is_not_here_is_refused_and_not_replaced(
    tmp_path: Path, backend: str, target: str
) -> None:
    with pytest.raises(UnsupportedError, match=target):
        open_backend(backend).load(tmp_path / "any", target=target, threads=1)
