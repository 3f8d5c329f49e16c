"""What a run file's head says of where nodes ran; older files without placement still say it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from studio.devices.stream import (
    End,
    Fault,
    Hello,
    Inference,
    Loaded,
    PlacedNode,
    Placement,
    Summary,
    Warm,
    encode_record,
)
from studio.measure.evidence import Share, evidence_in, evidence_of, same_chip

LOADED = Loaded(t_ns=1, load_ns=2, target_ran="ort/cpu", evidence="said", delegated_nodes=0, total_nodes=3)
RAN = (Warm(t_ns=3, runs=2, latency_ns=5), Inference(i=0, t_ns=4, latency_ns=5))


def hello(target: str = "ort/cpu", **more: Any) -> Hello:
    more.setdefault("artifact_sha256", "ab" * 32)
    more.setdefault("wall_time", "2026-11-30T12:00:00.000+00:00")
    return Hello(runner="r", runtime="ONNX Runtime 1.32.0", target=target, device_id="d", **more)


def written(folder: Path, *records: Any, name: str = "a") -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.jsonl"
    path.write_bytes(b"".join(map(encode_record, records)))
    return path


def loaded(target_ran: str, delegated: int | None = None, total: int | None = None) -> Loaded:
    return Loaded(t_ns=1, load_ns=2, target_ran=target_ran, delegated_nodes=delegated, total_nodes=total)


NODES = Placement(t_ns=2, nodes=(PlacedNode(name="n", op="Conv", is_taken=True, index=0),))


@pytest.mark.parametrize(
    ("start", "records", "share"),
    [
        (hello(), (loaded("ort/cpu"),), Share.ALL),  # written before placements were
        (hello("ort/qnn"), (loaded("ort/cpu"),), Share.NONE),
        (hello("ort/qnn"), (loaded("ort/cpu"), NODES), Share.NONE),
        (hello("ort/qnn"), (loaded("ort/qnn", 2, 3), NODES), Share.NODES),
        (hello("litert/gpu"), (loaded("litert/gpu", 31, 31),), Share.ALL),
        (hello("litert/gpu"), (loaded("litert/gpu", 30, 31),), Share.COUNTS),
        (hello("executorch/xnnpack", artifact_format="pte"), (loaded("executorch/xnnpack"),), Share.FILE),
        (hello("executorch/portable"), (loaded("executorch/portable"), Placement(t_ns=2, is_whole=True)),
         Share.ALL),
    ],
)  # fmt: skip
def test_the_share_that_ran_on_the_target(
    tmp_path: Path, start: Hello, records: tuple[Any, ...], share: Share
) -> None:
    found = evidence_of(written(tmp_path, start, *records, *RAN))
    assert found is not None and found.share is share


def test_a_summary_counts_as_having_run_and_a_load_alone_does_not(tmp_path: Path) -> None:
    summary = Summary(t_ns=3, name="inference", count=5, mean_ns=1.0, min_ns=1.0, max_ns=1.0)
    assert (
        evidence_of(written(tmp_path, hello("litert/gpu"), loaded("litert/gpu", 3, 3), summary)) is not None
    )
    assert evidence_of(written(tmp_path, hello(), LOADED)) is None
    assert evidence_of(written(tmp_path, hello(), LOADED, Warm(t_ns=3, runs=0, latency_ns=0))) is None
    crash = (Fault(t_ns=3, message="killed"), End(t_ns=4, reason="failed", runs=0))
    assert evidence_of(written(tmp_path, hello(), LOADED, *crash)) is None


def test_a_refusal_is_evidence_without_a_run(tmp_path: Path) -> None:
    found = evidence_of(written(tmp_path, hello("executorch/vulkan"), Placement(t_ns=1, refused="no Vulkan")))
    assert found is not None and found.share is Share.REFUSED and found.refused == "no Vulkan"


def test_the_source_names_device_chip_driver_runtime_and_day(tmp_path: Path) -> None:
    device = {"name": "Pixel 8", "soc": "Tensor", "soc_marketing": "Tensor G3", "driver": "vendor build A/1"}
    found = evidence_of(written(tmp_path, hello(device=device), LOADED, *RAN))
    assert found is not None and found.soc == "Tensor"
    assert found.source == (
        "measured on Pixel 8, Tensor G3, vendor build A/1, ONNX Runtime 1.32.0, 2026-11-30"
    )
    played = evidence_of(written(tmp_path, hello(device=device, is_simulated=True), LOADED, *RAN))
    assert played is not None and played.is_of_simulated and "Pixel 8 (simulated)" in played.source


def test_the_newest_run_per_artifact_target_and_chip_is_kept_and_broken_files_are_left_out(
    tmp_path: Path,
) -> None:
    days = [f"2026-11-{day}T00:00:00.000+00:00" for day in (28, 30, 29)]
    for number, day in enumerate(days):
        written(tmp_path / "x.runs", hello(wall_time=day), LOADED, *RAN, name=f"r{number}")
    written(tmp_path / "x.runs", hello(artifact_sha256="cd" * 32), LOADED, *RAN, name="other")
    (tmp_path / "x.runs" / "broken.jsonl").write_bytes(b'{"type":"teleport"}\n')
    found = evidence_in(tmp_path / "x.runs", tmp_path / "absent")
    assert sorted((e.hello.artifact_sha256[:2], e.hello.wall_time[:10]) for e in found) == [
        ("ab", "2026-11-30"), ("cd", "2026-11-30"),
    ]  # fmt: skip


def test_chips_are_the_same_whatever_the_spelling() -> None:
    assert same_chip("SM8650", " sm8650") and not same_chip("SM8650", "SM8550")
