"""The audit's own behaviour, with an asker that is a plain function: kept answers, broken files, stopping."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from studio.backends.ask import ToolAnswer, ToolNode
from studio.errors import StudioError, ToolError
from studio.jobs import ask_apart
from studio.jobs import audit as audit_module
from studio.jobs.ask_apart import ToolGone
from studio.jobs.audit import Audit, run
from studio.records import to_json

onnx = pytest.importorskip("onnx")


class Report:
    """A report that asks to stop after some questions."""

    def __init__(self, patience: int = 1000) -> None:
        self.patience = patience

    def progress(self, stage: str, done: int, total: int | None = None, unit: str = "") -> None: ...
    def log(self, text: str) -> None: ...
    def emit(self, event: Any) -> None: ...
    def should_stop(self) -> bool:
        self.patience -= 1
        return self.patience < 0


class Asked:
    """Stands in for the helper process: answers for ort/cpu from a list, and counts the questions."""

    asked: list[str] = []
    refuses: StudioError | None = None

    def __enter__(self) -> Asked:
        return self

    def __exit__(self, *args: object) -> None: ...

    def ask(self, path: Path, format_: str, target_id: str, **rest: Any) -> ToolAnswer:
        Asked.asked.append(path.name)
        if Asked.refuses is not None:
            raise Asked.refuses
        node = ToolNode(name="n0", op="Relu", taken=True, index=0)
        return ToolAnswer(tool="stand-in", version="1", target_id=target_id, nodes=(node,))


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two good models, one that is no model, and a folder with a model's name."""
    monkeypatch.setenv("DEPLOYMENT_STUDIO_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(audit_module, "AskApart", Asked)
    Asked.asked, Asked.refuses = [], None
    folder = tmp_path / "corpus"
    (folder / "deep" / "folder.onnx").mkdir(parents=True)
    for name, size in (("a.onnx", 4), ("deep/b.ONNX", 5)):
        onnx.save(relu(size), str(folder / name))
    (folder / "broken.onnx").write_bytes(b"not a model")
    return folder


def relu(size: int) -> Any:
    helper = onnx.helper
    graph = helper.make_graph(
        [helper.make_node("Relu", ["x"], ["y"], name="n0")],
        "g",
        [helper.make_tensor_value_info("x", 1, [1, size])],
        [helper.make_tensor_value_info("y", 1, [1, size])],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)


def test_a_broken_file_is_listed_and_the_others_are_audited(corpus: Path) -> None:
    result = run(Audit(corpus=str(corpus), targets=("ort/cpu",)), Report())
    assert [(r.files, r.nodes, r.agree) for r in result.rows] == [(2, 2, 2)]
    assert len(result.notes) == 1 and result.notes[0].startswith("broken.onnx: ")


def test_an_interrupted_audit_asks_only_what_is_left(corpus: Path) -> None:
    spec = Audit(corpus=str(corpus), targets=("ort/cpu",))
    first = run(spec, Report(patience=1))
    assert Asked.asked == ["a.onnx"] and "Stopped after 1 of 3" in first.notes[-1]
    second = run(spec, Report())
    assert Asked.asked == ["a.onnx", "b.ONNX"], "the first answer was kept"
    assert second.rows[0].files == 2


def test_a_changed_file_is_asked_about_again(corpus: Path) -> None:
    spec = Audit(corpus=str(corpus), targets=("ort/cpu",))
    run(spec, Report())
    onnx.save(relu(7), str(corpus / "a.onnx"))
    run(spec, Report())
    assert Asked.asked.count("a.onnx") == 2 and Asked.asked.count("b.ONNX") == 1


def test_a_refusal_is_kept_and_a_crash_is_not(corpus: Path) -> None:
    spec = Audit(corpus=str(corpus), targets=("ort/cpu",))
    Asked.refuses = ToolError("no such operator")
    assert sum("no such operator" in note for note in run(spec, Report()).notes) == 2
    assert sum("no such operator" in note for note in run(spec, Report()).notes) == 2
    assert len(Asked.asked) == 2
    for file in (corpus.parent / "cache" / "graphs" / "answers").iterdir():
        file.unlink()
    Asked.refuses = ToolGone("the tool crashed")
    run(spec, Report())
    run(spec, Report())
    assert len(Asked.asked) == 6, "a crash may be the machine's fault and is asked again"


def test_a_damaged_answer_is_asked_again(corpus: Path) -> None:
    spec = Audit(corpus=str(corpus), targets=("ort/cpu",))
    run(spec, Report())
    for file in (corpus.parent / "cache" / "graphs" / "answers").iterdir():
        file.write_bytes(b"{half")
    assert run(spec, Report()).rows[0].agree == 2 and len(Asked.asked) == 4


def ask_or_die(path: str, *question: Any) -> tuple[str, str, str]:
    """Stands in for the asking process's work: two models end it as a real tool's crash does."""
    ends = {"killed.onnx": signal.SIGKILL, "segfault.onnx": signal.SIGSEGV}
    if (end := ends.get(Path(path).name)) is not None:
        os.kill(os.getpid(), end)
        time.sleep(60)
    node = ToolNode(name="n0", op="Relu", taken=True, index=0)
    answer = ToolAnswer(tool="stand-in", version="1", target_id="ort/cpu", nodes=(node,))
    return "answer", to_json(answer), ""


def test_a_killed_process_and_a_segfault_cost_their_own_rows_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEPLOYMENT_STUDIO_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(ask_apart, "_ask", ask_or_die)
    folder = tmp_path / "corpus"
    folder.mkdir()
    for size, name in enumerate(("before", "killed", "middle", "segfault", "then"), 3):
        onnx.save(relu(size), str(folder / f"{name}.onnx"))
    result = run(Audit(corpus=str(folder), targets=("ort/cpu",)), Report())
    assert [(r.files, r.nodes, r.agree) for r in result.rows] == [(3, 3, 3)]
    assert [note.split(".")[0] for note in result.notes] == ["killed", "segfault"]
    assert all("The tool for ort/cpu crashed on" in note for note in result.notes)
