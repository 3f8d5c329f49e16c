from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from studio.cli import main as entry
from studio.cli.main import COMMANDS, main
from tests.unit.cli.tiny_models import conv_net


def run(*arguments: str, **more: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "studio", *arguments], capture_output=True, text=True, timeout=60, **more
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example_and_exit_codes(
    name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main([name, "--help"]) == 0
    text = capfd.readouterr().out
    assert f"usage: deployment-studio {name}" in text
    assert "example:\n  deployment-studio " in text
    assert "--json" in text
    assert "1 it ran, and the answer is no" in text


def test_top_level_help_lists_every_command(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    text = capfd.readouterr().out
    assert all(f"  {name} " in text for name in COMMANDS)


def test_a_mistyped_command_gets_a_suggestion(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["inspct"]) == 2
    captured = capfd.readouterr()
    assert captured.out == ""
    assert captured.err.strip().count("\n") == 0
    assert "inspect" in captured.err


def test_a_wrong_argument_is_one_line_and_a_json_object(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "x.onnx", "--runs", "0", "--json"]) == 2
    captured = capfd.readouterr()
    assert captured.err.startswith("error: ") and captured.err.count("\n") == 1
    error = json.loads(captured.out)["error"]
    assert (error["kind"], error["exit_code"]) == ("input", 2)
    assert error["hint"] == "See: deployment-studio bench --help"


@pytest.mark.parametrize(
    "arguments",
    [
        ("inspect", "nothing.onnx"),
        ("support", "nothing.onnx", "--target", "ort/moon"),
        ("inspect", "nothing.onnx", "--dim", "N=x"),
        ("run", "nothing.studio"),
        ("run", "picture.png"),
        ("report", "nothing.studio", "--out", "report.pdf"),
        ("render", "nothing.onnx", "--out", "picture.gif"),
        ("quantize", "nothing.onnx", "--out", "q.onnx"),
        ("convert", "nothing.onnx", "--out", "model.xyz"),
        ("verify", "nothing.onnx"),
        ("bench", "nothing.onnx", "--mode", "cadence"),
        ("virtual-phone", "--profile", "moonphone"),
        ("new", "p.studio", "--model", "nothing.onnx"),
    ],
)
def test_bad_input_is_one_sentence_with_exit_code_2_and_changes_nothing(
    arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert main([*arguments, "--json"]) == 2
    captured = capfd.readouterr()
    assert captured.err.startswith("error: ") and captured.err.count("\n") == 1
    assert json.loads(captured.out)["error"]["hint"]
    assert not list(tmp_path.iterdir())


def test_without_a_display_the_window_says_so(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    assert main([]) == 2
    assert "no display" in capfd.readouterr().err


def test_the_window_opens_on_the_file_given(tmp_path: Path) -> None:
    model = tmp_path / "m.onnx"
    model.touch()
    opened: list[list[Path]] = []
    assert main([str(model)], open_window=lambda paths: opened.append(paths) or 7) == 7
    assert opened == [[model]]


def test_a_bug_is_one_line_and_its_traceback_is_in_the_log(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], own_home: Path
) -> None:
    def broken(path: Path) -> None:
        raise ZeroDivisionError("on purpose")

    monkeypatch.setattr("studio.cli.inspect.is_project", broken)
    assert main(["inspect", "m.onnx", "--json"]) == 70
    captured = capfd.readouterr()
    assert "Traceback" not in captured.err + captured.out
    assert captured.err.count("\n") == 1
    assert json.loads(captured.out)["error"]["kind"] == "bug"
    log = own_home / "studio-data" / "command-line.log"
    assert str(log) in captured.err
    assert "ZeroDivisionError: on purpose" in log.read_text()


def test_what_libraries_print_never_reaches_stdout(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], own_home: Path
) -> None:
    def noisy(path: Path) -> bool:
        os.write(1, b"library noise\n")
        os.write(2, b"library warning\n")
        return False

    monkeypatch.setattr("studio.cli.inspect.is_project", noisy)
    assert main(["inspect", "nothing.onnx", "--json"]) == 2
    captured = capfd.readouterr()
    assert "noise" not in captured.out and "warning" not in captured.err
    assert "library noise" in (own_home / "studio-data" / "command-line.log").read_text()


def test_ctrl_c_is_130_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def interrupted(path: Path) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr("studio.cli.inspect.is_project", interrupted)
    assert main(["inspect", "m.onnx"]) == 130
    assert capfd.readouterr().err == "stopped\n"


def test_ctrl_c_in_a_real_process(tmp_path: Path) -> None:
    fifo = tmp_path / "model.onnx"
    os.mkfifo(fifo)  # opening it blocks until somebody writes: a command that takes for ever
    probe = (
        "import studio.cli.inspect as i; from pathlib import Path\n"
        f"i.is_project = lambda p: open({str(fifo)!r}).read()\n"
        "from studio.cli.main import main; raise SystemExit(main(['inspect', 'm.onnx']))"
    )
    process = subprocess.Popen([sys.executable, "-c", probe], stderr=subprocess.PIPE, text=True)
    with fifo.open("w"):  # returns when the command has opened the other end
        time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert err == "stopped\n"


def test_a_reader_that_leaves_is_no_error() -> None:
    done = subprocess.run(
        f"{sys.executable} -m studio virtual-phone --list --json | true; echo ${{PIPESTATUS[0]}}",
        shell=True, executable="/bin/bash", capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.stdout.strip() in ("0", "141")  # it may have written before the reader left
    assert done.stderr == ""


def test_worker_is_recognised_before_anything_heavy(monkeypatch: pytest.MonkeyPatch) -> None:
    code = (
        "import sys; from studio.cli import main as m\n"
        "assert not any(n in sys.modules for n in ('numpy', 'msgspec', 'PySide6', 'torch')), sys.modules\n"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0
    assert run("--worker", input="").returncode == 0


def test_commands_are_modules_with_a_parser_and_a_run() -> None:
    import importlib

    for address, summary in entry.COMMANDS.values():
        module = importlib.import_module(address)
        assert callable(module.parser) and callable(module.run)
        assert summary


@pytest.mark.parametrize("number", ["²", "٣", "9" * 5000, "-1", "1e3", "0"])
@pytest.mark.parametrize(
    "arguments",
    [
        ["bench", "net.onnx", "--dim", "N={}"],
        ["quantize", "net.onnx", "--out", "q.onnx", "--scheme", "dynamic", "--size", "{}x8"],
        ["fix", "net.onnx", "--fix", "freeze-dims", "--dim", "N={}"],
        ["edit", "net.onnx", "--out", "e.onnx", "--freeze", "N={}"],
    ],
)
def test_what_is_no_plain_number_is_no_size(
    arguments: list[str], number: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.onnx").write_bytes(b"x")
    assert main([part.format(number) for part in arguments]) == 2
    assert [file.name for file in tmp_path.iterdir() if file.is_file()] == ["net.onnx"]


def test_a_name_that_is_no_text_is_refused(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", os.fsdecode(b"\xff.onnx"), "--json"]) == 2
    out, err = capfd.readouterr()
    assert json.loads(out)["error"]["kind"] == "input"
    assert r"\xff.onnx is not valid UTF-8" in err


@pytest.mark.parametrize(
    "place", ["net.onnx", "taken", "net.onnx/x.onnx", "y" * 300 + ".onnx", "absent/x.onnx"]
)
@pytest.mark.parametrize(
    "arguments", [["quantize", "net.onnx", "--scheme", "dynamic"], ["edit", "net.onnx", "--freeze", "N=1"]]
)
def test_a_place_that_cannot_be_written_is_named_and_nothing_changes(
    place: str,
    arguments: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    conv_net(tmp_path / "net.onnx", batch="N")
    os.mkfifo(tmp_path / "taken")
    before = (tmp_path / "net.onnx").read_bytes()
    assert main([*arguments, "--out", place]) == 2
    assert capfd.readouterr().err.count("error: ") == 1
    assert (tmp_path / "net.onnx").read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir() if p.name not in {"cache", "config", "data"}) == [
        "net.onnx",
        "taken",
    ]


def test_an_error_is_told_whatever_the_encoding_of_the_terminal() -> None:
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = run("inspect", "--文", "--json", env=env)
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"]["exit_code"] == 2
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("redirection", [">&-", "2>&-", "<&-", ">/dev/full", ">/dev/full 2>&1"])
def test_closed_and_full_streams_end_with_a_code_and_no_traceback(redirection: str) -> None:
    line = f"{sys.executable} -m studio inspect absent.onnx --json {redirection}"
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr + done.stdout


def test_help_to_a_full_disk_is_no_traceback() -> None:
    line = f"{sys.executable} -m studio --help > /dev/full"
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (2, "")
