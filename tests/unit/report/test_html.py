"""The page: whole, safe against names from strangers, honest about what is missing."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from msgspec.structs import replace

from studio.artifact import hash_file
from studio.devices.stream import End, Hello, Inference, Loaded, Placement, Sample, encode_record
from studio.jobs.write_report import WriteReport, run
from studio.project import Project, SourceModel
from studio.project.create import new_project
from studio.project.store import save_project
from studio.recipes.recipe import ConvertStep, Recipe, VerifyStep
from tests.unit.cli.tiny_models import conv_net

EVIL = "<img src=x onerror=alert(1)>\"'&</title><script>alert(2)</script>"


class Quiet:
    def progress(self, stage: str, done: int, total: int | None = None, unit: str = "") -> None: ...
    def log(self, text: str) -> None: ...
    def emit(self, event: object) -> None: ...
    def should_stop(self) -> bool:
        return False


class Balance(HTMLParser):
    """Fails on a tag that is not closed, and collects tags, attributes and text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.links: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.links += [v or "" for n, v in attrs if n in ("src", "href", "srcset", "action", "data")]
        assert not [n for n, _ in attrs if n.startswith("on")], attrs
        if tag not in (
            "meta",
            "br",
            "img",
            "source",
            "path",
            "rect",
            "circle",
            "line",
            "polyline",
            "polygon",
        ):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def page_of(project_path: Path) -> tuple[str, Balance]:
    out = project_path.with_suffix(".html")
    run(WriteReport(project_path=str(project_path), out=str(out)), Quiet())
    page = out.read_text(encoding="utf-8")
    parsed = Balance()
    parsed.feed(page)
    assert parsed.open == []
    return page, parsed


def write_run(
    folder: Path, *, device: str = "this-computer", simulated: bool = False, cut: bool = False
) -> None:
    folder.mkdir(exist_ok=True)
    records = [
        Hello(
            runner="r", runtime="ONNX Runtime 1", target="ort/cpu", device_id=device, is_simulated=simulated,
            wall_time="2026-11-30T10:00:00+00:00", artifact_path=EVIL, artifact_sha256="0" * 64,
            device={"name": EVIL},
        ),
        Loaded(t_ns=0, load_ns=10**7, target_ran="ort/cpu", evidence=EVIL),
        *(Inference(i=i, t_ns=10**6 * i, latency_ns=10**6 + i) for i in range(50)),
        Sample(t_ns=10**6, temperature_celsius={EVIL: 30.0, "cpu": 31.0}, unavailable={"power": EVIL}),
        Sample(t_ns=4 * 10**7, temperature_celsius={EVIL: 33.0, "cpu": 39.0}),
    ]  # fmt: skip
    if not cut:
        records.append(End(t_ns=10**8, reason="done", runs=50, peak_rss_bytes=10**7))
    (folder / f"20261130T100000Z-{device}-abc123.jsonl").write_bytes(b"".join(map(encode_record, records)))


def test_a_report_needs_no_network_and_no_script(tmp_path: Path) -> None:
    project = new_project(conv_net(tmp_path / "net.onnx"), ("ort/cpu", "ort/nnapi"))
    save_project(project, tmp_path / "net.studio")
    write_run(tmp_path / "net.runs")
    page, parsed = page_of(tmp_path / "net.studio")
    assert "script" not in parsed.tags and "link" not in parsed.tags
    assert all(link.startswith("data:image/svg+xml;base64,") for link in parsed.links)
    assert not re.findall(r"url\(\s*['\"]?https?:", page)
    assert "default-src 'none'" in page


def test_operators_stand_against_targets(tmp_path: Path) -> None:
    project = new_project(conv_net(tmp_path / "net.onnx"), ("ort/cpu", "ort/nnapi"))
    save_project(project, tmp_path / "net.studio")
    page, _ = page_of(tmp_path / "net.studio")
    matrix = page[page.index("<h3>Operators</h3>") :]
    matrix = matrix[: matrix.index("</table>")]
    rows = [re.sub(r"<[^>]+>", " ", row).split() for row in matrix.split("<tr>")[1:]]
    assert rows[0][:2] == ["operator", "nodes"] and len(rows[0]) > 2
    conv = next(row for row in rows if row[0] == "Conv")
    assert conv[1] == "2" and set(conv[2:]) == {"2"}, "both have the same verdict on each target"


def test_what_devices_measured_is_marked_and_weighed(tmp_path: Path) -> None:
    project = new_project(conv_net(tmp_path / "net.onnx"), ("ort/cpu", "executorch/vulkan"))
    save_project(project, tmp_path / "net.studio")
    sha256 = hash_file(tmp_path / "net.onnx")
    hello = Hello(
        runner="r", runtime="ONNX Runtime 1.32.0", target="ort/cpu", device_id="d", artifact_sha256=sha256,
        wall_time="2026-11-30T10:00:00+00:00", device={"name": "Pixel 8", "soc_marketing": "Tensor G3"},
    )  # fmt: skip
    ran = [
        hello,
        Loaded(t_ns=0, load_ns=1, target_ran="ort/cpu"),
        Inference(i=0, t_ns=1, latency_ns=1),
        End(t_ns=2, reason="done", runs=1),
    ]
    asked = replace(hello, target="executorch/vulkan", runtime="ExecuTorch 1.5.1")
    refused = [
        asked, Placement(t_ns=0, refused="No VulkanBackend here."), End(t_ns=1, reason="failed", runs=0)
    ]  # fmt: skip
    (tmp_path / "net.runs").mkdir()
    for name, records in (("a", ran), ("b", refused)):
        (tmp_path / "net.runs" / f"{name}.jsonl").write_bytes(b"".join(map(encode_record, records)))
    page, _ = page_of(tmp_path / "net.studio")
    assert '<b>ort/cpu</b> <span class="tag">measured</span>' in page
    assert "measured on Pixel 8, Tensor G3, ONNX Runtime 1.32.0, 2026-11-30" in page
    assert "Stands over rules and tools." in page
    assert "refused on Pixel 8, Tensor G3, ExecuTorch 1.5.1" in page
    assert "Did not run: No VulkanBackend here." in page
    assert page.count("<h3>source on ") == 1  # a refusal is no run with figures


def test_names_from_strangers_are_only_text(tmp_path: Path) -> None:
    model = conv_net(tmp_path / "net.onnx")
    project = Project(
        name=EVIL,
        source=SourceModel(path=model.name),
        targets=("ort/nnapi",),
        recipe=Recipe(
            steps=(ConvertStep(id=EVIL, after="source", format="ort"), VerifyStep(id="v", after=EVIL))
        ),
        notes=EVIL,
    )
    path = tmp_path / "evil.studio"
    save_project(project, path)
    write_run(tmp_path / "evil.runs")
    page, parsed = page_of(path)
    assert "script" not in parsed.tags
    assert "<script>" not in page
    assert any("alert(2)" in text for text in parsed.text)


def test_what_was_not_made_is_said_and_nothing_is_run(tmp_path: Path, own_home: Path) -> None:
    project = new_project(conv_net(tmp_path / "net.onnx"), ("ort/cpu",))
    save_project(project, tmp_path / "net.studio")
    page, _ = page_of(tmp_path / "net.studio")
    assert "Not made yet: ort, verify-ort." in page
    assert not list((own_home / "studio-cache").rglob("*.ort"))


def test_simulated_and_cut_runs_are_marked(tmp_path: Path) -> None:
    project = new_project(conv_net(tmp_path / "net.onnx"), ("ort/cpu",))
    save_project(project, tmp_path / "net.studio")
    write_run(tmp_path / "net.runs", device="virtual", simulated=True, cut=True)
    page, parsed = page_of(tmp_path / "net.studio")
    assert "simulated" in page and "they say nothing about a real one" in " ".join(parsed.text)
    assert "cut before its end" in page


def test_a_damaged_run_is_left_out_and_named(tmp_path: Path) -> None:
    project = new_project(conv_net(tmp_path / "net.onnx"), ("ort/cpu",))
    save_project(project, tmp_path / "net.studio")
    (tmp_path / "net.runs").mkdir()
    (tmp_path / "net.runs" / "broken.jsonl").write_text('{"type": "nonsense"}\n')
    page, _ = page_of(tmp_path / "net.studio")
    assert "A run was left out" in page


def test_no_path_of_this_machine_is_in_the_page(tmp_path: Path) -> None:
    project = new_project(conv_net(tmp_path / "net.onnx"), ("ort/cpu",))
    save_project(project, tmp_path / "net.studio")
    page, _ = page_of(tmp_path / "net.studio")
    assert str(tmp_path) not in page


@pytest.mark.parametrize("missing", ["net.onnx"])
def test_a_missing_model_still_gives_a_page(tmp_path: Path, missing: str) -> None:
    project = new_project(conv_net(tmp_path / "net.onnx"), ("ort/cpu",))
    save_project(project, tmp_path / "net.studio")
    (tmp_path / missing).unlink()
    page, _ = page_of(tmp_path / "net.studio")
    assert "could not be read" in page
    assert json.dumps(missing).strip('"') in page
