"""What a file was lowered for, as its bytes say it: the first target to look at it on."""

from __future__ import annotations

from pathlib import Path

import pytest

from studio.project.create import source_format_of
from studio.support.lowered_file import lowered_targets

onnx = pytest.importorskip("onnx")


def model(path: Path, *nodes: object) -> Path:
    made = onnx.helper.make_graph(
        list(nodes), "g",
        [onnx.helper.make_tensor_value_info("x", 1, [1, 8])],
        [onnx.helper.make_tensor_value_info("y", 1, [1, 8])],
    )  # fmt: skip
    path.write_bytes(onnx.helper.make_model(made).SerializeToString())
    return path


def compiled(source: str) -> object:
    return onnx.helper.make_node("EPContext", ["x"], ["y"], domain="com.microsoft", source=source)


def test_ep_context_names_the_provider(tmp_path: Path) -> None:
    path = model(tmp_path / "net.onnx", compiled("QNN"))
    assert source_format_of(path) == "onnx"
    assert lowered_targets(path, "onnx") == ("ort/qnn",)


def test_code_for_what_is_no_target_here_and_plain_files_name_none(tmp_path: Path) -> None:
    assert lowered_targets(model(tmp_path / "a.onnx", compiled("OpenVINO")), "onnx") == ()
    plain = model(tmp_path / "EPContext.onnx", onnx.helper.make_node("Relu", ["x"], ["y"], name="EPContext"))
    assert lowered_targets(plain, "onnx") == ()
    (tmp_path / "empty.tflite").write_bytes(b"")
    assert lowered_targets(tmp_path / "empty.tflite", "tflite") == ()
