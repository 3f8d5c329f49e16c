"""What `benchmark_model` prints, in its forms; and what really ran."""

from __future__ import annotations

import pytest

from studio.devices.adb.benchmark_model import (
    find_benchmark_kit,
    judge,
    parse_benchmark,
    placed_nodes,
    split_output,
)
from studio.devices.device import RunSettings
from studio.errors import DeviceError

OLD = """Initialized session in 12.5ms.
Running benchmark for at least 1 iterations and at least 0.5 seconds but terminate if exceeding 150 seconds.
count=40 first=14000 curr=12100 min=12000 max=14000 avg=12200.5 std=310

Running benchmark for at least 50 iterations and at least 1 seconds but terminate if exceeding 150 seconds.
count=82 first=12100 curr=12090 min=12000 max=12900 avg=12150.2 std=90
"""
NEW = """INFO: STARTING!
INFO: Replacing 58 out of 60 node(s) with delegate (TfLiteGpuDelegateV2) node, yielding 3 partitions.
INFO: Initialized session in 812.3ms.
INFO: count=5 first=3100000 curr=2900000 min=2.9e+06 max=3.1e+06 avg=2.95034e+06 std=80000 median=2.94e+06
INFO: count=50 first=2900 curr=2910 min=2850 max=3000 avg=2905 std=30 p5=2860 median=2900 p95=2990
INFO: Inference timings in us: Init: 812300, First inference: 3100000, Inference (avg): 2905
"""


def test_the_old_form() -> None:
    report = parse_benchmark(OLD)
    assert [p["count"] for p in report.phases] == [40, 82]
    assert report.phases[-1]["avg"] == 12150.2
    assert report.init_ms == 12.5 and report.delegate == ""


def test_the_new_form_with_exponents_and_percentiles() -> None:
    report = parse_benchmark(NEW)
    assert report.phases[0]["avg"] == 2_950_340
    assert report.phases[1]["median"] == 2900
    assert (report.delegated, report.nodes, report.delegate) == (58, 60, "TfLiteGpuDelegateV2")
    assert report.init_ms == 812.3


def test_only_the_last_line_tells_the_load_time() -> None:
    assert parse_benchmark("Inference timings in us: Init: 5000, First inference: 1").init_ms == 5.0
    assert parse_benchmark("count=1 first=1 curr=1 min=1 max=1 avg=1 std=0").init_ms is None


@pytest.mark.parametrize(
    ("target", "text", "ran"),
    [
        ("litert/gpu", NEW, "litert/gpu"),
        ("litert/gpu", OLD, "litert/cpu"),  # asked for, but no delegate says that it took anything
        ("litert/nnapi", NEW, "litert/cpu"),  # another delegate took the nodes
        ("litert/nnapi", "Replacing 9 out of 9 node(s) with delegate (TfLiteNnapiDelegate)", "litert/nnapi"),
        (
            "litert/nnapi",
            "Replacing 9 out of 9 node(s) with delegate (TfLiteNnapiDelegate)\nusing nnapi-reference\n",
            "litert/cpu",
        ),
        (
            "litert/gpu",
            "Though GPU delegate is applied, the model graph will not be executed by the delegate.",
            "litert/cpu",
        ),
        ("litert/cpu", OLD, "litert/cpu"),
    ],
)
def test_silent_fallback_is_seen(target: str, text: str, ran: str) -> None:
    said, evidence = judge(target, parse_benchmark(text))
    assert said == ran and evidence


def test_garbage_is_no_report() -> None:
    report = parse_benchmark("Segmentation fault\n\x00\xff count= avg=\n")
    assert report.phases == () and report.init_ms is None


def test_a_missing_program_names_its_folder() -> None:
    with pytest.raises(DeviceError, match="benchmark_model") as raised:
        find_benchmark_kit(RunSettings(target="litert/gpu"), "arm64-v8a")
    assert "arm64-v8a" in raised.value.hint


PROFILE = """Operator-wise Profiling Info for Regular Benchmark Runs:
============================== Run Order ==============================
\t             [node type]\t          [start]\t  [first]\t [avg ms]\t     [%]\t[times called]\t[Name]
\t     TfLiteGpuDelegateV2\t            0.000\t    8.317\t    8.671\t 90.000%\t        1\t[Identity]:60
\t                    GATHER\t            8.317\t    0.100\t    0.100\t  5.000%\t        1\t[a;b]:7
\t     TfLiteGpuDelegateV2\t            8.417\t    1.317\t    1.671\t  5.000%\t        1\t[out]:61
\t                    CUMSUM\t            9.317\t    0.100\t    0.100\t  5.000%\t        1\t[c[0]]:59

============================== Top by Computation Time ==============================
\t                    GATHER\t            8.317\t    0.100\t    0.100\t  5.000%\t        1\t[a;b]:12
"""


def test_the_profile_names_the_nodes_outside_of_the_delegate() -> None:
    nodes = placed_nodes(PROFILE, parse_benchmark(NEW))
    assert len(nodes) == 60
    assert [(n.index, n.op) for n in nodes if not n.is_taken] == [(7, "GATHER"), (59, "CUMSUM")]


def test_the_table_of_the_initialisation_is_not_the_profile() -> None:
    """Builds that profile the start as well print that table first."""
    start = (
        "Profiling Info for Benchmark Initialization:\n"
        "============================== Run Order ==============================\n"
        "\t[node type]\t  [first]\t [avg ms]\t[times called]\t[Name]\n"
        "\tModifyGraphWithDelegate\t 14.842\t 14.842\t        1\tModifyGraphWithDelegate/0\n\n"
    )
    nodes = placed_nodes(start + PROFILE, parse_benchmark(NEW))
    assert [(n.index, n.op) for n in nodes if not n.is_taken] == [(7, "GATHER"), (59, "CUMSUM")]


def test_a_profile_that_does_not_add_up_says_nothing() -> None:
    other = NEW.replace("58 out of 60", "57 out of 60")
    assert placed_nodes(PROFILE, parse_benchmark(other)) == ()
    assert placed_nodes(PROFILE, parse_benchmark(OLD)) == () and placed_nodes("", parse_benchmark(NEW)) == ()


def test_both_runs_are_told_apart_in_both_streams() -> None:
    text = f"{PROFILE}=== the timed run ===\nout\n=== stderr ===\nold {OLD}=== the timed run ===\n{NEW}"
    profiled, timed = split_output(text)
    assert PROFILE in profiled and OLD in profiled and "out" in timed
    assert [p["count"] for p in parse_benchmark(timed).phases] == [5, 50]
    assert split_output(NEW) == ("", NEW)
