from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from studio.project import Project, SourceModel
from studio.project.recovery import SwapFile, find_recoverable, forget

PROJECT = Project(name="p", source=SourceModel(path="m.onnx"), notes="not saved")

_CHILD = """
import os, sys
from pathlib import Path
from studio.project import Project, SourceModel
from studio.project.recovery import SwapFile
swap = SwapFile()
project = Project(name="p", source=SourceModel(path="m.onnx"), notes="not saved")
swap.write(project, project_path=Path("/somewhere/p.studio"), folder=Path("/somewhere"))
print("written", flush=True)
sys.stdin.read()
os._exit(9)
"""


def test_an_open_window_is_not_offered_and_a_dead_one_is() -> None:
    child = subprocess.Popen([sys.executable, "-c", _CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdin and child.stdout
    assert child.stdout.readline() == b"written\n"
    assert find_recoverable() == ()
    child.kill()
    child.wait()
    child.stdin.close()
    child.stdout.close()
    (found,) = find_recoverable()
    assert found.project == PROJECT
    assert found.project_path == Path("/somewhere/p.studio")
    forget(found)
    assert find_recoverable() == ()


def test_a_saved_or_closed_window_leaves_nothing(tmp_path: Path, own_home: Path) -> None:
    swap = SwapFile()
    swap.write(PROJECT, project_path=None, folder=tmp_path)
    swap.clear()
    swap.write(PROJECT, project_path=None, folder=tmp_path)
    swap.close()
    assert find_recoverable() == ()
    assert not list((own_home / "studio-data" / "recovery").iterdir())


def test_a_damaged_swap_file_is_skipped(tmp_path: Path, own_home: Path) -> None:
    swap = SwapFile()
    swap.write(PROJECT, project_path=None, folder=tmp_path)
    (path,) = (own_home / "studio-data" / "recovery").glob("*.swap")
    path.write_text("{")
    (path.with_name("other.swap")).write_text("{")
    assert find_recoverable() == ()
    swap.close()
