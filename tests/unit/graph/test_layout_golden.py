"""Structure of the drawings of three families of graphs: crossings, width, straightness must not get worse.

Bounds, not pixels. fast-sugiyama 0.5 (barycentre, transpose, minimized ranks) on the same edges, 2026-11-30:
xfm-1000 0.0048 crossings per edge and 10–12 boxes wide, unet-1000 0 and 8, resnet-1000 0.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from studio.graph import open_graph
from studio.graph.layout import lay_out
from studio.graph.scopes import initial_view
from studio.graph.view import GraphView

BENCH = Path(__file__).parents[2] / "bench"


def bench_module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"bench_{name}", BENCH / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


families = bench_module("families")
quality = bench_module("layout_quality").quality


@pytest.mark.parametrize(
    ("family", "scoped", "crossings_per_edge", "columns", "straight"),
    [
        ("resnet", True, 0.0, 3.2, 0.8),
        ("resnet", False, 0.0, 3.2, 0.8),
        ("unet", True, 0.0, 4.0, 0.74),
        ("unet", False, 0.0, 4.0, 0.74),
        ("xfm", True, 0.0072, 11.0, 0.58),
        ("xfm", False, 0.0072, 12.0, 0.58),
    ],
)
def test_family_keeps_its_structure(
    tmp_path: Path, family: str, scoped: bool, crossings_per_edge: float, columns: float, straight: float
) -> None:
    path = tmp_path / "model.onnx"
    families.write_family(family, 1000, path, scoped=scoped)
    graph = open_graph(path)
    found = quality(lay_out(graph, GraphView(wrap=False)))
    assert found.through_boxes == 0
    assert found.crossings_per_edge <= crossings_per_edge
    assert found.width_columns <= columns
    assert found.straight >= straight


@pytest.mark.parametrize("family", ["resnet", "unet", "xfm"])
@pytest.mark.parametrize("scoped", [True, False])
def test_wrapping_adds_no_tangle(tmp_path: Path, family: str, scoped: bool) -> None:
    path = tmp_path / "model.onnx"
    families.write_family(family, 1000, path, scoped=scoped)
    layout = lay_out(open_graph(path), GraphView())
    found = quality(layout)
    assert found.through_boxes == 0
    assert found.crossings_per_edge <= 0.01
    assert 0.5 < layout.width / layout.height < 3


@pytest.mark.parametrize("scoped", [True, False])
def test_first_view_of_a_big_graph_can_be_read(tmp_path: Path, scoped: bool) -> None:
    path = tmp_path / "model.onnx"
    families.write_family("xfm", 5000, path, scoped=scoped)
    graph = open_graph(path)
    layout = lay_out(graph, initial_view(graph))
    assert len(layout.item_x) <= 310
    assert quality(layout).through_boxes == 0
