"""From a FILE argument to what a command works on: a model's graph, or a project with its folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from studio.errors import InputError
from studio.graph import Graph
from studio.project import Project
from studio.project.graph_file import graph_file
from studio.project.places import SUFFIX
from studio.project.store import load_project


@dataclass(frozen=True, slots=True)
class OpenedProject:
    """A project and where it is."""

    project: Project
    path: Path

    @property
    def folder(self) -> Path:
        return self.path.parent

    @property
    def graph_path(self) -> Path:
        """The file whose graph stands for the project; see `project.graph_file`."""
        return graph_file(self.project, self.folder)


def is_project(path: Path) -> bool:
    """Whether a FILE argument names a project."""
    return path.suffix == SUFFIX


def open_project(path: Path) -> OpenedProject:
    """The project of a file. Raises InputError when it is not one."""
    path = path.absolute()
    if not is_project(path):
        raise InputError(
            f"{path} is not a project file.",
            hint=f"Projects end in {SUFFIX}; make one with: deployment-studio new NAME{SUFFIX} --model FILE",
        )
    return OpenedProject(project=load_project(path), path=path)


def refuse_itself(out: str, file: Path) -> None:
    """Raises InputError when `--out` names the model that is worked on: the original stays."""
    if Path(out).resolve() == file.resolve():
        raise InputError(f"{out} is the file itself.", hint="Name another file with --out.")


def open_model(path: Path, *, dims: Mapping[str, int] | None = None, etrecord: Path | None = None) -> Graph:
    """The graph of a model file; `dims` fills symbolic dims. Raises InputError when it cannot be read.

    Python is not opened: it would have to be executed. Its project exports it to ONNX first.
    """
    from studio.graph import open_graph

    if path.suffix == ".py":
        raise InputError(
            f"{path} is Python, which is not a graph before it is exported.",
            hint=f"First: deployment-studio export {path}:FUNCTION --out model.onnx",
        )
    return open_graph(path, dims=dims, etrecord=etrecord)
