"""Pictures of graphs: well-formed, complete, coloured with sign and word, and drawable without a display."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from io import BytesIO
from pathlib import Path

import msgspec
import numpy as np
import pytest
from PIL import Image

from studio.errors import InputError
from studio.graph import Graph, Quantization, Subgraph, node_costs
from studio.graph.curves import curves_of, svg_path
from studio.graph.layout import lay_out
from studio.graph.scales import heat_table
from studio.graph.view import GraphView
from studio.measure.layer_errors import ComparedFile, LayerError, LayerErrors
from studio.measure.node_profile import NodeLatency, NodeProfile, NodeTime, Statistic
from studio.report.graph_pdf import svg_to_pdf
from studio.report.graph_png import MAX_SIDE, missing_characters, svg_to_png
from studio.report.graph_svg import Region, graph_svg
from studio.report.measured_paint import error_paint, latency_paint, profile_subtitle
from studio.report.overlays import OF_A_TARGET, OVERLAYS, Facts
from studio.report.paint import value_paint, verdict_paint
from studio.report.palette import DARK, LIGHT, Palette
from studio.report.picture import picture_svg, write_picture
from studio.report.svg_legend import entries
from studio.report.svg_text import cut, text_width
from studio.support.verdict import VERDICTS, Partition, Reason, TargetVerdicts

SVG = "{http://www.w3.org/2000/svg}"


def chain(ops: list[str], names: list[str] | None = None) -> Graph:
    """x → ops → y, with one tensor between neighbours."""
    n = len(ops)
    return Graph(
        format="onnx",
        file_path="/models/net.onnx",
        node_op=ops,
        node_domain=[""] * n,
        node_name=names or [f"n{i}" for i in range(n)],
        node_attributes=[{}] * n,
        node_version=np.zeros(n, np.int32),
        node_scope=np.zeros(n, np.int32),
        node_subgraph=np.zeros(n, np.int32),
        input_offsets=np.arange(n + 1, dtype=np.int32),
        input_tensors=np.arange(n, dtype=np.int32),
        output_offsets=np.arange(n + 1, dtype=np.int32),
        output_tensors=np.arange(1, n + 1, dtype=np.int32),
        tensor_name=[f"t{i}" for i in range(n + 1)],
        tensor_dtype=["float32"] * (n + 1),
        tensor_shape=[(1, "N", i) for i in range(n + 1)],
        tensor_kind=np.array([1] + [0] * n, np.uint8),
        tensor_bytes=np.full(n + 1, -1, np.int64),
        subgraphs=[Subgraph(name="", inputs=(0,), outputs=(n,))],
    )


def judged(count: int) -> TargetVerdicts:
    """One node of each verdict in turn."""
    return TargetVerdicts(
        target_id="ort/nnapi",
        codes=(np.arange(count) % len(VERDICTS)).astype(np.uint8),
        reason_of=np.zeros(count, np.int32),
        reasons=(Reason(text="because", source="test"),),
        partitions=(Partition(nodes=(0,)), Partition(nodes=(1,))),
        macs_share=0.873,
    )


def texts(svg: str) -> list[str]:
    return ["".join(t.itertext()) for t in ElementTree.fromstring(svg).iter(SVG + "text")]


def test_every_node_is_drawn_with_operator_name_and_shape() -> None:
    svg = picture_svg(chain(["Conv", "Relu", "Resize"]))
    words = " ".join(texts(svg))
    for word in ("Conv", "Relu", "Resize", "n0", "n2", "[1,N,3] f32", "net.onnx", "3 nodes", "t0", "t3"):
        assert word in words


def test_each_verdict_has_its_word_count_sign_and_colour() -> None:
    svg = picture_svg(chain(["A", "B", "C", "D", "E", "F"]), judged(6))
    words = texts(svg)
    for word in ("runs 2", "conditional 1", "falls back 1", "fails 1", "unknown 1"):
        assert word in words
    assert any("2 partitions" in w and "87.3 % of MACs" in w and "NNAPI" in w for w in words)
    for colour in (LIGHT.runs, LIGHT.conditional, LIGHT.falls_back, LIGHT.fails, LIGHT.unknown):
        assert colour in svg
    assert svg.count("<pattern") == 7, "four verdicts are hatched on the bar, the loud ones on the box"


def test_themes_differ_and_unknown_ones_are_refused() -> None:
    graph = chain(["A"])
    assert DARK.canvas in picture_svg(graph, theme="dark")
    with pytest.raises(InputError, match="no theme"):
        picture_svg(graph, theme="sepia")


def test_hostile_names_stay_text() -> None:
    names = ['<script>"&', "\x00\x1b\ud800￿", "n" * 1_000_000, "עברית 中文 😀"]
    svg = picture_svg(chain(["A"] * 4, names))
    assert len(svg) < 20_000
    words = " ".join(texts(svg))
    assert '<script>"&' in words and "中文" in words
    assert svg_to_png(svg, scale=1).startswith(b"\x89PNG")


def test_region_draws_only_what_it_holds() -> None:
    graph = chain([f"Op{i}" for i in range(40)])
    layout = lay_out(graph, GraphView(wrap=False))
    svg = graph_svg(graph, layout, region=Region(0, 0, layout.width, 400), header=False)
    words = texts(svg)
    assert "Op1" in " ".join(words) and not any("Op30" in w for w in words)
    assert 'height="400"' in svg


def test_png_has_the_picture_and_its_text() -> None:
    svg = picture_svg(chain(["Conv", "Relu"]), judged(2))
    image = Image.open(BytesIO(svg_to_png(svg, scale=2)))
    match = ElementTree.fromstring(svg)
    assert image.size == (2 * int(match.attrib["width"]), 2 * int(match.attrib["height"]))
    without_text = svg_to_png(svg.replace("<text", "<desc").replace("</text>", "</desc>"), scale=2)
    assert Image.open(BytesIO(without_text)).tobytes() != image.tobytes(), "letters are drawn"


def test_huge_picture_is_scaled_down_not_refused() -> None:
    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="400000" height="300"></svg>'
    assert max(Image.open(BytesIO(svg_to_png(svg))).size) <= MAX_SIDE


def test_file_ending_decides_and_others_are_refused(tmp_path: Path) -> None:
    svg = picture_svg(chain(["A"]))
    write_picture(tmp_path / "a.svg", svg)
    write_picture(tmp_path / "a.PNG", svg)
    assert (tmp_path / "a.svg").read_text(encoding="utf-8") == svg
    assert (tmp_path / "a.PNG").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(InputError, match="jpg"):
        write_picture(tmp_path / "a.jpg", svg)
    assert not (tmp_path / "a.jpg").exists()


def test_heat_map_leaves_unknown_values_uncoloured_and_writes_the_others() -> None:
    paint = value_paint("MACs", np.array([-1.0, 0.0, np.nan, 10.0, 1e6, 1e6]), "")
    assert (
        paint.figures is not None
        and np.isnan(paint.figures.values).tolist() == [True, False, True] + [False] * 3
    )
    graph = chain([f"Op{k}" for k in range(6)])
    svg = graph_svg(graph, lay_out(graph, GraphView()), paint)
    words = texts(svg)
    assert words.count("1 M") == 3, "two boxes and the upper end of the scale"
    assert words.count("10") == 1 and "unknown: 2 nodes" in words
    high = "#{:02x}{:02x}{:02x}".format(*heat_table(False)[255].tolist())
    assert sum(r.get("fill") == high for r in ElementTree.fromstring(svg).iter(SVG + "rect")) >= 2
    empty = graph_svg(graph, lay_out(graph, GraphView()), value_paint("MACs", np.full(6, np.nan), ""))
    assert "No node has a figure above 0." in texts(empty)


def test_scales_stand_beside_their_edges_and_inside_the_picture() -> None:
    graph = chain(["Conv", "Relu"])
    scales = tuple(0.000692 + 1e-6 * k for k in range(720))
    graph.tensor_quantization = {
        1: Quantization(scale=scales, zero_point=(0,) * 720, axis=0),
        2: Quantization(scale=(0.5,), zero_point=(-3,)),
    }
    paint = OVERLAYS["quantization"](Facts(graph, LIGHT))
    root = ElementTree.fromstring(graph_svg(graph, lay_out(graph, GraphView()), paint))
    notes = {
        t.text: float(t.get("x", "")) for t in root.iter(SVG + "text") if (t.text or "").startswith("s ")
    }
    assert set(notes) == {"s 0.000692…0.00141 ×720", "s 0.5 z −3"}
    width = float(root.get("viewBox", "").split()[2])
    assert all(x + text_width(words, 10) <= width for words, x in notes.items() if words)


@pytest.mark.parametrize(
    ("text", "ems"),  # ems in DejaVu Sans, the widest of the fonts that pictures name
    [
        ("s 0.000692…0.00192 ×720", 13.81),
        ("[1,120,4,4] f32", 7.49),
        ("DequantizeLinear", 8.82),
        ("backbone/layers.0/attn/MatMul", 15.54),
    ],
)
def test_texts_are_never_thought_narrower_than_they_are(text: str, ems: float) -> None:
    assert ems <= text_width(text, 1.0) <= 1.08 * ems


def test_partitions_have_a_line_a_title_and_thick_edges_with_their_bytes() -> None:
    graph = chain(["A", "B", "C", "D"])
    graph.tensor_bytes = np.array([4, 1_000, 2_000_000, 16, 4], np.int64)
    verdicts = judged(4)
    verdicts.partitions = (Partition(nodes=(0,)), Partition(nodes=(2, 3)))
    verdicts.partition_of = np.array([0, -1, 1, 1], np.int32)
    paint = OVERLAYS["partitions"](Facts(graph, LIGHT, verdicts))
    assert paint.tensor_bytes == {1: 1_000.0, 2: 2_000_000.0}
    svg = graph_svg(graph, lay_out(graph, GraphView()), paint)
    words = texts(svg)
    for word in ("partition 1 of 2", "partition 2 of 2", "1 kB", "2 MB", "partition 2 of 2 2",
                 "not on the accelerator 1"):  # fmt: skip
        assert word in words
    paths = ElementTree.fromstring(svg).iter(SVG + "path")
    widths = {p.get("stroke-width") for p in paths if p.get("stroke") == LIGHT.boundary}
    assert len(widths) == 2 and all(float(w or 0) > 1.2 for w in widths)


def test_an_overlay_of_a_target_asks_for_one() -> None:
    for name in OF_A_TARGET:
        with pytest.raises(InputError, match="target"):
            OVERLAYS[name](Facts(chain(["A"]), LIGHT))


def profile_of_a() -> NodeProfile:
    """Three kernels: one of two nodes, one that took no time, one of half a millisecond."""

    def stats(ms: float) -> NodeLatency:
        return NodeLatency(n=30, mean=ms, std=0.0, p50=ms, p90=ms, p99=ms)

    return NodeProfile(
        file="a.onnx", format="onnx", sha256="a" * 64, target="ort/cpu", target_ran="ort/cpu", evidence="",
        device_id="this-computer", device_name="CPU", runtime="ONNX Runtime 9", threads=1, warmup_runs=1,
        wall_time="2026-11-30T10:00:00.000+00:00", inputs="", latency_ms=stats(5.0), profiled_ms=stats(6.0),
        sum_ms=2.5,
        nodes=tuple(
            NodeTime(
                nodes=nodes, names=("n",) * len(nodes), op="Conv", kernel="k", latency_ms=stats(ms), share=0.5
            )
            for nodes, ms in (((0, 1), 2.0), ((2,), 0.5))
        ),
    )  # fmt: skip


def comparison_of_a() -> LayerErrors:
    """Node 0 is 40 dB away, node 1 gives NaN, node 2 is equal."""
    sides = [ComparedFile(file=f"{f}.onnx", format="onnx", sha256=f * 64, target_ran="ort/cpu") for f in "ab"]
    return LayerErrors(
        a=sides[0], b=sides[1], wall_time="2026-11-30T10:00:00.000+00:00", inputs="", is_real=False,
        samples=1,
        layers=tuple(
            LayerError(
                node_a=node, node_b=9, name_a="a", name_b="b", op="Conv", tensor_a="t", tensor_b="u",
                shape=(1,), sqnr_db=sqnr, max_abs=0.0, mean_abs=0.0, cosine=1.0, nonfinite=nonfinite,
            )
            for node, sqnr, nonfinite in ((0, 40.0, 0), (1, 40.0, 3), (2, None, 0))
        ),
    )  # fmt: skip


def test_a_picture_of_means_calls_them_means_and_a_simulated_phone_simulated() -> None:
    means = msgspec.structs.replace(
        profile_of_a(), statistic=Statistic.MEAN, is_simulated=True, device_name="Pixel 8"
    )
    graph = chain(["Conv", "Relu", "Add", "Mul"])
    assert latency_paint(graph, means).name == "Mean latency · ort/cpu"
    said = profile_subtitle(means)
    assert "mean of 30 inferences" in said and "Pixel 8 (simulated)" in said
    assert "p50 of 30 inferences" in profile_subtitle(profile_of_a())


def test_measured_paints_have_the_figures_of_the_canvas() -> None:
    graph = chain(["Conv", "Relu", "Add", "Mul"])
    graph.file_sha256 = "a" * 64
    latency = latency_paint(graph, profile_of_a()).figures
    assert latency is not None and latency.unit == "s" and not latency.take_largest
    assert latency.values.tolist()[:3] == pytest.approx([2e-3, 0.0, 5e-4]) and np.isnan(latency.values[3])
    error = error_paint(graph, comparison_of_a()).figures
    assert error is not None and error.unit == "%" and error.take_largest
    assert error.values.tolist()[:3] == pytest.approx([1.0, 100.0, 0.0]) and np.isnan(error.values[3])


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("name", OVERLAYS)
def test_every_overlay_draws_its_legend(name: str, palette: Palette) -> None:
    graph = chain(["Conv", "Relu", "Add", "Mul"])
    graph.file_sha256 = "a" * 64
    known = Facts(graph, palette, judged(4), lambda: node_costs(graph), profile_of_a(), comparison_of_a())
    paint = OVERLAYS[name](known)
    svg = graph_svg(graph, lay_out(graph, GraphView()), paint, palette=palette)
    words = " ".join(texts(svg))
    assert paint.figures is not None or all(f"{word} {count}" in words for word, _, count in entries(paint))
    assert paint.figures is None or paint.name in words
    assert svg_to_png(svg, scale=1).startswith(b"\x89PNG")
    assert svg_to_pdf(svg).startswith(b"%PDF")


def test_texts_stay_inside_their_boxes_in_any_script() -> None:
    names = ["n" * 90, "卷" * 90, "\N{GRINNING FACE}" * 40, "W" * 90]
    for name in names:
        kept = cut(name, 100, 11)
        assert text_width(kept, 11) <= 100 and len(kept) > 3 and kept.endswith("…")
        assert cut(name, 100, 11, keep_tail=True).startswith("…")
    assert cut("abc", 100, 11) == "abc" and cut("abc", 3, 11) == ""


def test_graver_verdict_wins_in_a_paint() -> None:
    paint = verdict_paint(judged(5), LIGHT)
    order = [paint.categories[c].word for c in sorted(paint.codes.tolist())]
    assert order == ["runs", "unknown", "conditional", "falls back", "fails"]


def test_curves_go_through_the_points_and_round_corners() -> None:
    points = np.array([[0, 0], [0, 40], [8, 48], [60, 48], [0, 0], [30, 50]], np.float32)
    offsets, curve = curves_of(np.array([0, 4, 6], np.int32), points)
    assert offsets.tolist() == [0, 10, 14]
    assert np.array_equal(curve[[0, 3, 6, 9, 10, 13]], points)
    assert np.allclose(curve[4], (0, 44.418), atol=0.01), "the corner leaves downwards"
    assert np.allclose(curve[5], (3.582, 48), atol=0.01), "and arrives sideways"
    assert np.allclose(curve[11], (0, 25)) and np.allclose(curve[12], (30, 25)), (
        "an S is vertical at both ends"
    )
    assert svg_path(curve[10:14]) == "M0.0 0.0C0.0 25.0 30.0 25.0 30.0 50.0"


def test_letters_that_no_font_has_are_told() -> None:
    # Cuneiform and Linear B are in no font of a usual system, and é is in every one
    svg = "<svg><text>Conv é \U00012000</text><text>\U00010000 \U00012000\u200b</text></svg>"
    assert missing_characters(svg) == "\U00010000\U00012000"
    assert missing_characters("<svg><text>Conv é</text></svg>") == ""
    assert missing_characters("<svg><text>Conv</text></svg>") == ""
