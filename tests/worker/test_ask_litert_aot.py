"""LiteRT's real compiler plug-ins: Qualcomm's answers from onnxruntime-qnn's libraries, the others refuse."""

from __future__ import annotations

import platform
import sys
from pathlib import Path

import pytest

from studio.backends.aot_plugins import PLUGINS
from studio.backends.ask_litert_aot import ask
from studio.errors import InputError, ToolError, UnsupportedError
from studio.jobs.ask_tool import AskTool
from studio.jobs.ask_tool import run as ask_tool
from studio.jobs.audit import Audit
from studio.jobs.audit import run as audit
from studio.support import Tier
from studio.support.verdict import TargetVerdicts
from tests.unit.backends.tflite_files import tflite_file
from tests.worker.quiet_report import Quiet

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64", reason="the plug-ins exist for Linux on x86-64"
)
with_qnn = pytest.mark.skipif(sys.version_info < (3, 11), reason="onnxruntime-qnn needs Python 3.11")


@pytest.fixture(autouse=True)
def no_sdk_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    for plugin in PLUGINS.values():
        for name in plugin.variables:
            monkeypatch.delenv(name, raising=False)


@pytest.fixture
def net(tmp_path: Path) -> Path:
    """ATAN2, which no HTP has, between operators that it has."""
    ops = [("ABS", ["x"], ["a"]), ("ATAN2", ["a", "x"], ["b"]), ("NEG", ["b"], ["c"]), ("EXP", ["c"], ["y"])]
    return tflite_file(tmp_path / "net.tflite", ops)


@with_qnn
def test_qualcomms_plug_in_tells_every_node(net: Path) -> None:
    answer = ask(net, "litert/npu-qualcomm", "SM8650")
    assert [n.taken for n in answer.nodes] == [True, False, True, True]
    assert answer.nodes[1].reason == "not supported in Qualcomm Compiler" and answer.partitions == 2
    assert "from onnxruntime-qnn" in answer.version and "SDK v" in answer.version


@with_qnn
def test_a_composite_is_judged_by_what_it_is_made_of(tmp_path: Path) -> None:
    main = [("ABS", ["x"], ["a"]), ("STABLEHLO_COMPOSITE", ["a"], ["b"]), ("EXP", ["b"], ["y"])]
    inner = [("SIN", ["i"], ["j"]), ("ATAN2", ["j", "i"], ["k"])]
    path = tflite_file(tmp_path / "composite.tflite", main, inner, composite={"b": 1})
    answer = ask(path, "litert/npu-qualcomm", "SM8650")
    assert [n.taken for n in answer.nodes] == [True, False, True]
    assert answer.nodes[1].reason == "ATAN2 of its decomposition"


@with_qnn
def test_a_chip_that_the_plug_in_lacks_is_refused_with_its_list(net: Path) -> None:
    with pytest.raises(UnsupportedError, match="does not know the chip SM9999") as caught:
        ask(net, "litert/npu-qualcomm", "SM9999")
    assert "SM8650" in caught.value.hint
    with pytest.raises(UnsupportedError, match="does not know the chip mt6785") as caught:
        ask(net, "litert/npu-mediatek", "MT6785")
    assert "mt6989" in caught.value.hint


@pytest.mark.parametrize(
    ("target_id", "soc", "says"),
    [
        ("litert/npu-mediatek", "MT6989", "needs libneuron_adapter.so"),
        ("litert/npu-google-tensor", "Tensor G4", "needs liblitert_plugin_compiler.so"),
        ("litert/npu-samsung", "S5E9965", "Samsung plug-in"),
    ],
)
def test_without_the_vendors_sdk_the_next_step_is_told(
    net: Path, target_id: str, soc: str, says: str
) -> None:
    with pytest.raises(UnsupportedError, match=says) as caught:
        ask(net, target_id, soc)
    assert caught.value.hint


def test_a_file_that_is_none_is_the_files_fault(tmp_path: Path) -> None:
    path = tmp_path / "x.tflite"
    path.write_bytes(b"not a model")
    with pytest.raises((InputError, ToolError)):
        ask(path, "litert/npu-qualcomm", "SM8650")


@with_qnn
def test_the_plug_in_stands_over_the_table(net: Path) -> None:
    targets = ("litert/npu-qualcomm", "litert/npu-mediatek")
    result = ask_tool(AskTool(path=str(net), targets=targets), Quiet())
    found = TargetVerdicts.load(Path(result.verdict_paths["litert/npu-qualcomm"]))
    assert found.counts()["runs"] == 3 and found.reason(1).tier == Tier.TOOL
    assert "not supported in Qualcomm Compiler" in found.reason(1).text
    assert "litert/npu-mediatek" not in result.verdict_paths
    assert any(n.startswith("litert/npu-mediatek: ") and "--soc" in n for n in result.notes)


@with_qnn
def test_a_torch_program_is_converted_before_the_plug_in_is_asked(tmp_path: Path) -> None:
    import torch

    class Net(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.atan2(torch.exp(x), x)

    path = tmp_path / "net.pt2"
    torch.export.save(torch.export.export(Net().eval(), (torch.zeros(1, 4),)), str(path))
    result = ask_tool(AskTool(path=str(path), targets=("litert/npu-qualcomm",)), Quiet())
    assert result.tools["litert/npu-qualcomm"].startswith("litert-torch, then LiteRT's Qualcomm plug-in")


@with_qnn
def test_the_audit_says_once_which_npu_cannot_be_asked_here(net: Path) -> None:
    tflite_file(net.with_name("other.tflite"), [("ABS", ["x"], ["y"])])
    targets = ("litert/npu-qualcomm", "litert/npu-samsung")
    result = audit(Audit(corpus=str(net.parent), targets=targets, soc="SM8650"), Quiet())
    (row,) = result.rows
    assert row.target_id == "litert/npu-qualcomm" and row.nodes == 5 and row.false_yes == row.false_no == 0
    assert [n for n in result.notes if "samsung" in n] == [
        "litert/npu-samsung cannot be asked here: SM8650 is Qualcomm's, not Samsung's. "
        "Name one with --soc, e.g. S5E9965, or in the project's settings."
    ]
