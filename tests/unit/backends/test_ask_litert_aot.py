"""LiteRT's compiler plug-ins, played by an executable that ends and logs as the real one does."""

from __future__ import annotations

import json
import platform
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from studio.backends.aot_chips import chip_for
from studio.backends.aot_partition import left_reasons
from studio.backends.aot_plugins import PLUGINS, find_sdk, probe_aot
from studio.backends.ask import ToolAnswer
from studio.backends.ask_litert_aot import ask
from studio.errors import InputError, ToolError, UnsupportedError
from studio.paths import config_dir
from tests.unit.backends.tflite_files import Op, tflite_file

FAKE = Path(__file__).parents[2] / "fakes" / "apply_plugin.py"
CHAIN: list[Op] = [("ABS", ["x"], ["a"]), ("NEG", ["a"], ["b"]), ("EXP", ["b"], ["y"])]
WHOLE: list[Op] = [("DISPATCH_OP", ["x"], ["y"])]
PARTLY: list[Op] = [("DISPATCH_OP", ["x"], ["a"]), ("NEG", ["a"], ["b"]), ("DISPATCH_OP", ["b"], ["y"])]
LEFT = """ERROR: [qnn_compose_graph.cc:1722]
LiteRT Op #1 'Neg' (code=59) is not supported in Qualcomm Compiler.
  Inputs:
    [0] name="a"  tensor_idx=1
  Outputs:
    [0] name="b"  tensor_idx=2
"""
COUNT = (
    "INFO: [compiler_plugin.cc:742] Partitioned subgraph<0>, selected {} ops, from a total of {} ops. "
    "resulted in {} partitions.\n"
)
VARIABLES = [name for plugin in PLUGINS.values() for name in plugin.variables]


@dataclass
class Wheel:
    """A stand-in for the package ai_edge_litert, and the folder that tells its tool what to do."""

    files: Path

    def does(self, *, log: str = "", **ends: Any) -> None:
        (self.files / "log.txt").write_text(log)
        (self.files / "ends.json").write_text(json.dumps(ends))

    def parts(self, *subgraphs: list[Op], compiled: list[Op] | None = None) -> None:
        tflite_file(self.files / "partition.tflite", *subgraphs)
        tflite_file(self.files / "apply.tflite", compiled if compiled is not None else subgraphs[0])

    @property
    def asked(self) -> list[dict[str, str]]:
        return [json.loads(line) for line in (self.files / "asked.jsonl").read_text().splitlines()]


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Wheel:
    package = tmp_path / "wheel" / "ai_edge_litert"
    for plugin in PLUGINS.values():
        compiler = package / "vendors" / plugin.folder / "compiler"
        compiler.mkdir(parents=True)
        (compiler / f"libLiteRtCompilerPlugin_{plugin.vendor}.so").touch()
    (package / "__init__.py").touch()
    tool = package / "tools" / "apply_plugin_main"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{FAKE}" "$@"\n')
    tool.chmod(0o755)
    files = tmp_path / "stand-in"
    files.mkdir()
    monkeypatch.syspath_prepend(str(package.parent))
    for name in [n for n in sys.modules if n.partition(".")[0] == "ai_edge_litert"]:
        monkeypatch.delitem(sys.modules, name)
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("STAND_IN_FILES", str(files))
    return Wheel(files)


@pytest.fixture
def net(tmp_path: Path) -> Path:
    return tflite_file(tmp_path / "net.tflite", CHAIN)


def asked_qualcomm(net: Path, **options: Any) -> ToolAnswer:
    return ask(net, "litert/npu-qualcomm", "SM8650", **options)


def taken(answer: ToolAnswer) -> list[bool | None]:
    return [node.taken for node in answer.nodes]


def test_a_whole_model_is_one_partition(wheel: Wheel, net: Path) -> None:
    wheel.does(log=COUNT.format(3, 3, 1) + "INFO: Applying plugin with SDK version: v2.51.0\n")
    wheel.parts(WHOLE, CHAIN, compiled=WHOLE)
    answer = asked_qualcomm(net)
    assert taken(answer) == [True, True, True] and answer.partitions == 1
    assert answer.tool == "LiteRT's Qualcomm plug-in for SM8650" and "SDK v2.51.0" in answer.version
    assert [a["cmd"] for a in wheel.asked] == ["partition", "apply"]
    assert wheel.asked[0]["soc_manufacturer"] == "Qualcomm" and wheel.asked[0]["soc_model"] == "SM8650"


def test_what_stays_is_told_with_its_reason(wheel: Wheel, net: Path) -> None:
    wheel.does(log=LEFT + COUNT.format(2, 3, 2))
    wheel.parts(PARTLY, CHAIN[:1], CHAIN[2:], compiled=PARTLY)
    answer = asked_qualcomm(net)
    assert taken(answer) == [True, False, True] and answer.partitions == 2
    assert answer.nodes[1].reason == "not supported in Qualcomm Compiler"


def test_the_validators_words_are_the_reason_where_there_are_some() -> None:
    log = (
        "ERROR: [qnn_manager.cc:480]\nQNN op validation failed: 'Reshape_13' (type=Reshape)\n  Inputs:\n"
        + LEFT
        + "     0.0ms [ ERROR ]   <E> [4294967295] has incorrect Rank 6.\n"
        + "     0.0ms [ ERROR ]   <E> [4294967295] has incorrect Rank 6.\n"
        + "     0.0ms [ ERROR ]   <E> QnnBackend_validateOpConfig failed 3110\n"
        + "     0.0ms [ ERROR ]   <E> Failed to validate op Reshape_13 with error 0xc26\n"
    )
    assert left_reasons(log) == {("b",): "its validator refuses Reshape: has incorrect Rank 6"}


def test_nothing_taken_is_not_compiled(wheel: Wheel, net: Path) -> None:
    wheel.does(log=COUNT.format(0, 3, 0), apply=6)
    wheel.parts(CHAIN)
    answer = asked_qualcomm(net)
    assert taken(answer) == [False, False, False] and answer.partitions == 0
    assert [a["cmd"] for a in wheel.asked] == ["partition"]


def test_what_is_selected_counts_only_once_it_compiles(wheel: Wheel, net: Path) -> None:
    said = "ERROR: [qnn_manager.cc:1] graph prepare failed 13\nERROR: [a.cc:2] ERROR: [b.cc:3]\nINFO: bye\n"
    wheel.does(log=LEFT + COUNT.format(3, 3, 1) + said, apply=1)
    wheel.parts(WHOLE, CHAIN)
    with pytest.raises(
        ToolError, match="selects 3 of 3 operators for SM8650, but does not compile"
    ) as caught:
        asked_qualcomm(net)
    assert caught.value.returncode == 1
    assert caught.value.hint.endswith("graph prepare failed 13"), (
        "not what is said of operators that are left"
    )


def test_a_compiled_file_that_calls_no_npu_is_no_yes(wheel: Wheel, net: Path) -> None:
    wheel.parts(WHOLE, CHAIN, compiled=CHAIN)
    with pytest.raises(ToolError, match="calls no NPU"):
        asked_qualcomm(net)


def test_a_missing_library_of_the_sdk_is_named(wheel: Wheel, net: Path) -> None:
    line = "└ Could not load shared library l.so: libQnnHtp.so: cannot open shared object file"
    wheel.does(log=line, partition=6)
    with pytest.raises(UnsupportedError, match=r"needs libQnnHtp\.so") as caught:
        asked_qualcomm(net)
    assert "QAIRT_SDK_ROOT" in caught.value.hint


def test_a_missing_adapter_of_mediatek_is_named(wheel: Wheel, net: Path) -> None:
    wheel.does(log="ERROR: Failed to load NeuronAdapter shared library: no\n", partition=246)
    with pytest.raises(UnsupportedError, match=r"needs libneuron_adapter\.so"):
        ask(net, "litert/npu-mediatek", "MT6989")


def test_a_plug_in_that_does_not_load_is_the_wheels_fault(wheel: Wheel, net: Path) -> None:
    wheel.does(log="x.so: undefined symbol: _ZN11flatbuffers9instance_E.\n", partition=6)
    with pytest.raises(UnsupportedError, match="lacks the symbol _ZN11flatbuffers9instance_E"):
        ask(net, "litert/npu-samsung", "S5E9965")


def test_an_unknown_chip_gets_the_plug_ins_own_list(wheel: Wheel, net: Path) -> None:
    wheel.does(log="ERROR: [x.cc:1] Unexpected SoC model: SM8650\n", partition=1)
    with pytest.raises(UnsupportedError, match="does not know the chip SM8650") as caught:
        asked_qualcomm(net)
    assert caught.value.hint == "It knows SM8550, SM8650."


def test_a_crash_is_told_by_its_signal(wheel: Wheel, net: Path) -> None:
    wheel.does(partition="SIGSEGV")
    with pytest.raises(ToolError, match="SIGSEGV") as caught:
        asked_qualcomm(net)
    assert caught.value.returncode and caught.value.returncode < 0


def test_a_tool_that_hangs_is_stopped_with_what_it_started(wheel: Wheel, net: Path) -> None:
    wheel.does(partition="hang")
    start = time.monotonic()
    with pytest.raises(ToolError, match="took over 1 s"):
        asked_qualcomm(net, limit_s=1.0)
    assert time.monotonic() - start < 30, "waited for the grandchild"


def test_success_with_an_empty_file_is_a_failure(wheel: Wheel, net: Path) -> None:
    wheel.does(partition="empty")
    with pytest.raises(ToolError, match="wrote nothing"):
        asked_qualcomm(net)


def test_success_with_a_damaged_file_is_a_failure(wheel: Wheel, net: Path) -> None:
    wheel.does()
    (wheel.files / "partition.tflite").write_bytes(b"not a model")
    with pytest.raises(ToolError, match="cannot be read"):
        asked_qualcomm(net)


def test_an_unknown_failure_tells_the_tools_last_words(wheel: Wheel, net: Path) -> None:
    wheel.does(log="ERROR: [x.cc:1] the stars are wrong\nINFO: bye\n", partition=3)
    with pytest.raises(ToolError) as caught:
        asked_qualcomm(net)
    assert "the stars are wrong" in caught.value.hint and caught.value.returncode == 3


def test_a_log_that_counts_otherwise_is_no_answer(wheel: Wheel, net: Path) -> None:
    wheel.does(log=COUNT.format(1, 3, 1))
    wheel.parts(WHOLE, CHAIN)
    with pytest.raises(ToolError, match="selected 1 operators, but the file that it wrote shows 3"):
        asked_qualcomm(net)


def test_namesakes_of_which_one_stays_are_not_told_apart(wheel: Wheel, tmp_path: Path) -> None:
    def twice(second: str) -> list[Op]:
        return [("ABS", ["x"], ["t"]), ("EXP", ["t"], ["u"]), (second, ["u"], ["t"])]

    source = tflite_file(tmp_path / "twins.tflite", twice("ABS"))
    wheel.parts([("DISPATCH_OP", ["x"], ["u"]), ("ABS", ["u"], ["t"])], twice("ABS")[:2])
    assert taken(asked_qualcomm(source)) == [None, True, None]


def test_a_composite_counts_by_its_decomposition(wheel: Wheel, tmp_path: Path) -> None:
    main: list[Op] = [("ABS", ["x"], ["a"]), ("STABLEHLO_COMPOSITE", ["a"], ["b"]), ("EXP", ["b"], ["y"])]
    inner: list[Op] = [("SIN", ["i"], ["j"]), ("NEG", ["j"], ["k"])]
    source = tflite_file(tmp_path / "composite.tflite", main, inner, composite={"b": 1})
    inlined: list[Op] = [
        ("ABS", ["x"], ["a"]),
        ("SIN", ["a"], ["j"]),
        ("NEG", ["j"], ["k"]),
        ("EXP", ["k"], ["y"]),
    ]
    wheel.parts(WHOLE, inlined)
    assert taken(asked_qualcomm(source)) == [True, True, True]
    wheel.parts(
        [("DISPATCH_OP", ["x"], ["j"]), inlined[2], ("DISPATCH_OP", ["k"], ["y"])], inlined[:2], inlined[3:]
    )
    answer = asked_qualcomm(source)
    assert taken(answer) == [True, False, True]
    assert answer.nodes[1].reason == "NEG of its decomposition"


def test_partitions_of_other_subgraphs_are_not_the_main_ones(wheel: Wheel, tmp_path: Path) -> None:
    """Two signatures of one network name their tensors alike."""
    source = tflite_file(tmp_path / "two.tflite", CHAIN, CHAIN)
    wheel.parts(CHAIN, WHOLE, CHAIN)
    assert taken(asked_qualcomm(source)) == [False, False, False]


def test_a_compiled_file_is_not_asked_about(wheel: Wheel, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="compiled for an NPU already"):
        asked_qualcomm(tflite_file(tmp_path / "done.tflite", WHOLE))


def library(path: Path, machine: int) -> Path:
    """A file with the header of a library for a processor (62 = x86-64, 183 = arm64)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\x7fELF" + bytes(14) + machine.to_bytes(2, "little"))
    return path


HERE, ELSEWHERE = (62, 183) if platform.machine() in ("x86_64", "AMD64") else (183, 62)


def test_the_sdk_is_found_by_its_variable_for_this_processor(
    wheel: Wheel, net: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An SDK has the phone's libraries beside the host's, and first in the alphabet."""
    sdk = tmp_path / "qairt" / "2.51"
    library(sdk / "lib" / "aarch64-android" / "libQnnHtp.so", ELSEWHERE)
    host = library(sdk / "lib" / "x86_64-linux-clang" / "libQnnHtp.so", HERE).parent
    monkeypatch.setenv("QAIRT_SDK_ROOT", str(sdk))
    monkeypatch.setenv("LD_LIBRARY_PATH", "/given")
    wheel.parts(WHOLE, CHAIN)
    asked_qualcomm(net)
    folders = wheel.asked[0]["LD_LIBRARY_PATH"].split(":")
    assert folders[0] == str(host) and folders[-1] == "/given"
    assert folders[1].endswith("/lpai"), "the plug-in demands libQnnLpai.so, which not every SDK has"
    library(host / "libQnnLpai.so", HERE)
    asked_qualcomm(net)
    assert "lpai" not in wheel.asked[-1]["LD_LIBRARY_PATH"]


def test_the_sdk_is_found_in_a_folder_of_the_settings(wheel: Wheel, net: Path, tmp_path: Path) -> None:
    sdk = tmp_path / "tools" / "litecore"
    library(sdk / "lib" / "x86_64-linux" / "libgraph_wrapper.so", HERE)
    (config_dir() / "preferences.json").write_text(json.dumps({"tool_folders": [str(sdk.parent)]}))
    wheel.parts(WHOLE, CHAIN)
    ask(net, "litert/npu-samsung", "Exynos 2600")
    assert wheel.asked[0]["EXYNOS_AI_LITECORE_ROOT"] == str(sdk)
    assert wheel.asked[0]["soc_model"] == wheel.asked[0]["samsung_soc_model"] == "E9965"


def test_mediateks_generations_lie_side_by_side(
    wheel: Wheel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for generation in ("v8_0_10", "v9_0_3"):
        library(tmp_path / "sdk" / generation / "host" / "lib" / "libneuron_adapter.so", HERE)
    monkeypatch.setenv("NEUROPILOT_SDK", str(tmp_path / "sdk"))
    plugin = PLUGINS["litert/npu-mediatek"]
    for soc, generation in (("MT6989", "v8_0_10"), ("MT6993", "v9_0_3")):
        found = find_sdk(plugin, soc)
        assert found is not None and generation in found.folders[0].parts


def test_what_is_missing_is_listed_with_how_to_get_it(wheel: Wheel, tmp_path: Path, monkeypatch: Any) -> None:
    library(tmp_path / "tensor" / "liblitert_plugin_compiler.so", HERE)
    monkeypatch.setenv("GOOGLE_TENSOR_COMPILER_LIB", str(tmp_path / "tensor"))
    found = {a.targets[0]: a for a in probe_aot()}
    assert found["litert/npu-google-tensor"].is_available
    assert "libneuron_adapter.so" in found["litert/npu-mediatek"].reason
    assert "neuropilot.mediatek.com" in found["litert/npu-mediatek"].fix


def test_a_wheel_without_plug_ins_says_so(wheel: Wheel, net: Path) -> None:
    (wheel.files.parent / "wheel/ai_edge_litert/tools/apply_plugin_main").unlink()
    with pytest.raises(UnsupportedError, match="has no compiler plug-in for Qualcomm"):
        asked_qualcomm(net)
    assert all("not installed" in a.reason for a in probe_aot())


@pytest.mark.parametrize(
    ("target_id", "soc", "chip"),
    [
        ("litert/npu-qualcomm", "sm8650", "SM8650"),
        ("litert/npu-qualcomm", "SM9999", "SM9999"),
        ("litert/npu-mediatek", "MT6989", "mt6989"),
        ("litert/npu-mediatek", "MT6983Z/TCZA", "mt6983"),
        ("litert/npu-google-tensor", "Tensor G4", "Tensor_G4"),
        ("litert/npu-google-tensor", "ZUMAPRO", "Tensor_G4"),
        ("litert/npu-google-tensor", "Tensor_G6", "Tensor_G6"),
        ("litert/npu-samsung", "s5e9965", "E9965"),
        ("litert/npu-samsung", "E9965", "E9965"),
    ],
)
def test_chips_are_spelt_as_the_plug_ins_do(target_id: str, soc: str, chip: str) -> None:
    assert chip_for(PLUGINS[target_id], soc) == chip


def test_a_chip_of_another_vendor_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="SM8650 is Qualcomm's, not MediaTek's"):
        chip_for(PLUGINS["litert/npu-mediatek"], "SM8650")
    with pytest.raises(UnsupportedError, match="compiles for one chip"):
        chip_for(PLUGINS["litert/npu-mediatek"], "")
