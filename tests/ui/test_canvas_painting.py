"""What the canvas paints: levels of detail, density, outlines, pictures, and graphs meant to break it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QRectF, QTimer
from PySide6.QtGui import QColor, QFontMetricsF, QGuiApplication, QImage, QPainter
from pytestqt.qtbot import QtBot

from studio.errors import InputError
from studio.graph import Quantization
from studio.graph.layout import ItemKind, Layout
from studio.ui.canvas import DARK, LIGHT, GraphCanvas, Outline, partition_overlay, verdict_overlay
from studio.ui.canvas import canvas as canvas_module
from studio.ui.canvas import painter as painter_module
from studio.ui.canvas.colors import PARTITION_COLORS, CanvasColors, contrast, label_ground, readable
from studio.ui.canvas.density import DensityMap
from studio.ui.canvas.far_maps import FarMaps
from studio.ui.canvas.labels import clean
from studio.ui.canvas.outlines import OutlineBands
from studio.ui.canvas.painter import FAR, Detail, detail_for
from studio.ui.canvas.scene import Scene
from studio.ui.canvas.texts import DETAIL_PX, TEXT_LEFT, TITLE_PX, CardTexts, name_left, sized
from studio.ui.canvas.viewport import Viewport
from tests.ui.canvas_graphs import chain, graph_of, laid_out, verdicts_of


def make_canvas(qtbot: QtBot, graph: object, layout: Layout | None = None) -> GraphCanvas:
    canvas = GraphCanvas()
    qtbot.addWidget(canvas)
    canvas.camera.motion_is_on = False
    canvas.resize(640, 480)
    canvas.set_view(graph, layout if layout is not None else laid_out(graph))  # type: ignore[arg-type]
    canvas.show()
    return canvas


def frame(canvas: GraphCanvas) -> QImage:
    """One frame as an image."""
    image = QImage(canvas.width(), canvas.height(), QImage.Format.Format_RGB32)
    painter = QPainter(image)
    canvas.paint_into(painter)
    painter.end()
    return image


def pixels(image: QImage) -> np.ndarray:
    """[height, width, 3] RGB."""
    image = image.convertToFormat(QImage.Format.Format_RGB32)
    raw = np.frombuffer(image.constBits(), np.uint8)
    rows = raw.reshape(image.height(), image.bytesPerLine() // 4, 4)[:, : image.width()]
    return rows[..., 2::-1].copy()


def count_of(image: QImage, color: str) -> int:
    """How many pixels have exactly this colour."""
    wanted = QColor(color)
    return int((pixels(image) == (wanted.red(), wanted.green(), wanted.blue())).all(axis=2).sum())


@pytest.mark.parametrize(
    ("scale", "boxes", "detail"),
    [
        (0.01, 5000, Detail.DENSITY),
        (0.2, 20_000, Detail.DENSITY),
        (0.01, 20, Detail.FLAT),
        (0.2, 300, Detail.FLAT),
        (0.4, 2000, Detail.FLAT),
        (0.4, 300, Detail.COMPACT),
        (0.8, 60, Detail.CARDS),
        (1.0, 30, Detail.LABELLED),
    ],
)
def test_detail_follows_zoom_and_crowd(scale: float, boxes: int, detail: Detail) -> None:
    assert detail_for(scale, boxes) is detail


def test_every_detail_paints_the_verdict_colours(qtbot: QtBot) -> None:
    canvas = make_canvas(qtbot, chain(30))
    canvas.set_colors(LIGHT)
    canvas.set_overlay(verdict_overlay(verdicts_of([0, 3] * 15)))
    for scale in (0.05, 0.2, 0.4, 0.8, 1.5):
        canvas.camera.zoom_to_scale(scale)
        canvas.select(15)
        canvas.select(None)
        assert count_of(frame(canvas), LIGHT.fails) > 0, scale


def test_one_failing_node_among_thousands_is_seen_from_far(qtbot: QtBot) -> None:
    graph = chain(6000)
    canvas = make_canvas(qtbot, graph)
    canvas.set_colors(LIGHT)
    codes = [0] * 6000
    codes[3000] = 3
    canvas.set_overlay(verdict_overlay(verdicts_of(codes)))
    canvas.fit()
    canvas.camera.show(canvas.viewport.centred(*canvas.scene.center(3000), FAR / 2))
    image = frame(canvas)
    assert canvas.detail is Detail.DENSITY
    assert count_of(image.copy(0, 0, 640, 300), LIGHT.fails) >= 4


def test_density_covers_as_much_as_the_boxes_do() -> None:
    scene = Scene(chain(50), laid_out(chain(50)))
    density = DensityMap(scene)
    density.recolor(np.zeros((scene.count, 3), np.uint8), (0, 0, 0))
    area = float(((scene.right - scene.left) * (scene.bottom - scene.top)).sum()) * density.scale**2
    image = QImage(density.width, density.height, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(0)
    painter = QPainter(image)
    room = QRectF(0, 0, density.width, density.height)
    density.draw_into(painter, room, room, 1.0)
    painter.end()
    alpha = np.frombuffer(image.constBits(), np.uint8).reshape(-1, 4)[:, 3]
    assert alpha.sum() / 255 == pytest.approx(area, rel=0.08)


def far_canvas(qtbot: QtBot) -> GraphCanvas:
    """A canvas whose last frame, from far away, was painted coarsely."""
    canvas = make_canvas(qtbot, chain(6000))
    canvas.fit(animated=False)
    canvas.set_overlay(None)
    frame(canvas)
    assert canvas.detail is Detail.DENSITY and canvas._painter.is_coarse
    return canvas


def test_the_far_picture_gets_sharp_in_slices_between_which_others_are_served(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    canvas = far_canvas(qtbot)
    monkeypatch.setattr(canvas_module, "SLICE_MS", 0.0)  # one step a slice, however fast the machine is
    served: list[bool] = []
    ticker = QTimer()
    ticker.timeout.connect(lambda: served.append(canvas._painter.is_coarse))
    ticker.start(0)
    qtbot.waitUntil(lambda: not canvas._painter.is_coarse, timeout=20_000)
    ticker.stop()
    assert sum(served) > 10, "the window waited for the picture"
    sharp = pixels(frame(canvas))
    assert not canvas._painter.is_coarse
    canvas.set_overlay(None)  # made again, at once
    canvas._painter.refine()
    assert (pixels(frame(canvas)) == sharp).all()


def test_a_change_while_the_far_picture_gets_sharp_begins_anew(qtbot: QtBot) -> None:
    canvas = far_canvas(qtbot)
    for _ in range(5):
        assert not canvas._painter.refine(0.0)
    canvas.set_colors(DARK)
    canvas._painter.refine()
    begun_before = pixels(frame(canvas))
    other = far_canvas(qtbot)
    other.set_colors(DARK)
    other._painter.refine()
    assert (pixels(frame(other)) == begun_before).all()


def test_the_minimap_of_another_layout_follows_after_the_first_frame(qtbot: QtBot) -> None:
    graph = chain(400)
    one, other = laid_out(graph), laid_out(graph, wrap=False)
    canvas = make_canvas(qtbot, graph)
    canvas.set_view(graph, one)
    canvas.camera.zoom_to_rect(0, 0, 900, 600)
    frame(canvas)
    canvas.set_view(graph, other)
    first = pixels(frame(canvas))
    assert canvas._painter.maps.lacks_small, "the map of the layout before stays for a moment"
    assert canvas._painter.refine()
    second = pixels(frame(canvas))
    assert not canvas._painter.is_coarse
    assert (first != second).any()
    canvas._painter.maps = FarMaps(canvas.scene)
    canvas.set_colors(canvas._painter.colors)
    assert (pixels(frame(canvas)) == second).all()


def layout_of_boxes(rows: list[list[int]]) -> tuple[Layout, np.ndarray]:
    """Boxes on a grid; each row lists the group of its boxes. Also the groups in the order of items."""
    groups = np.array([g for row in rows for g in row], np.int32)
    graph = graph_of([], ops=["Op"] * len(groups))
    layout = laid_out(graph)
    x = np.array([200.0 * k for row in rows for k in range(len(row))], np.float32)
    y = np.array([80.0 * r for r, row in enumerate(rows) for _ in row], np.float32)
    count = len(groups)
    ints = np.arange(count, dtype=np.int32)
    layout.item_kind, layout.item_ref, layout.node_item = np.zeros(count, np.uint8), ints, ints
    layout.item_x, layout.item_y = x, y
    layout.item_width, layout.item_height = np.full(count, 176, np.float32), np.full(count, 44, np.float32)
    layout.item_nodes = np.ones(count, np.int32)
    empty = np.zeros(0, np.int32)
    layout.edge_source = layout.edge_target = layout.edge_tensor = empty
    layout.edge_offsets, layout.edge_points = np.zeros(1, np.int32), np.zeros((0, 2), np.float32)
    layout.edge_is_portal = np.zeros(0, np.bool_)
    return layout, groups


def crosses(line: np.ndarray, left: float, top: float, right: float, bottom: float) -> bool:
    """Whether an axis-parallel line goes through the inside of a rectangle."""
    x0, y0, x1, y1 = line
    return bool(min(x0, x1) < right and max(x0, x1) > left and min(y0, y1) < bottom and max(y0, y1) > top)


@given(st.lists(st.lists(st.integers(-1, 2), min_size=1, max_size=5), min_size=1, max_size=6))
def test_outlines_never_cut_through_a_box(rows: list[list[int]]) -> None:
    layout, groups = layout_of_boxes(rows)
    scene = Scene(graph_of([], ops=["Op"] * len(groups)), layout)
    outlines = tuple(Outline(str(g), "runs", np.flatnonzero(groups == g).astype(np.int32)) for g in range(3))
    bands = OutlineBands(scene, outlines)
    for line in bands.lines:
        for k in range(scene.count):
            box = scene.left[k], scene.top[k], scene.right[k], scene.bottom[k]
            assert not crosses(line, *map(float, box))


@given(st.lists(st.lists(st.integers(-1, 2), min_size=1, max_size=4), min_size=1, max_size=5))
def test_outlines_hold_exactly_their_own_boxes(rows: list[list[int]]) -> None:
    layout, groups = layout_of_boxes(rows)
    scene = Scene(graph_of([], ops=["Op"] * len(groups)), layout)
    for group in range(3):
        nodes = np.flatnonzero(groups == group).astype(np.int32)
        lines = OutlineBands(scene, (Outline("x", "runs", nodes),)).lines
        upright = lines[lines[:, 0] == lines[:, 2]]
        for k in range(scene.count):
            x, y = scene.center(k)
            # a ray to the left crosses the outline an odd number of times when it starts inside
            low, high = np.minimum(upright[:, 1], upright[:, 3]), np.maximum(upright[:, 1], upright[:, 3])
            hits = int(((upright[:, 0] < x) & (low <= y) & (high > y)).sum())
            assert (hits % 2 == 1) == (groups[k] == group)


def test_partitions_are_painted_at_every_zoom(qtbot: QtBot) -> None:
    graph = chain(40)
    canvas = make_canvas(qtbot, graph)
    canvas.set_overlay(partition_overlay(graph, verdicts_of([0, 0, 0, 2, 2] * 8)))
    for scale in (0.02, 0.15, 0.3, 0.7, 1.2):
        canvas.camera.zoom_to_scale(scale)
        frame(canvas)


def test_the_picture_of_the_whole_graph_shows_all_of_it(qtbot: QtBot, tmp_path: Path) -> None:
    canvas = make_canvas(qtbot, chain(12))
    canvas.set_colors(LIGHT)
    codes = [0] * 12
    codes[0] = codes[11] = 3
    canvas.set_overlay(verdict_overlay(verdicts_of(codes)))
    canvas.camera.zoom_to_scale(4.0)
    image = canvas.grab_image(whole=True, scale=1.0)
    red = (pixels(image) == (0xB3, 0x26, 0x1E)).all(axis=2)
    rows = np.flatnonzero(red.any(axis=1))
    assert rows.max() - rows.min() > image.height() * 0.6
    canvas.save_png(str(tmp_path / "g.png"))
    canvas.save_pdf(str(tmp_path / "g.pdf"))
    assert QImage(str(tmp_path / "g.png")).width() > 100
    assert (tmp_path / "g.pdf").read_bytes().startswith(b"%PDF")


def test_a_picture_that_cannot_be_written_is_said(qtbot: QtBot, tmp_path: Path) -> None:
    canvas = make_canvas(qtbot, chain(3))
    with pytest.raises(InputError, match="could not be written"):
        canvas.save_png(str(tmp_path / "missing" / "g.png"))
    with pytest.raises(InputError, match="could not be written"):
        canvas.save_pdf(str(tmp_path / "missing" / "g.pdf"))


def test_a_huge_picture_is_made_smaller(qtbot: QtBot) -> None:
    canvas = make_canvas(qtbot, chain(3000), laid_out(chain(3000), wrap=False))
    image = canvas.grab_image(whole=True, scale=2.0)
    assert image.height() <= 30_000 and image.width() * image.height() <= 65_000_000


def test_an_empty_graph_is_painted(qtbot: QtBot) -> None:
    canvas = make_canvas(qtbot, graph_of([], ops=[]))
    canvas.fit()
    canvas.zoom(2.0)
    canvas.select(0)
    assert canvas.selected_item == -1
    frame(canvas)


@pytest.mark.parametrize(
    "name",
    [
        "x" * 1_000_000,
        "مرحبا بالعالم" * 40,
        "👩‍👩‍👧‍👦🎉" * 30,
        "a\nb\tc\0d",
        "\u202eevil",
        "<b>not html</b>",
        "e\u0301" * 500,
    ],
)
def test_hostile_names_are_painted_short(qtbot: QtBot, name: str) -> None:
    graph = chain(5, names=[name] * 5)
    graph.node_op[2] = name
    graph.tensor_name = [name] * 5
    canvas = make_canvas(qtbot, graph)
    for scale in (0.3, 1.0):
        canvas.camera.zoom_to_scale(scale)
        canvas.select(2)
        frame(canvas)
    assert len(canvas.accessibleDescription()) < 2000
    assert len(canvas.tooltip_at(canvas.rect().center().toPointF())) < 2000


def test_clean_leaves_no_line_break_and_no_direction_override() -> None:
    assert clean("a\nb\u202ec\0d") == "a bc d"
    assert clean("abcdef", 4) == "abc…"
    assert clean("abcdef", 4, keep_tail=True) == "…def"


def test_a_node_with_very_many_readers_is_painted(qtbot: QtBot) -> None:
    count = 5_000
    graph = graph_of([(0, i) for i in range(1, count)], ops=["Split", *["Relu"] * (count - 1)])
    canvas = make_canvas(qtbot, graph)
    canvas.select(0)
    for scale in (0.01, 0.1, 0.5, 1.0):
        canvas.camera.zoom_to_scale(scale)
        frame(canvas)


def test_coordinates_that_are_no_numbers_do_not_break_a_frame(qtbot: QtBot) -> None:
    graph = chain(6)
    layout = laid_out(graph)
    layout.item_x[2] = np.nan
    layout.edge_points[3] = np.nan
    canvas = make_canvas(qtbot, graph, layout)
    canvas.camera.zoom_to_scale(1.0)
    frame(canvas)
    assert all(np.isfinite(canvas.scene.bounds))


def test_a_layout_an_overlay_and_fading_are_coloured_once(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = chain(6)
    canvas = make_canvas(qtbot, graph)
    made = []
    real = painter_module.Coloring
    monkeypatch.setattr(painter_module, "Coloring", lambda *a, **k: made.append(1) or real(*a, **k))
    canvas.set_view(graph, laid_out(graph))
    canvas.set_overlay(None)
    canvas.set_dimmed(np.ones(6, np.bool_))
    canvas.set_matches([2])
    frame(canvas)
    assert len(made) == 1
    assert canvas._painter.coloring.dimmed.any() and canvas._painter.coloring.matched.any()


def test_edges_carry_shape_and_quantization(qtbot: QtBot) -> None:
    graph = chain(4, quantization={1: Quantization(scale=(0.5,), zero_point=(-3,))})
    canvas = make_canvas(qtbot, graph)
    layout = canvas.scene.layout
    edge = int(np.flatnonzero(layout.edge_tensor == 1)[0])
    canvas.grab()
    label = canvas._painter._edges.label_of(edge)
    assert "[1,8,4,4]" in label and "s 0.5" in label and "z −3" in label


def test_edges_pass_under_the_title_of_a_frame(qtbot: QtBot) -> None:
    name = "a_name_that_reaches_over_the_middle"
    graph = chain(4, scopes=[name], node_scope=[0, 1, 1, 1])
    canvas = make_canvas(qtbot, graph)
    canvas.camera.zoom_to_scale(1.0)
    canvas.camera.show(canvas.viewport.centred(*canvas.scene.center(canvas.scene.item_of_node(1)), 1.0))
    layout, view = canvas.scene.layout, canvas.viewport
    left, top = view.to_screen(float(layout.frame_x[0]), float(layout.frame_y[0]))
    title = int(left) + 10, int(top) + 5, int(layout.frame_width[0]) - 40, 11
    assert count_of(frame(canvas).copy(*title), LIGHT.edge) < 8  # not a line of the title's height
    canvas.select(1, center=False)
    assert count_of(frame(canvas).copy(*title), LIGHT.accent) < 8  # nor that of the selection


def test_cards_are_crisp_at_two_hundred_percent(qtbot: QtBot) -> None:
    canvas = make_canvas(qtbot, chain(3))
    canvas.camera.show(Viewport(1.0, 20, 20, 640, 480, 2.0))
    image = canvas.grab_image(whole=False, scale=2.0)
    assert (image.width(), image.height()) == (1280, 960)


@pytest.mark.parametrize("colors", [LIGHT, DARK])
def test_texts_stand_out_from_their_ground(colors: object) -> None:
    def luminance(name: str) -> float:
        c = QColor(getattr(colors, name))
        parts = [
            v / 12.92 if v <= 0.03928 else ((v + 0.055) / 1.055) ** 2.4
            for v in (c.redF(), c.greenF(), c.blueF())
        ]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    for text, ground, least in (
        ("text", "panel", 7),
        ("quiet", "panel", 4.5),
        ("quiet", "canvas", 4.5),
        ("accent", "canvas", 3),
    ):
        high, low = sorted((luminance(text), luminance(ground)), reverse=True)
        assert (high + 0.05) / (low + 0.05) >= least, (text, ground)


@pytest.mark.parametrize("colors", [LIGHT, DARK])
@pytest.mark.parametrize("group", range(len(PARTITION_COLORS)))
def test_titles_of_partitions_can_be_read(colors: CanvasColors, group: int) -> None:
    own = colors.role(f"partition:{group}")
    for ground in (colors.role("canvas"), label_ground(colors)):
        said = readable(own, ground)
        assert contrast(said, ground) >= 4.5
        assert said == own or contrast(own, ground) < 4.5, "a colour that can be read stays as it is"
        assert abs(said.hue() - own.hue()) <= 3, "still the colour of its group"
    assert contrast(QColor("white"), QColor("black")) == pytest.approx(21)


def test_a_figure_beside_the_second_line_shortens_it(qtbot: QtBot) -> None:
    graph = graph_of([], ops=["Conv"])
    scene = Scene(graph, laid_out(graph))
    texts = CardTexts(scene, QGuiApplication.font())
    texts.lines_of = lambda item: ("Conv", "", "[1, 24, 320, 320] float32 and more")  # type: ignore[method-assign]
    item = 0
    alone, beside = texts.get(item).detail, texts.detail_beside(item, "66.4 M MACs")
    assert alone is not None
    width = float(scene.right[item] - scene.left[item])
    metrics = QFontMetricsF(sized(QGuiApplication.font(), DETAIL_PX * 4))
    assert len(beside.text()) < len(alone.text())
    figure = metrics.horizontalAdvance("66.4 M MACs")
    assert TEXT_LEFT * 4 + metrics.horizontalAdvance(beside.text()) + figure + 8 * 4 <= width * 4


@pytest.mark.parametrize("colors", [LIGHT, DARK])
def test_lines_and_marks_stand_out_from_the_canvas(colors: CanvasColors) -> None:
    roles = ["edge", "accent", "boundary", *(f"partition:{k}" for k in range(len(PARTITION_COLORS)))]
    roles += ["runs", "conditional", "falls_back", "fails", "unknown", "added", "removed", "changed"]
    for role in roles:
        assert contrast(colors.role(role), colors.role("canvas")) >= 3.0, role


def test_a_whole_picture_has_room_for_the_labels_at_its_right(qtbot: QtBot) -> None:
    graph = chain(3)
    tensor = int(graph.outputs_of(0)[0])
    canvas = make_canvas(qtbot, graph)
    plain = canvas.grab_image(whole=True).width()
    scales = tuple(0.000692 + 1e-6 * k for k in range(720))
    graph.tensor_quantization = {tensor: Quantization(scale=scales, zero_point=(0,) * 720, axis=0)}
    canvas = make_canvas(qtbot, graph)
    assert canvas.grab_image(whole=True).width() > plain


def test_a_whole_picture_labels_every_edge_not_only_those_that_a_frame_has_time_for(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    canvas = make_canvas(qtbot, chain(6))
    frame(canvas)
    canvas.camera.show(canvas.viewport.zoomed(1.2 / canvas.viewport.scale, 320, 240))
    on_screen = pixels(frame(canvas))
    assert canvas.detail is Detail.LABELLED
    every = pixels(canvas.grab_image(whole=True))
    monkeypatch.setattr("studio.ui.canvas.edge_paint.MOST_LABELS", 1)
    assert np.array_equal(pixels(canvas.grab_image(whole=True)), every)
    assert not np.array_equal(pixels(frame(canvas)), on_screen)


def test_a_pill_shows_its_shape_whole_and_shortens_a_long_name(qtbot: QtBot) -> None:
    graph = chain(2)
    scene = Scene(graph, laid_out(graph))
    item = int(np.flatnonzero(scene.layout.item_kind == ItemKind.OUTPUT)[0])
    name = "serving_default_output_1_output" * 2
    texts = CardTexts(scene, QGuiApplication.font())
    texts.lines_of = lambda _item: (name, "[1,3]", "")  # type: ignore[method-assign]
    made = texts.get(item)
    assert made.name is not None and made.name.text() == "[1,3]"
    assert "…" in made.title.text()
    width = float(scene.right[item] - scene.left[item])
    for zoom in np.arange(0.5, 2.0, 0.02).tolist():  # fonts have whole pixels: some zooms draw them larger
        title = QFontMetricsF(sized(QGuiApplication.font(), TITLE_PX * zoom, bold=True))
        shape = QFontMetricsF(sized(QGuiApplication.font(), DETAIL_PX * zoom))
        begin = name_left(made, sized(QGuiApplication.font(), TITLE_PX * zoom, bold=True), zoom)
        assert TEXT_LEFT * zoom + title.horizontalAdvance(made.title.text()) <= begin, zoom
        assert begin + shape.horizontalAdvance("[1,3]") <= width * zoom, zoom
