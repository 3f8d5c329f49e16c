"""What is known of a file by measuring: the profile or the comparison that a picture is drawn from."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from studio import paths
from studio.cli.output import Output
from studio.errors import InputError
from studio.graph import Graph
from studio.measure.fact_file import load_fact, newest_fact
from studio.measure.layer_errors import LAYERS, LayerErrors
from studio.measure.node_profile import PROFILE, NodeProfile
from studio.project.places import runs_dir
from studio.report.measured_paint import errors_subtitle, profile_subtitle

F = TypeVar("F", NodeProfile, LayerErrors)


@dataclass(frozen=True, slots=True)
class KnownFact:
    """A profile or a comparison, the file that keeps it, and a line that says how it was got."""

    path: Path
    subtitle: str
    profile: NodeProfile | None = None
    layers: LayerErrors | None = None


def known_fact(
    graph: Graph, overlay: str, options: Namespace, project_path: Path | None, output: Output
) -> KnownFact | None:
    """What `--profile` or `--layers` names, else the newest that is kept of the graph's file; None when there
    is none or the overlay needs none. Raises InputError for a fact of another file.

    Kept ones are in the project's runs folder, in one beside the file, and in the studio's own.
    """
    folders = [paths.data_dir() / "runs", *sorted(Path(graph.file_path).absolute().parent.glob("*.runs"))]
    if project_path is not None and runs_dir(project_path) not in folders:
        folders.append(runs_dir(project_path))
    if overlay == "latency":
        profile = _found(graph, PROFILE, NodeProfile, options.profile, folders, output)
        if profile is None:
            return None
        path, fact = profile
        return KnownFact(path, profile_subtitle(fact), profile=fact)
    if overlay == "error":
        compared = _found(graph, LAYERS, LayerErrors, options.layers, folders, output)
        if compared is None:
            return None
        place, layers = compared
        return KnownFact(place, errors_subtitle(layers), layers=layers)
    return None


def _found(
    graph: Graph, kind: str, type_: type[F], named: str, folders: list[Path], output: Output
) -> tuple[Path, F] | None:
    fits: Callable[[F], bool] = lambda fact: fact.is_about(graph.file_sha256, graph.node_count)  # noqa: E731
    if not named:
        return newest_fact(
            folders,
            kind,
            graph.file_sha256,
            type_,
            fits=fits,
            skipped=lambda path, why: output.note(f"left out {path}: {why}"),
        )
    path = Path(named).absolute()
    fact = load_fact(path, type_)
    if not fits(fact):
        raise InputError(
            f"{path.name} is not about {Path(graph.file_path).name} as it is now: it is of {_files(fact)}.",
            hint="Name the fact of this very file, or measure it again.",
        )
    return path, fact


def _files(fact: NodeProfile | LayerErrors) -> str:
    """The files that it is about, each with the start of its hash."""
    if isinstance(fact, NodeProfile):
        return f"{fact.file} ({fact.sha256[:12]})"
    return " and ".join(f"{side.file} ({side.sha256[:12]})" for side in (fact.a, fact.b))
