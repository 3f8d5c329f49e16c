"""Graphs that no network has, through everything that opening a file does: read, costs, layout, verdicts."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from studio.errors import InputError
from studio.graph.layout import Layout
from studio.graph.store import load_columns, load_graph
from studio.graph.view import GraphView
from studio.jobs import open_graph as job
from studio.jobs.open_graph import GraphOpened, OpenGraph
from studio.support.verdict import TargetVerdicts

Nodes = list[onnx.NodeProto]
WIDEST = 100_000.0
"""Pixels: what a drawing may be wide, whatever the graph."""


class Silent:
    def progress(self, stage: str, done: int, total: int | None = None, unit: str = "") -> None: ...
    def log(self, text: str) -> None: ...
    def emit(self, event: object) -> None: ...
    def should_stop(self) -> bool:
        return False


def info(name: str) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, [2])


def write(path: Path, nodes: Nodes, inputs: list[str], outputs: list[str]) -> Path:
    graph = helper.make_graph(nodes, "g", [info(n) for n in inputs], [info(n) for n in outputs])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path.write_bytes(model.SerializeToString())
    return path


def opened(path: Path, view: GraphView | None = None) -> tuple[GraphOpened, Layout]:
    """What the job made of a file; every part of it is there and fits the graph."""
    result = job.run(OpenGraph(path=str(path), targets=("ort/cpu", "litert/gpu"), view=view), Silent())
    assert not [note for note in result.notes if note.startswith("No ")]
    graph, layout = load_graph(Path(result.graph_path)), load_columns(Layout, Path(result.layout_path))
    for file in result.verdict_paths.values():
        assert len(TargetVerdicts.load(Path(file)).codes) == graph.node_count
    for column in (layout.item_x, layout.item_y, layout.edge_points):
        assert np.isfinite(column).all()
    assert (layout.node_item < len(layout.item_x)).all()
    assert layout.width < WIDEST
    return result, layout


def neg(source: str, target: str, **options: object) -> onnx.NodeProto:
    return helper.make_node("Neg", [source], [target], **options)


def overlaps(layout: Layout) -> int:
    """Pairs of neighbours in a row that overlap; rows have one y."""
    order = np.lexsort((layout.item_x, layout.item_y))
    x, y, width = layout.item_x[order], layout.item_y[order], layout.item_width[order]
    return int(((y[1:] == y[:-1]) & (x[1:] < x[:-1] + width[:-1])).sum())


def test_100_000_readers_of_one_tensor_are_a_grid(tmp_path: Path) -> None:
    nodes = [neg("x", "a"), *(neg("a", f"r{i}") for i in range(100_000))]
    path = write(tmp_path / "m.onnx", nodes, ["x"], [])
    _, layout = opened(path, GraphView())
    assert len(layout.item_x) == 100_002
    assert 0.5 < layout.width / layout.height < 3
    assert overlaps(layout) == 0
    assert (layout.node_item >= 0).all()


def test_100_000_outputs_of_one_node_and_of_the_graph_are_a_grid(tmp_path: Path) -> None:
    names = [f"o{i}" for i in range(100_000)]
    _, layout = opened(write(tmp_path / "m.onnx", [helper.make_node("Split", ["x"], names)], ["x"], names))
    assert len(layout.item_x) == 100_002
    assert 0.5 < layout.width / layout.height < 3
    assert overlaps(layout) == 0


def test_10_000_inputs_stand_above_their_reader(tmp_path: Path) -> None:
    names = [f"i{i}" for i in range(10_000)]
    path = write(tmp_path / "m.onnx", [helper.make_node("Concat", names, ["y"], axis=0)], names, ["y"])
    _, layout = opened(path)
    node = int(layout.node_item[0])
    inputs = np.flatnonzero(layout.item_kind == 2)
    assert len(inputs) == 10_000
    assert (layout.item_y[inputs] + layout.item_height[inputs] < layout.item_y[node]).all()


@pytest.mark.parametrize(("size", "reach"), [(10_000, 60), (2_000, 2_000)])
def test_a_tangle_opens_whole(tmp_path: Path, size: int, reach: int) -> None:
    rng = random.Random(reach)
    nodes = [neg("x", "t0")]
    for i in range(1, size):
        sources = [f"t{rng.randrange(max(0, i - reach), i)}" for _ in range(3)]
        nodes.append(helper.make_node("Sum", sources, [f"t{i}"]))
    _, layout = opened(write(tmp_path / "m.onnx", nodes, ["x"], [f"t{size - 1}"]), GraphView())
    assert (layout.node_item >= 0).all()


def test_the_first_view_of_a_tangle_of_10_000_nodes_can_be_read(tmp_path: Path) -> None:
    rng = random.Random(5)
    nodes = [neg("x", "t0")]
    for i in range(1, 10_000):
        nodes.append(helper.make_node("Sum", [f"t{rng.randrange(i)}" for _ in range(3)], [f"t{i}"]))
    _, layout = opened(write(tmp_path / "m.onnx", nodes, ["x"], ["t9999"]))
    assert len(layout.item_x) < 1_000


def test_cycles_self_loops_and_double_names_are_drawn(tmp_path: Path) -> None:
    rng = random.Random(3)
    nodes = [
        helper.make_node("Sum", [f"t{rng.randrange(1_000)}" for _ in range(3)], [f"t{i}"], name=f"n{i % 7}")
        for i in range(1_000)
    ]
    nodes += [neg("loop", "loop", name="n1"), neg("x", "t5", name="n1"), neg("nowhere", "y")]
    result, layout = opened(write(tmp_path / "m.onnx", nodes, ["x"], ["y", "y"]), GraphView())
    assert result.node_count == 1_003
    assert (layout.node_item >= 0).all()
    assert layout.edge_is_portal.any()


def test_200_nested_scopes_end_where_no_module_tree_does(tmp_path: Path) -> None:
    path = "/".join(f"s{i}" for i in range(200))
    nodes = [neg("x" if i == 0 else f"t{i - 1}", f"t{i}", name=f"/{path}/n{i}") for i in range(700)]
    for view in (None, GraphView()):
        _, layout = opened(write(tmp_path / "m.onnx", nodes, ["x"], ["t699"]), view)
        assert layout.frame_depth.max(initial=0) <= 64


def field(number: int, content: bytes) -> bytes:
    """A length-delimited protobuf field: protobuf's own Python refuses to write 60 levels."""
    length, size = len(content), b""
    while length >= 128:
        size += bytes([length & 127 | 128])
        length >>= 7
    return bytes([number << 3 | 2]) + size + bytes([length]) + content


def ifs(path: Path, depth: int) -> Path:
    """An If in an If in an If."""
    body = field(1, field(1, b"x") + field(2, b"y") + field(4, b"Neg"))
    for _ in range(depth):
        branch = field(5, field(1, b"then_branch") + field(6, body) + b"\xa0\x01\x05")
        body = field(1, field(1, b"c") + field(2, b"y") + field(4, b"If") + branch)
    path.write_bytes(b"\x08\x08" + field(7, body) + field(8, b"\x10\x11"))
    return path


def test_ifs_nested_12_deep_open_in_place(tmp_path: Path) -> None:
    path = ifs(tmp_path / "m.onnx", 12)
    result, _ = opened(path)
    graph = load_graph(Path(result.graph_path))
    assert graph.node_count == 13
    _, layout = opened(path, GraphView(opened=frozenset(range(1, len(graph.subgraphs)))))
    assert layout.frame_depth.max() >= 11


def test_ifs_nested_60_deep_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nests graphs too deeply"):
        opened(ifs(tmp_path / "m.onnx", 60))


def test_names_of_a_megabyte_right_to_left_and_emoji_go_through(tmp_path: Path) -> None:
    long = "a/" * 10 + "n" * 1_000_000
    nodes = [neg("x", "طبقة", name=long), neg("طبقة", "🙂", name="\u202eabc"), neg("🙂", long, name="")]
    result, layout = opened(write(tmp_path / "m.onnx", nodes, ["x"], [long]))
    assert load_graph(Path(result.graph_path)).node_name[0] == long
    assert layout.item_width.max() < 400
