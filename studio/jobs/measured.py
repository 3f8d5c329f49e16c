"""Puts what runs have measured over the verdicts of a graph.

A run speaks of the artifact that ran. Where the judged graph is that very file, its nodes are found by
number or name. Where the artifact was made from the judged graph, its nodes are traced back by name,
provenance and tensor name, and through a `.tflite` file by what the converter writes and names
(`support/converted.py`); only when all of them had the same fate is the looser matching of whole graphs
good enough. Runs of other files, earlier builds among them, say nothing here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from studio import paths
from studio.errors import StudioError
from studio.graph.cost import node_costs
from studio.graph.formats import open_graph
from studio.graph.graph import Graph
from studio.graph.store import load_graph
from studio.jobs.fate import Fate, fate_of, trace
from studio.jobs.job import Report
from studio.measure.evidence import RunEvidence, evidence_in, same_chip
from studio.project import Project
from studio.project.places import runs_dir
from studio.recipes.run import cached_results
from studio.records import Record
from studio.support.measured import with_evidence
from studio.support.verdict import Evidence, TargetVerdicts


class ApplyMeasured(Record):
    """Which graph (its packed file and the hash of the model file), whose verdicts, and where the runs are.

    `derived`: SHA-256 → path of artifacts that were made from this graph.
    """

    graph_path: str
    sha256: str
    verdict_paths: dict[str, str]
    runs_dirs: tuple[str, ...]
    derived: dict[str, str] = {}
    soc: str = ""


class MeasuredApplied(Record):
    """Targets that runs said something of → their packed verdicts."""

    verdict_paths: dict[str, str] = {}


def run(spec: ApplyMeasured, report: Report) -> MeasuredApplied:
    """Reads the runs and leaves verdicts with their evidence beside those that were given."""
    evidence = evidence_in(*map(Path, spec.runs_dirs))
    known = {spec.sha256, *spec.derived}
    targets = {e.hello.target for e in evidence if e.hello.artifact_sha256 in known}
    targets &= set(spec.verdict_paths)
    if not targets:
        return MeasuredApplied()
    report.progress("reading runs", 0, len(targets))
    graph = load_graph(Path(spec.graph_path))
    verdicts = {t: TargetVerdicts.load(Path(spec.verdict_paths[t])) for t in sorted(targets)}
    derived = {sha256: Path(path) for sha256, path in spec.derived.items()}
    found = with_measured(graph, spec.sha256, verdicts, evidence, soc=spec.soc, derived=derived)
    folder = Path(spec.graph_path).parent
    made = {}
    for target_id in sorted(targets):
        out = folder / f"measured-{Path(spec.verdict_paths[target_id]).name.removeprefix('measured-')}"
        found[target_id].save(out)
        made[target_id] = str(out)
    return MeasuredApplied(verdict_paths=made)


def runs_dirs_of(project_path: Path | None) -> tuple[Path, ...]:
    """Where runs of a project are, and of files that belong to none."""
    unsaved = paths.data_dir() / "runs"
    return (runs_dir(project_path), unsaved) if project_path else (unsaved,)


def derived_of(project: Project, folder: Path) -> dict[str, Path]:
    """SHA-256 → path of the artifacts that the project's recipe has made; empty when it cannot be planned."""
    try:
        steps = cached_results(project, folder)
    except StudioError:
        return {}
    return {s.artifact.sha256: Path(s.artifact.path) for s in steps if s.kind != "verify"}


def with_measured(
    graph: Graph,
    sha256: str,
    verdicts: Mapping[str, TargetVerdicts],
    evidence: Iterable[RunEvidence],
    *,
    soc: str = "",
    derived: Mapping[str, Path] | None = None,
) -> dict[str, TargetVerdicts]:
    """The verdicts per target, with what the runs of this file and of those made from it say."""
    tracer = _Tracer(graph, sha256, derived or {})
    pieces: dict[str, list[Evidence]] = defaultdict(list)
    for run_ in evidence:
        target_id = run_.hello.target
        if target_id in verdicts and tracer.knows(run_.hello.artifact_sha256):
            pieces[target_id].append(_piece(run_, tracer, soc))
    costs = node_costs(graph) if pieces else None
    return {
        target_id: with_evidence(graph, found, pieces[target_id], costs=costs)
        if target_id in pieces
        else found
        for target_id, found in verdicts.items()
    }


def _piece(run_: RunEvidence, tracer: _Tracer, soc: str) -> Evidence:
    fate = tracer.fate(run_)
    is_other = bool(soc) and not same_chip(soc, run_.soc)
    return Evidence(
        source=run_.source,
        soc=run_.soc or run_.hello.device_id,
        is_simulated=run_.is_of_simulated,
        applies=not (is_other or run_.is_of_simulated or run_.refused),
        file="" if tracer.is_own(run_.hello.artifact_sha256) else run_.hello.artifact_path,
        words=run_.words,
        taken=tuple(sorted(n for n, taken in fate.items() if taken)),
        left=tuple(sorted(n for n, taken in fate.items() if not taken)),
        delegated=run_.delegated,
        total=run_.total,
        refused=run_.refused,
    )


class _Tracer:
    """From the nodes of an artifact to those of the judged graph."""

    def __init__(self, graph: Graph, sha256: str, derived: Mapping[str, Path]) -> None:
        self._graph, self._sha256, self._derived = graph, sha256, derived
        self._opened: dict[str, Graph | None] = {}

    def is_own(self, sha256: str) -> bool:
        return sha256 == self._sha256

    def knows(self, sha256: str) -> bool:
        return self.is_own(sha256) or sha256 in self._derived

    def fate(self, run_: RunEvidence) -> Fate:
        """What became of each node of the judged graph, as far as the run tells."""
        sha256 = run_.hello.artifact_sha256
        if self.is_own(sha256):
            return fate_of(self._graph, run_)
        artifact = self._artifact(sha256)
        if artifact is None:
            return {}
        return trace(self._graph, artifact, fate_of(artifact, run_))

    def _artifact(self, sha256: str) -> Graph | None:
        if sha256 not in self._opened:
            try:
                self._opened[sha256] = open_graph(self._derived[sha256])
            except StudioError:  # gone from the cache, or damaged: its runs stay counts
                self._opened[sha256] = None
        return self._opened[sha256]
