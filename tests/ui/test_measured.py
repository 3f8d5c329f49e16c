"""The overlays of measured time and error: offered, measured for real, listed, and there again later."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from models import save_model
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from studio.devices import DeviceInfo
from studio.devices.device import DeviceKind, DeviceState
from studio.measure.layer_errors import ComparedFile, LayerError, LayerErrors
from studio.measure.node_profile import NodeLatency, NodeProfile, NodeTime, Statistic
from studio.targets import TARGETS
from studio.ui import fact_jobs
from studio.ui.canvas import error_overlay, latency_overlay, value_text
from studio.ui.canvas.overlay import gather_on_items
from studio.ui.views.measured_panel import MeasuredPanel
from studio.ui.views.picture_dialog import PictureDialog
from tests.ui.canvas_graphs import chain, laid_out

Open = Callable[..., Any]


@pytest.fixture
def studio(qtbot: QtBot, open_window: Open, tmp_path: Path) -> Any:
    """The window on the tiny model."""
    made = open_window(save_model(tmp_path / "tiny.onnx", with_foreign_op=False))
    qtbot.waitUntil(lambda: made.session.opened is not None, timeout=30_000)
    return made


def offers(view: Any) -> list[QPushButton]:
    return [
        b for b in view.strip.findChildren(QPushButton) if not b.isHidden() and b is not view.strip._clear
    ]


def test_without_a_profile_the_overlay_offers_one_and_then_shows_it(qtbot: QtBot, studio: Any) -> None:
    session, view = studio.session, studio.window.stage_area.graph_view
    session.set_overlay("latency")
    button = offers(view)[0]  # phones that are plugged in offer themselves too
    assert view.canvas.overlay is None and not view.measured.isVisibleTo(view)
    button.click()
    assert offers(view) == [], "it is under way"
    qtbot.waitUntil(lambda: session.opened.profile is not None, timeout=60_000)
    profile = session.opened.profile
    assert profile.target_ran == "ort/cpu" and profile.sha256 == session.opened.graph.file_sha256
    assert view.canvas.overlay is not None and view.canvas.overlay.unit == "s"
    assert view.measured.isVisibleTo(view) and view.measured.rows >= 2
    node = profile.nodes[0].nodes[0]
    view.measured._go(view.measured._list.topLevelItem(0))
    assert session.selection.node == node
    session.set_overlay("macs")
    assert not view.measured.isVisibleTo(view)


def test_a_profile_is_there_again_when_the_file_is_opened_again(
    qtbot: QtBot, studio: Any, tmp_path: Path
) -> None:
    session = studio.session
    fact_jobs.profile_nodes(session)
    qtbot.waitUntil(lambda: session.opened.profile is not None, timeout=60_000)
    first = session.opened.profile
    session.close_project()
    session.open_path(tmp_path / "tiny.onnx")
    qtbot.waitUntil(lambda: session.opened is not None, timeout=30_000)
    assert session.opened.profile == first


def test_a_profile_of_a_saved_project_is_kept_beside_it(qtbot: QtBot, studio: Any, tmp_path: Path) -> None:
    session = studio.session
    assert session.save(tmp_path / "mine.studio")
    fact_jobs.profile_nodes(session)
    qtbot.waitUntil(lambda: session.opened.profile is not None, timeout=60_000)
    assert len(list((tmp_path / "mine.runs").glob("*.profile.json"))) == 1


def test_the_error_overlay_offers_other_files_and_lists_the_worst_layers(
    qtbot: QtBot, studio: Any, tmp_path: Path
) -> None:
    import onnx
    from onnx import numpy_helper

    session = studio.session
    session.set_overlay("error")
    view = studio.window.stage_area.graph_view
    assert [b.text() for b in offers(view)] == ["Open beside…"]
    model = onnx.load(tmp_path / "tiny.onnx")
    weight = numpy_helper.to_array(model.graph.initializer[0]) * np.float32(1.1)
    model.graph.initializer[0].CopyFrom(numpy_helper.from_array(weight, "w"))
    onnx.save(model, tmp_path / "other.onnx")
    session.open_beside(tmp_path / "other.onnx")
    qtbot.waitUntil(lambda: session.opened is not None, timeout=30_000)
    view = studio.window.stage_area.graph_view
    [button] = offers(view)
    assert "Source" in button.text()
    button.click()
    qtbot.waitUntil(lambda: session.opened.layer_errors is not None, timeout=60_000)
    errors = session.opened.layer_errors
    assert (errors.a.file, errors.b.file) == ("tiny.onnx", "other.onnx")
    assert view.measured.rows == 3 and view.canvas.overlay.largest == pytest.approx(10.0, rel=0.01)
    assert session.stage("source").opened.layer_errors == errors, "the original shows it as well"
    session.set_current_stage("source")
    assert studio.window.stage_area.graph_view.measured.rows == 3


def test_an_ort_file_says_why_its_layers_cannot_be_compared(
    qtbot: QtBot, open_window: Open, tmp_path: Path
) -> None:
    from studio.backends.ort import OrtBackend

    class Quiet:
        def progress(self, *_: object) -> None: ...
        def log(self, text: str) -> None: ...

    made = OrtBackend().convert(save_model(tmp_path / "t.onnx", with_foreign_op=False), {}, tmp_path, Quiet())
    studio = open_window(Path(made.path))
    qtbot.waitUntil(lambda: studio.session.opened is not None, timeout=30_000)
    studio.session.set_overlay("error")
    view = studio.window.stage_area.graph_view
    assert offers(view) == [] and "inner results" in view.strip._words.text()


def test_a_ready_phone_is_offered_beside_this_computer(
    qtbot: QtBot, tmp_path: Path, open_window: Open
) -> None:
    studio = open_window(save_model(tmp_path / "net.onnx", with_foreign_op=False))
    session = studio.session
    qtbot.waitUntil(lambda: session.opened is not None, timeout=30_000)
    session.set_overlay("latency")
    view = studio.window.stage_area.graph_view
    phone = DeviceInfo(
        id="serial", kind=DeviceKind.VIRTUAL_PHONE, name="A phone", state=DeviceState.READY, is_simulated=True
    )
    asleep = msgspec.structs.replace(phone, id="other", state=DeviceState.OFFLINE)
    session.devices = (phone, asleep)
    view.offer_measuring()
    assert [b.text() for b in offers(view)] == ["Profile on This computer", "Profile on A phone"]


def stats(p50: float) -> NodeLatency:
    return NodeLatency(p50=p50, p90=2 * p50, p99=p50, mean=p50, std=0.0, n=30)


def profile_of(graph: Any, times: dict[tuple[int, ...], float], folded: tuple[int, ...] = ()) -> NodeProfile:
    total = sum(times.values())
    return NodeProfile(
        file="f", format="onnx", sha256="s", target="ort/cpu", target_ran="ort/cpu", evidence="",
        device_id="this-computer", device_name="CPU", runtime="r", threads=1, warmup_runs=1, wall_time="",
        inputs="", latency_ms=stats(total), profiled_ms=stats(total), sum_ms=total, folded=folded,
        nodes=tuple(
            NodeTime(
                nodes=nodes, names=tuple(graph.label(n) for n in nodes), op="Conv", kernel="k",
                latency_ms=stats(ms), share=ms / total,
            )
            for nodes, ms in times.items()
        ),
    )  # fmt: skip


def test_a_collapsed_scope_shows_the_sum_of_its_nodes_times() -> None:
    graph = chain(5, scopes=["block"], node_scope=[0, 1, 1, 1, 0])
    layout = laid_out(graph, collapsed=frozenset({1}))
    overlay = latency_overlay(graph, profile_of(graph, {(0,): 1.0, (1, 2): 2.0, (3,): 0.5}))
    gathered = gather_on_items(overlay, layout.node_item, len(layout.item_kind))
    assert gathered.value[layout.node_item[1]] == pytest.approx(2.5e-3)


def test_a_nodes_sentence_says_time_share_and_count_or_why_there_is_none() -> None:
    graph = chain(5)
    overlay = latency_overlay(graph, profile_of(graph, {(1, 2): 0.3, (0,): 0.0}, folded=(3,)))
    said = overlay.sentence(1)
    assert "300 µs" in said and "p90 600 µs" in said and "30 inferences" in said and "100.0 %" in said
    assert "node2" in said and "1 other" in said
    assert "node1" in overlay.sentence(2), "a fused node names the kernel that it runs in"
    assert "once, at load" in overlay.sentence(3)
    assert "Not timed" in overlay.sentence(4)
    assert "< 1 µs" in overlay.sentence(0), "profilers count in microseconds: zero is less than one"


def test_a_mean_is_called_a_mean(qtbot: Any) -> None:
    """A tool that tells means only gets no percentiles: on the node, in the overlay's name, in the list."""
    graph = chain(2)
    latency = NodeLatency(mean=0.3, n=50)
    times = tuple(
        msgspec.structs.replace(time, latency_ms=latency)
        for time in profile_of(graph, {(0,): 0.3, (1,): 0.3}).nodes
    )
    profile = msgspec.structs.replace(
        profile_of(graph, {(0,): 1.0}), nodes=times, statistic=Statistic.MEAN, is_simulated=True,
        latency_ms=NodeLatency(mean=0.7, n=50), profiled_ms=NodeLatency(mean=0.8, n=50),
    )  # fmt: skip
    overlay = latency_overlay(graph, profile)
    assert overlay.name.startswith("Mean latency")
    assert "mean 300 µs over 50" in overlay.sentence(0) and "p50" not in overlay.sentence(0)
    panel = MeasuredPanel()
    qtbot.addWidget(panel)
    panel.show_profile(graph, profile)
    head = panel._list.headerItem()
    assert head is not None
    assert [head.text(k) for k in range(head.columnCount())] == [
        "Node",
        "Operator",
        "Mean",
        "Share",
        "Remark",
    ]
    assert panel._list.topLevelItem(0).text(2) == "300 µs"
    assert "mean 700 µs" in panel._head.text() and "(simulated)" in panel._note.text()


def test_errors_are_relative_to_the_signal_and_a_scope_shows_its_worst() -> None:
    graph = chain(4, scopes=["block"], node_scope=[0, 1, 1, 0])
    graph.file_sha256 = "b" * 64
    sides = [ComparedFile(file=f, format="onnx", sha256=f * 64, target_ran="ort/cpu") for f in "ab"]

    def layer(node: int, sqnr: float | None, nonfinite: int = 0) -> LayerError:
        return LayerError(
            node_a=9, node_b=node, name_a="a", name_b="b", op="Conv", tensor_a="t", tensor_b="u", shape=(1,),
            sqnr_db=sqnr, max_abs=1.0, mean_abs=0.5, cosine=0.9, nonfinite=nonfinite,
        )  # fmt: skip

    errors = LayerErrors(
        a=sides[0], b=sides[1], wall_time="", inputs="", is_real=True, samples=1,
        layers=(layer(0, 40.0), layer(1, 20.0), layer(2, None), layer(3, 60.0, nonfinite=7)),
    )  # fmt: skip
    overlay = error_overlay(graph, errors)
    assert overlay.values is not None and overlay.values.tolist() == pytest.approx([1.0, 10.0, 0.0, 100.0])
    layout = laid_out(graph, collapsed=frozenset({1}))
    gathered = gather_on_items(overlay, layout.node_item, len(layout.item_kind))
    assert gathered.value[layout.node_item[1]] == pytest.approx(10.0)
    assert "40.0 dB" in overlay.sentence(0) and "equal" in overlay.sentence(2)
    assert "7 values are NaN" in overlay.sentence(3)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (4.32e-8, "43.2 ns"),
        (4.32e-5, "43.2 µs"),
        (0.0015, "1.5 ms"),
        (2.5, "2.5 s"),
        (9e-4, "900 µs"),
    ],
)
def test_times_have_the_unit_that_fits(seconds: float, text: str) -> None:
    assert value_text(seconds, "s") == text


def test_the_svg_of_a_profile_says_what_ran_where_and_not_the_chosen_accelerator(
    qtbot: QtBot, studio: Any, tmp_path: Path
) -> None:
    session = studio.session
    fact_jobs.profile_nodes(session)
    qtbot.waitUntil(lambda: session.opened.profile is not None, timeout=60_000)
    dialog = PictureDialog(session, studio.window.stage_area.graph_view.canvas)
    qtbot.addWidget(dialog)
    dialog.save(tmp_path / "times.svg")
    svg = (tmp_path / "times.svg").read_text()
    profile = session.opened.profile
    assert "Latency · ONNX Runtime · CPU" in svg and profile.runtime in svg and profile.device_name in svg
    session.set_overlay("macs")
    dialog.save(tmp_path / "macs.svg")
    svg = (tmp_path / "macs.svg").read_text()
    assert session.target_id and TARGETS[session.target_id].title not in svg, "costs are of no target"
