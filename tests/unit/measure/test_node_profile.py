"""What a profile says per node, and what layers add up to."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest

from studio.errors import InputError
from studio.graph.builder import GraphBuilder
from studio.graph.node_table import node_csv
from studio.measure.fact_file import find_facts, load_fact, newest_fact, save_fact
from studio.measure.layer_errors import (
    ComparedFile,
    LayerError,
    LayerErrors,
    LayerSums,
    node_relative_error,
    node_sqnr,
    worst_first,
)
from studio.measure.node_profile import (
    PROFILE,
    NodeLatency,
    NodeProfile,
    NodeTime,
    RuntimeTime,
    Statistic,
    latency_column,
    node_milliseconds,
)


def stats(p50: float, n: int = 10) -> NodeLatency:
    return NodeLatency(p50=p50, p90=p50, p99=p50, mean=p50, std=0.0, n=n)


def time(nodes: tuple[int, ...], p50: float, share: float, *, is_inside: bool = False) -> NodeTime:
    names = tuple(f"n{node}" for node in nodes)
    return NodeTime(
        nodes=nodes, names=names, op="Conv", kernel="Conv", latency_ms=stats(p50), share=share,
        is_inside=is_inside,
    )  # fmt: skip


def profile(*nodes: NodeTime, folded: tuple[int, ...] = (), sha256: str = "ab" * 32) -> NodeProfile:
    return NodeProfile(
        file="net.onnx", format="onnx", sha256=sha256, target="ort/cpu", target_ran="ort/cpu", evidence="",
        device_id="this-computer", device_name="A CPU", runtime="ONNX Runtime 1", threads=1, warmup_runs=3,
        wall_time="2026-11-30T10:00:00.000+00:00", inputs="made up", latency_ms=stats(10.0),
        profiled_ms=stats(12.0), sum_ms=8.0, nodes=nodes, folded=folded,
        runtime_work=(RuntimeTime(op="Cast", why="", kernels=1, latency_ms=stats(2.0), share=0.25),),
    )  # fmt: skip


def test_a_fused_kernels_time_is_on_its_first_node_and_counted_once() -> None:
    found = node_milliseconds(profile(time((2, 0, 1), 4.0, 0.5), time((4,), 2.0, 0.25), folded=(3,)), 6)
    assert found.tolist()[:5] == [0.0, 0.0, 4.0, 0.0, 2.0]
    assert np.isnan(found[5]), "a node that was not timed is unknown, not free"
    assert np.nansum(found) == 6.0


def test_two_kernels_that_are_led_by_one_node_add_up() -> None:
    assert node_milliseconds(profile(time((0,), 1.0, 0.1), time((0, 1), 2.0, 0.2)), 2).tolist() == [3.0, 0.0]


def test_a_profile_says_what_it_cost_and_how_much_it_could_attribute() -> None:
    found = profile(time((0,), 4.0, 0.5), time((1,), 2.0, 0.25), time((2,), 3.0, 0.4, is_inside=True))
    assert found.overhead == pytest.approx(0.2)
    assert found.attributed == pytest.approx(0.75), "what ran inside another node is in that node's time"


def test_a_profile_of_means_is_counted_by_them_and_has_no_percentiles() -> None:
    told = NodeTime(
        nodes=(0,), names=("n0",), op="Conv", kernel="Conv", latency_ms=NodeLatency(mean=3.0, n=50), share=1.0
    )
    plain, profiled = NodeLatency(mean=10.0, n=50, p50=9.0), NodeLatency(mean=15.0, n=50)
    found = msgspec.structs.replace(
        profile(told), statistic=Statistic.MEAN, latency_ms=plain, profiled_ms=profiled
    )
    assert node_milliseconds(found, 1).tolist() == [3.0]
    assert found.overhead == pytest.approx(0.5), "a mean is compared with a mean"
    kept = msgspec.json.decode(msgspec.json.encode(found))
    assert kept["nodes"][0]["latency_ms"]["p50"] is None and kept["statistic"] == "mean"


def test_a_profile_from_before_means_were_told_is_read(tmp_path: Path) -> None:
    old = msgspec.json.decode(msgspec.json.encode(profile(time((0,), 4.0, 0.5))))
    del old["statistic"], old["is_simulated"]
    path = tmp_path / "old.profile.json"
    path.write_bytes(msgspec.json.encode(old))
    found = load_fact(path, NodeProfile)
    assert found.statistic is Statistic.P50 and found.nodes[0].latency_ms.p50 == 4.0


def test_nodes_of_another_graph_do_no_harm() -> None:
    assert np.isnan(node_milliseconds(profile(time((7,), 1.0, 1.0), folded=(9,)), 2)).all()


def test_facts_are_found_by_the_files_hash_newest_first(tmp_path: Path) -> None:
    saved = [
        save_fact(tmp_path / "x.runs", PROFILE, profile(), wall_time=wall, hashes=("ab" * 32,))
        for wall in ("2026-11-30T10:00:00.5+00:00", "2026-12-01T09:00:00+00:00")
    ]
    save_fact(tmp_path / "x.runs", PROFILE, profile(), wall_time="2026-12-02T00:00:00", hashes=("cd" * 32,))
    assert find_facts(tmp_path / "x.runs", PROFILE, "ab" * 32) == saved[::-1]
    assert load_fact(saved[0], NodeProfile) == profile()
    assert find_facts(tmp_path / "nowhere", PROFILE, "ab" * 32) == []
    assert find_facts(tmp_path / "x.runs", PROFILE, "") == []


def test_a_damaged_fact_is_an_error_in_words(tmp_path: Path) -> None:
    path = tmp_path / "a.profile.json"
    path.write_text('{"file": 3}')
    with pytest.raises(InputError, match=r"a\.profile\.json"):
        load_fact(path, NodeProfile)


def test_layer_sums_are_the_figures_of_all_samples_together() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(4, 50)), rng.normal(size=(4, 50))
    b = a + 0.01 * b
    sums = LayerSums()
    for row in range(4):
        sums.add(a[row], b[row])
    noise = ((a - b) ** 2).sum()
    assert sums.sqnr_db == pytest.approx(10 * np.log10((a**2).sum() / noise))
    assert sums.mean_abs == pytest.approx(np.abs(a - b).mean())
    assert sums.largest == pytest.approx(np.abs(a - b).max())
    assert sums.cosine == pytest.approx((a * b).sum() / np.linalg.norm(a) / np.linalg.norm(b))


def test_equal_layers_have_no_error_and_broken_ones_are_counted() -> None:
    same, broken, silent = LayerSums(), LayerSums(), LayerSums()
    same.add(np.ones(3), np.ones(3))
    broken.add(np.ones(3), np.array([1.0, np.nan, np.inf]))
    silent.add(np.zeros(3), np.ones(3))
    assert (same.sqnr_db, same.cosine, same.nonfinite) == (None, 1.0, 0)
    assert broken.nonfinite == 2 and broken.sqnr_db is not None
    assert silent.sqnr_db == 0.0 and silent.cosine == 0.0
    unknown = LayerSums()
    unknown.add(np.array([np.nan, 1.0]), np.array([5.0, 1.0]))
    assert unknown.sqnr_db is None, "where the original is NaN there is nothing to compare"


def layer(node: int, sqnr: float | None, nonfinite: int = 0) -> LayerError:
    return LayerError(
        node_a=node, node_b=node + 10, name_a="a", name_b="b", op="Conv", tensor_a="t", tensor_b="u",
        shape=(1,), sqnr_db=sqnr, max_abs=0.0, mean_abs=0.0, cosine=1.0, nonfinite=nonfinite,
    )  # fmt: skip


def test_broken_layers_come_first_and_equal_ones_last() -> None:
    layers = (layer(0, None), layer(1, 30.0), layer(2, 5.0), layer(3, 90.0, nonfinite=1))
    assert [one.node_a for one in worst_first(layers)] == [3, 2, 1, 0]


def test_each_file_finds_its_own_nodes_in_a_comparison() -> None:
    sides = [ComparedFile(file=f, format="onnx", sha256=f * 64, target_ran="ort/cpu") for f in "ab"]
    errors = LayerErrors(
        a=sides[0], b=sides[1], wall_time="", inputs="", is_real=True, samples=1,
        layers=(layer(0, 30.0), layer(0, 20.0), layer(1, None)),
    )  # fmt: skip
    first = node_sqnr(errors, "a" * 64, 3)
    assert first.tolist()[:2] == [20.0, np.inf] and np.isnan(first[2])
    assert node_sqnr(errors, "b" * 64, 12).tolist()[10:] == [20.0, np.inf]


def test_a_nodes_error_is_in_percent_of_the_signal_and_ends_at_a_hundred() -> None:
    sides = [ComparedFile(file=f, format="onnx", sha256=f * 64, target_ran="ort/cpu") for f in "ab"]
    errors = LayerErrors(
        a=sides[0], b=sides[1], wall_time="", inputs="", is_real=True, samples=1,
        layers=(layer(0, 40.0), layer(0, 20.0), layer(1, None), layer(2, -6.0), layer(3, 90.0, nonfinite=1)),
    )  # fmt: skip
    found = node_relative_error(errors, "a" * 64, 5)
    assert found.tolist()[:4] == pytest.approx([10.0, 0.0, 100.0, 100.0]) and np.isnan(found[4])
    assert errors.is_about("a" * 64, 4) and not errors.is_about("a" * 64, 3), "node 3 must be there"
    assert errors.is_about("b" * 64, 14) and not errors.is_about("c" * 64, 99)


def test_the_newest_fact_that_fits_is_found_over_all_folders(tmp_path: Path) -> None:
    def keep(folder: str, wall: str, fact: NodeProfile) -> Path:
        return save_fact(tmp_path / folder, PROFILE, fact, wall_time=wall, hashes=("ab" * 32,))

    good = msgspec.structs.replace(profile(time((0, 1), 1.0, 1.0)), sha256="ab" * 32)
    strange = msgspec.structs.replace(profile(time((7,), 1.0, 1.0)), sha256="ab" * 32)
    keep("a.runs", "2026-11-28T10:00:00", good)
    wanted = keep("b.runs", "2026-11-29T10:00:00", good)
    odd = keep("a.runs", "2026-11-30T10:00:00", strange)
    broken = keep("b.runs", "2026-12-01T10:00:00", good)
    broken.write_text("{")
    skipped: list[Path] = []
    found = newest_fact(
        [tmp_path / "a.runs", tmp_path / "b.runs"], PROFILE, "ab" * 32, NodeProfile,
        fits=lambda p: p.is_about("ab" * 32, 2), skipped=lambda path, why: skipped.append(path),
    )  # fmt: skip
    assert found == (wanted, good) and skipped == [broken, odd]


def test_the_table_of_nodes_names_the_figure_that_it_holds() -> None:
    told = NodeTime(
        nodes=(1,), names=("n1",), op="B", kernel="B", latency_ms=NodeLatency(mean=0.25, n=50), share=1.0
    )
    means = msgspec.structs.replace(profile(told), statistic=Statistic.MEAN)
    builder = GraphBuilder("onnx")
    tensors = [builder.tensor(name, "float32", (1,)) for name in "xyz"]
    builder.node("A", [tensors[0]], [tensors[1]])
    builder.node("B", [tensors[1]], [tensors[2]])
    graph = builder.finish()
    lines = node_csv(graph, None, latency_column(means, 2)).splitlines()
    assert lines[0].endswith(",latency_mean_ms")
    assert lines[1].endswith(",") and lines[2].endswith(",0.25"), "what was not timed is empty"
    plain = node_csv(graph, None, latency_column(profile(time((0,), 4.0, 1.0)), 2)).splitlines()
    assert plain[0].endswith(",latency_p50_ms") and plain[1].endswith(",4")
