"""inspect, support, render, devices, doctor: looking without changing anything."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from studio import paths
from studio.artifact import hash_file
from studio.cli.main import main
from studio.measure.fact_file import save_fact
from studio.measure.layer_errors import LAYERS, ComparedFile, LayerError, LayerErrors
from studio.measure.node_profile import PROFILE, NodeLatency, NodeProfile, NodeTime
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


def test_a_file_of_weights_is_a_list_of_tensors(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    import csv

    import numpy as np
    from safetensors.numpy import save_file

    path, out = tmp_path / "w.safetensors", tmp_path / "tensors.csv"
    save_file({"=a": np.ones((2, 3), np.float32), "b": np.ones(4, np.float16)}, str(path))
    found = answer(capfd, "inspect", str(path), "--csv", str(out))
    assert sorted((t["name"], t["dtype"], t["shape"]) for t in found["tensors"]) == [
        ("=a", "float32", [2, 3]),
        ("b", "float16", [4]),
    ]
    rows = {row["name"]: row for row in csv.DictReader(out.read_text().splitlines())}
    assert rows["'=a"] == {
        "name": "'=a", "dtype": "float32", "shape": "[2,3]", "elements": "6", "bytes": "24",
    }  # fmt: skip
    assert main(["inspect", str(path)]) == 0
    assert re.search(r"^b +float16 +\[4\]$", capfd.readouterr().out, re.MULTILINE)
    assert main(["render", str(path), "--out", str(tmp_path / "w.svg")]) == 2
    assert "weights only" in capfd.readouterr().err


def test_open_dims_are_shown_and_can_be_given(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = conv_net(tmp_path / "net.onnx", batch="N")
    assert answer(capfd, "inspect", str(path))["symbolic_dims"] == ["N"]
    assert answer(capfd, "inspect", str(path), "--dim", "N=3")["inputs"][0]["shape"] == [3, 3, 16, 16]
    assert main(["inspect", str(path)]) == 0
    assert "--dim N=1\n" in capfd.readouterr().out


def test_only_the_batch_has_a_number_in_the_hint(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """An image of 1 × 1 pixels would cost nothing: how large it is, the person knows."""
    path = conv_net(tmp_path / "net.onnx", batch="N", side="side")
    assert answer(capfd, "inspect", str(path))["macs"] is None
    assert main(["inspect", str(path)]) == 0
    assert capfd.readouterr().out.endswith(" --dim N=1 --dim side=SIZE\n")
    assert main(["inspect", str(path), "--dim", "side=SIZE"]) == 2
    assert "--dim side=SIZE has no size" in capfd.readouterr().err
    sized = answer(capfd, "inspect", str(path), "--dim", "side=16")
    assert sized["macs"] == answer(capfd, "inspect", str(conv_net(tmp_path / "fixed.onnx")))["macs"]


@pytest.mark.parametrize(
    ("command", "otherwise"),
    [("inspect", "a batch is counted as 1"), ("support", "a batch is counted as 1"),
     ("profile", "every open dim of a made-up input is 1"), ("diff", "the dim stays open")],
)  # fmt: skip
def test_the_help_says_what_happens_to_open_dims(
    command: str, otherwise: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main([command, "--help"]) == 0
    assert f"without it {otherwise}" in re.sub(r"\s+", " ", capfd.readouterr().out)


def test_support_has_the_matrix_of_operators_and_targets(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = conv_net(tmp_path / "net.onnx")
    found = answer(capfd, "support", str(path), "--target", "ort/nnapi", "--target", "litert/gpu")
    counted: dict[str, dict[str, dict[str, int]]] = {}
    for target, support in found["targets"].items():
        for verdict in support["verdicts"]:
            cell = counted.setdefault(verdict["op"], {}).setdefault(target, {})
            cell[verdict["verdict"]] = cell.get(verdict["verdict"], 0) + 1
    assert {row["op"]: row["targets"] for row in found["operators"]} == counted
    assert {row["op"]: row["nodes"] for row in found["operators"]}["Conv"] == 2


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


def test_render_tells_of_letters_that_no_font_has_and_what_to_do(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "net\U00012000.onnx"
    conv_net(path)
    assert main(["render", str(path), "--out", str(tmp_path / "graph.png")]) == 0
    told = capfd.readouterr().err
    assert "\U00012000" in told and "Install a font" in told and ".svg" in told
    assert main(["render", str(path), "--out", str(tmp_path / "graph.svg")]) == 0
    assert "Install a font" not in capfd.readouterr().err


def test_render_says_that_it_draws_where_that_takes_long(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = conv_net(tmp_path / "net.onnx")
    assert main(["render", str(path), "--out", str(tmp_path / "graph.png")]) == 0
    assert "drawing" not in capfd.readouterr().err
    monkeypatch.setattr("studio.cli.render._MANY", 0)
    assert main(["render", str(path), "--out", str(tmp_path / "graph.png")]) == 0
    assert "drawing graph.png" in capfd.readouterr().err


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


def measured(path: Path) -> tuple[NodeProfile, LayerErrors]:
    """A profile (relu runs in conv1's kernel, flat is not timed) and a comparison of conv_net."""
    sha256 = hash_file(path)

    def stats(ms: float) -> NodeLatency:
        return NodeLatency(n=30, mean=ms, std=0.0, p50=ms, p90=ms, p99=ms)

    profile = NodeProfile(
        file=path.name, format="onnx", sha256=sha256, target="ort/cpu", target_ran="ort/cpu", evidence="",
        device_id="this-computer", device_name="Test CPU", runtime="ONNX Runtime 9", threads=2,
        warmup_runs=1, wall_time="2026-11-30T10:00:00.000+00:00", inputs="real", latency_ms=stats(5.0),
        profiled_ms=stats(6.0), sum_ms=4.5,
        nodes=tuple(
            NodeTime(
                nodes=nodes, names=("n",) * len(nodes), op="Conv", kernel="k", latency_ms=stats(ms), share=0.3
            )
            for nodes, ms in (((0, 1), 0.25), ((2,), 4.0), ((3,), 0.25))
        ),
    )  # fmt: skip
    sides = [
        ComparedFile(file=f, format="onnx", sha256=h, target_ran="ort/cpu")
        for f, h in (("float.onnx", "0" * 64), (path.name, sha256))
    ]
    errors = LayerErrors(
        a=sides[0], b=sides[1], wall_time="2026-11-30T10:00:00.000+00:00", inputs="real", is_real=True,
        samples=8,
        layers=tuple(
            LayerError(
                node_a=node, node_b=node, name_a="a", name_b="b", op="Conv", tensor_a="t", tensor_b="u",
                shape=(1,), sqnr_db=sqnr, max_abs=0.0, mean_abs=0.0, cosine=1.0,
            )
            for node, sqnr in ((0, 40.0), (2, 20.0), (3, None))
        ),
    )  # fmt: skip
    return profile, errors


def keep_measured(path: Path, folder: Path) -> tuple[Path, Path]:
    """Both facts of that file, kept in a folder."""
    profile, errors = measured(path)
    wall, digest = profile.wall_time, profile.sha256
    return (
        save_fact(folder, PROFILE, profile, wall_time=wall, hashes=(digest,)),
        save_fact(folder, LAYERS, errors, wall_time=wall, hashes=("0" * 64, digest)),
    )


def words_of(svg: str) -> list[str]:
    return re.findall(r">([^<>]+)</t", svg)


def test_render_draws_the_kept_profile_with_its_unit_and_how_it_was_measured(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path, out = conv_net(tmp_path / "net.onnx"), tmp_path / "times.svg"
    kept, _ = keep_measured(path, paths.data_dir() / "runs")
    found = answer(capfd, "render", str(path), "--out", str(out), "--overlay", "latency")
    assert (found["overlay"], found["fact"]) == ("latency", str(kept))
    words = words_of(out.read_text())
    assert "Latency · ort/cpu" in words and words.count("250 µs") == 2 and words.count("4 ms") == 2
    assert "unknown: 1 node" in words, "flat was not timed"
    head = " ".join(words[:6])
    assert "2 threads" in head and "Test CPU" in head and "p50 of 30 inferences" in head


def test_render_draws_the_kept_comparison_of_either_file(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path, out = conv_net(tmp_path / "net.onnx"), tmp_path / "errors.svg"
    _, kept = keep_measured(path, tmp_path / "project.runs")
    found = answer(capfd, "render", str(path), "--out", str(out), "--overlay", "error")
    assert found["fact"] == str(kept), "a project's runs folder beside the file is looked into"
    words = words_of(out.read_text())
    assert {"Error, relative to the signal", "1 %", "10 %"} <= set(words)
    assert "net.onnx against float.onnx" in " ".join(words[:6])


def test_a_named_fact_chooses_its_overlay_and_must_be_of_the_file(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path, out = conv_net(tmp_path / "net.onnx"), tmp_path / "p.svg"
    profile, layers = keep_measured(path, tmp_path / "elsewhere")
    assert (
        answer(capfd, "render", str(path), "--out", str(out), "--profile", str(profile))["overlay"]
        == "latency"
    )
    assert (
        answer(capfd, "render", str(path), "--out", str(out), "--layers", str(layers))["overlay"] == "error"
    )
    out.unlink()
    other = conv_net(tmp_path / "other.onnx", batch=2)
    wrong = answer(capfd, "render", str(other), "--out", str(out), "--profile", str(profile), code=2)["error"]
    assert "other.onnx" in wrong["message"] and "net.onnx" in wrong["message"]
    mixed = ("--overlay", "macs", "--layers", str(layers))
    assert (
        "--overlay error"
        in answer(capfd, "render", str(path), "--out", str(out), *mixed, code=2)["error"]["message"]
    )
    both = ("--profile", str(profile), "--layers", str(layers))
    assert answer(capfd, "render", str(path), "--out", str(out), *both, code=2)["error"]["kind"] == "input"
    kinds = ("--profile", str(layers))
    assert answer(capfd, "render", str(path), "--out", str(out), *kinds, code=2)["error"]["kind"] == "input"
    assert not out.exists()


@pytest.mark.parametrize(("overlay", "command"), [("latency", "profile FILE"), ("error", "compare-layers")])
def test_what_was_not_measured_names_the_command_that_measures(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], overlay: str, command: str
) -> None:
    path, out = conv_net(tmp_path / "net.onnx"), tmp_path / "p.svg"
    found = answer(capfd, "render", str(path), "--out", str(out), "--overlay", overlay, code=2)
    assert command in found["error"]["hint"] and not out.exists()


def test_the_ending_of_a_picture_may_be_written_large(tmp_path: Path) -> None:
    out = tmp_path / "PICTURE.PNG"
    assert main(["render", str(conv_net(tmp_path / "net.onnx")), "--out", str(out)]) == 0
    assert out.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
@pytest.mark.parametrize("overlay", OVERLAYS)
def test_render_draws_every_overlay(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], overlay: str, suffix: str
) -> None:
    path, out = conv_net(tmp_path / "net.onnx"), tmp_path / f"picture.{suffix}"
    keep_measured(path, tmp_path / "net.runs")
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
