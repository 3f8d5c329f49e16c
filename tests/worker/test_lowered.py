"""Verdicts of a program that ExecuTorch itself lowered: what is in its delegate runs on one backend."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from studio.cli.main import main
from tests.worker.test_fuzz_readers import pte_file


def test_support_of_a_lowered_program_counts_its_delegate_once(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    pte_file(tmp_path / "net.pte")  # one delegate with a linear, one kernel for cumsum
    capfd.readouterr()
    targets = [word for t in ("xnnpack", "vulkan", "portable") for word in ("--target", f"executorch/{t}")]
    assert main(["support", str(tmp_path / "net.pte"), *targets, "--json"]) == 0
    answer = json.loads(capfd.readouterr().out)
    on, off, kernels = (answer["targets"][f"executorch/{t}"] for t in ("xnnpack", "vulkan", "portable"))
    assert {k: n for k, n in on["counts"].items() if n} == {"runs": 1, "falls_back": 1}
    assert on["partitions"] == 1 and on["macs_share"] == 1.0
    assert [p["nodes"] for p in on["partition_list"]] == [["delegate 0"]]
    assert on["partition_list"][0]["macs"] == 2 * 4 * 4
    inside = [v for v in on["verdicts"] if v["op"].startswith("XNN")]
    assert inside and {(v["verdict"], v["source"]) for v in inside} == {
        ("runs", "the file: lowered to XnnpackBackend")
    }
    assert {k: n for k, n in off["counts"].items() if n} == {"falls_back": 2} and off["partitions"] == 0
    assert {k: n for k, n in kernels["counts"].items() if n} == {"runs": 1, "fails": 1}
    shown = [(p["target"], p["op"], len(p["nodes"])) for p in answer["problems"]]
    assert sorted(shown) == [
        ("executorch/portable", "XnnpackBackend", 1),
        ("executorch/vulkan", "XnnpackBackend", 1),
        ("executorch/vulkan", "aten.cumsum.out", 1),
        ("executorch/xnnpack", "aten.cumsum.out", 1),
    ]
