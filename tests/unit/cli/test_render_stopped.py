"""Large pictures are drawn in a process of their own, which Ctrl+C ends at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from studio.cli.main import main
from studio.cli.single_step import copy_out
from studio.errors import ToolError
from studio.jobs import draw_apart
from studio.records import write_atomically
from studio.report.graph_png import svg_to_png
from tests.unit.cli.tiny_models import conv_net

RED = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="4" height="3">'
    '<rect width="4" height="3" fill="#f00"/>{}</svg>'
)

ENDLESS = """\
import sys
import studio.cli.render as render
import studio.jobs.draw_apart as draw_apart
from studio.cli.main import main
render._MANY = 0
rasteriser = "import os, time; open('pid', 'w').write(str(os.getpid())); time.sleep(600)"
draw_apart.command = lambda: (sys.executable, "-c", f"import os; os.chdir({sys.argv[1]!r}); {rasteriser}")
raise SystemExit(main(["render", "net.onnx", "--out", "net.png"]))
"""


def test_ctrl_c_ends_a_drawing_at_once_and_leaves_no_file(tmp_path: Path) -> None:
    conv_net(tmp_path / "net.onnx")
    os.mkfifo(tmp_path / "pid")  # tells that the drawing has begun
    process = subprocess.Popen(
        [sys.executable, "-c", ENDLESS, str(tmp_path)],
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(draw_apart.__file__).parents[2])},
    )
    drawing = int((tmp_path / "pid").read_text())
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert time.monotonic() - began < 5
    assert err.splitlines()[-1] == "stopped"
    assert sorted(p.name for p in tmp_path.iterdir() if p.is_file()) == ["net.onnx"]
    with pytest.raises(ProcessLookupError):
        os.kill(drawing, 0)


def test_a_picture_is_the_same_when_it_is_drawn_apart() -> None:
    svg = RED.format("<text y='2'>文</text>")
    assert draw_apart.svg_to_png(svg) == svg_to_png(svg)


def test_a_large_picture_is_drawn_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("studio.cli.render._MANY", 4)  # of 5 boxes
    monkeypatch.setattr("studio.report.graph_png.svg_to_png", None)
    out = tmp_path / "net.png"
    assert main(["render", str(conv_net(tmp_path / "net.onnx")), "--out", str(out)]) == 0
    assert out.read_bytes().startswith(b"\x89PNG")


def test_what_cannot_be_drawn_apart_says_why() -> None:
    with pytest.raises(ToolError, match="cannot be drawn as PNG"):
        draw_apart.svg_to_png(RED.format("<g>"))


def test_an_interrupted_copy_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: Path, to: Path) -> None:
        to.write_bytes(b"half")
        raise KeyboardInterrupt

    made, out = tmp_path / "made", tmp_path / "out"
    for folder in (made, out):
        folder.mkdir()
    (made / "net.ort").write_bytes(b"whole")
    monkeypatch.setattr("studio.cli.single_step.shutil.copyfile", interrupted)
    with pytest.raises(KeyboardInterrupt):
        copy_out(made / "net.ort", out / "net.ort")
    assert not list(out.iterdir())


def test_an_interrupted_write_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("studio.records.os.fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(tmp_path / "net.png", b"x")
    assert not list(tmp_path.iterdir())
