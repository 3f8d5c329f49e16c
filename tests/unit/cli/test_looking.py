"""inspect, support, render, devices, doctor: looking without changing anything."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from studio.cli.main import main
from studio.report.overlays import OF_A_TARGET, OVERLAYS
from tests.unit.cli.tiny_models import conv_net, strange


def answer(capfd: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> Any:
    assert main([*arguments, "--json"]) == code
    return json.loads(capfd.readouterr().out)


def test_inspect_says_what_the_file_holds(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = conv_net(tmp_path / "net.onnx")
    found = answer(capfd, "inspect", str(path))
    assert found["format"] == "onnx"
    assert found["opsets"] in ({"": 18}, {"ai.onnx": 18})
    assert found["inputs"] == [{"name": "image", "dtype": "float32", "shape": [1, 3, 16, 16]}]
    assert found["parameters"] == 8 * 3 * 9 + 4 * 8 * 9
    assert found["macs"] >= 16 * 16 * (8 * 3 * 9 + 4 * 8 * 9)
    assert found["operators"]["Conv"] == 2
    assert main(["inspect", str(path)]) == 0
    assert "Conv ×2" in capfd.readouterr().out


def test_the_table_of_nodes_is_csv(tmp_path: Path) -> None:
    import csv

    path, out = conv_net(tmp_path / "net.onnx"), tmp_path / "nodes.csv"
    assert main(["inspect", str(path), "--csv", str(out)]) == 0
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert [row["name"] for row in rows] == ["conv1", "relu", "conv2", "pool", "flat"]
    assert rows[0]["macs"] == str(16 * 16 * 8 * 3 * 9)
    assert (rows[4]["output_shape"], rows[4]["output_dtype"]) == ("[1,4]", "float32")


def test_open_dims_are_shown_and_can_be_given(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = conv_net(tmp_path / "net.onnx", batch="N")
    assert answer(capfd, "inspect", str(path))["symbolic_dims"] == ["N"]
    assert answer(capfd, "inspect", str(path), "--dim", "N=3")["inputs"][0]["shape"] == [3, 3, 16, 16]
    assert main(["inspect", str(path)]) == 0
    assert "--dim N=1" in capfd.readouterr().out


def test_support_keeps_its_contract(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = conv_net(tmp_path / "net.onnx")
    found = answer(capfd, "support", str(path), "--target", "ort/nnapi", "--target", "litert/gpu")
    assert list(found["targets"]) == ["ort/nnapi", "litert/gpu"]
    for target in found["targets"].values():
        assert set(target) >= {"counts", "partitions", "macs_share", "verdicts"}
        assert set(target["counts"]) == {"runs", "conditional", "falls_back", "fails", "unknown"}
        assert sum(target["counts"].values()) == len(target["verdicts"]) == 5
        for verdict in target["verdicts"]:
            assert verdict["reason"] and verdict["source"]
            assert set(verdict) >= {"node", "op", "verdict", "reason", "source", "fixes"}


def test_an_unknown_operator_is_unknown_and_no_error(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = strange(tmp_path / "strange.onnx")
    assert answer(capfd, "inspect", str(path))["operators"]["acme.Swirl"] == 1
    found = answer(capfd, "support", str(path), "--target", "all")
    for target_id, target in found["targets"].items():
        odd = next(v for v in target["verdicts"] if v["node"] == "odd")
        assert odd["verdict"] in ("unknown", "fails", "falls_back"), target_id
        assert odd["verdict"] != "runs"


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_render_draws_without_a_display(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], suffix: str
) -> None:
    path = conv_net(tmp_path / "net.onnx")
    out = tmp_path / f"picture.{suffix}"
    found = answer(capfd, "render", str(path), "--out", str(out), "--target", "ort/nnapi")
    assert (found["nodes"], found["target"]) == (5, "ort/nnapi")
    start = {"svg": b"<svg", "png": b"\x89PNG"}[suffix]
    assert out.read_bytes().startswith(start)


def test_render_writes_a_pdf_whose_table_leads_to_its_objects(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "graph.pdf"
    found = answer(capfd, "render", str(conv_net(tmp_path / "net.onnx")), "--out", str(out))
    data = out.read_bytes()
    assert data.startswith(b"%PDF-1.4")
    start = int(data.rsplit(b"startxref\n", 1)[1].split()[0])
    assert data[start:].startswith(b"xref")
    places = [int(line.split()[0]) for line in data[start:].split(b"\n")[3:8]]
    assert all(data[place:].startswith(f"{n} 0 obj".encode()) for n, place in enumerate(places, 1))
    assert f"/MediaBox [ 0 0 {found['width']} {found['height']} ]".encode() in data


def test_render_by_cost_and_by_depth(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = conv_net(tmp_path / "net.onnx")
    out = tmp_path / "macs.svg"
    found = answer(capfd, "render", str(path), "--out", str(out), "--overlay", "macs", "--depth", "0")
    assert (found["overlay"], found["boxes"]) == ("macs", 5 + 2)  # its input and output have boxes too
    assert "MACs" in out.read_text()
    both = ("--overlay", "macs", "--target", "ort/cpu")
    assert "either" in answer(capfd, "render", str(path), "--out", str(out), *both, code=2)["error"]["hint"]


@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
@pytest.mark.parametrize("overlay", OVERLAYS)
def test_render_draws_every_overlay(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], overlay: str, suffix: str
) -> None:
    path, out = conv_net(tmp_path / "net.onnx"), tmp_path / f"picture.{suffix}"
    of_target = ("--target", "ort/nnapi") if overlay in OF_A_TARGET else ()
    options = ("--overlay", overlay, "--theme", "dark", *of_target)
    found = answer(capfd, "render", str(path), "--out", str(out), *options)
    assert found["overlay"] == overlay
    assert out.read_bytes().startswith({"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF"}[suffix])


def test_an_overlay_of_a_target_asks_for_one(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = conv_net(tmp_path / "net.onnx")
    found = answer(
        capfd, "render", str(path), "--out", str(tmp_path / "p.svg"), "--overlay", "partitions", code=2
    )
    assert "--target" in found["error"]["hint"]


def test_doctor_names_versions_and_what_to_do(capfd: pytest.CaptureFixture[str]) -> None:
    found = answer(capfd, "doctor")
    parts = {p["id"]: p for p in found["tool_chains"]}
    assert parts["ort"]["is_available"] and parts["ort"]["version"]
    for part in parts.values():
        assert part["version"] if part["is_available"] else part["reason"] and part["fix"]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("empty.onnx", b"", "empty"),
        ("text.onnx", b"hello, this is no model at all\n" * 9, "onnx"),
        ("half.onnx", None, ""),
        ("folder.onnx", "folder", "folder"),
    ],
)
def test_files_that_are_no_models(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], name: str, content: bytes | str | None, words: str
) -> None:
    path = tmp_path / name
    if content == "folder":
        path.mkdir()
    elif content is None:
        whole = conv_net(tmp_path / "whole.onnx").read_bytes()
        path.write_bytes(whole[: len(whole) // 2])
    else:
        assert isinstance(content, bytes)
        path.write_bytes(content)
    for command in (("inspect",), ("support",), ("bench",)):
        error = answer(capfd, *command, str(path), code=2)["error"]
        assert str(path) in error["message"] and words in error["message"].lower()
        assert error["hint"]


def test_missing_and_escaping_external_data(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    import onnx

    inner = tmp_path / "inner"
    inner.mkdir()
    model = onnx.load(conv_net(tmp_path / "net.onnx"))
    onnx.save(model, inner / "net.onnx", save_as_external_data=True, location="net.data", size_threshold=0)
    assert answer(capfd, "inspect", str(inner / "net.onnx"))["parameters"]
    (inner / "net.data").rename(tmp_path / "net.data")
    assert "net.data" in answer(capfd, "inspect", str(inner / "net.onnx"), code=2)["error"]["message"]
    (inner / "net.data").symlink_to(tmp_path / "net.data")
    assert "net.data" in answer(capfd, "inspect", str(inner / "net.onnx"), code=2)["error"]["message"]
