"""Starts the jobs that measure nodes (time, error), and finds what earlier ones left about a file."""

from __future__ import annotations

from pathlib import Path

from studio import paths
from studio.devices import DeviceInfo
from studio.devices.device import DeviceKind, DeviceState
from studio.devices.registry import runnable_targets
from studio.devices.this_computer import DEVICE_ID
from studio.jobs.job import Done, Failed
from studio.jobs.model_inputs import InputData
from studio.measure.fact_file import newest_fact
from studio.measure.layer_errors import LAYERS, LayerErrors
from studio.measure.node_profile import PROFILE, NodeProfile
from studio.project.places import runs_dir
from studio.targets import find_target
from studio.ui.job_runner import COMPUTE, device_lane
from studio.ui.session import Session
from studio.ui.session_state import SessionState
from studio.ui.stages import Stage
from studio.ui.texts import fill

PROFILED = frozenset({"onnx", "ort", "tflite", "pte"})
"""Formats whose runtime times single nodes on this computer."""
PROFILED_ON_PHONES = frozenset({"onnx", "ort", "tflite"})
"""Formats whose runtime times single nodes on phones."""
COMPARED = frozenset({"onnx", "tflite"})
"""Formats whose runtime shows its inner results on this computer."""


def load_facts(session: SessionState, stage: Stage) -> None:
    """Puts the newest profile and comparison of the stage's file beside its graph."""
    opened = stage.opened
    if opened is None:
        return
    sha256, count = opened.graph.file_sha256, opened.graph.node_count
    folders = _folders(session)

    def skipped(path: Path, why: str) -> None:
        session.logged.emit(path.name, why)

    profile = newest_fact(
        folders, PROFILE, sha256, NodeProfile, fits=lambda p: p.is_about(sha256, count), skipped=skipped
    )
    layers = newest_fact(
        folders, LAYERS, sha256, LayerErrors, fits=lambda e: e.is_about(sha256, count), skipped=skipped
    )
    opened.profile = profile[1] if profile else None
    opened.layer_errors = layers[1] if layers else None


def _folders(session: SessionState) -> list[Path]:
    folders = [paths.data_dir() / "runs"]
    if session.project_path is not None:
        folders.append(runs_dir(session.project_path))
    return folders


def _runs_dir(session: Session) -> str:
    return str(runs_dir(session.project_path)) if session.project_path is not None else ""


def _inputs(session: Session) -> InputData:
    """The project's own real data, where it names some."""
    project = session.project
    if project is None or session.folder is None:
        return InputData()
    return InputData(
        data=project.evaluation or project.calibration,
        preprocessing=project.preprocessing,
        folder=str(session.folder),
    )


def can_profile(session: Session) -> bool:
    """Whether the stage in sight is a file whose nodes can be timed here."""
    opened = session.opened
    return opened is not None and opened.graph.format in PROFILED


def can_compare(session: Session) -> bool:
    """Whether the stage in sight is a file whose inner results can be read here."""
    opened = session.opened
    return opened is not None and opened.graph.format in COMPARED


def is_running(session: Session, kind: str) -> bool:
    """Whether a job of that kind is under way."""
    return any(job.kind == kind and not job.is_over for job in session.jobs)


def phones(session: Session) -> list[DeviceInfo]:
    """The ready phones whose runners can time the nodes of the file in sight."""
    opened = session.opened
    if opened is None or opened.graph.format not in PROFILED_ON_PHONES:
        return []
    ready = [d for d in session.devices if d.state is DeviceState.READY]
    return [d for d in ready if d.kind is not DeviceKind.THIS_COMPUTER]


def _phone_target(session: Session, device_id: str) -> str:
    """The target of the run settings where a phone runs this file so, else that of the file's CPU."""
    device = next((d for d in phones(session) if d.id == device_id), None)
    if device is None or session.project is None or session.opened is None:
        return ""
    target = session.project.run_settings.target
    fits = session.opened.graph.format in find_target(target).formats
    return target if fits and target in runnable_targets(device.kind) else ""


def profile_nodes(session: Session, device_id: str = DEVICE_ID) -> None:
    """Times every node of the stage in sight on this computer or a phone, and shows it."""
    from studio.jobs.profile_nodes import ProfileNodes

    stage, project = session.current_stage, session.project
    if stage is None or stage.path is None or stage.opened is None or project is None:
        return
    spec = ProfileNodes(
        path=str(stage.path),
        device_id=device_id,
        target=_phone_target(session, device_id),
        threads=project.run_settings.threads,
        inputs=_inputs(session),
        runs_dir=_runs_dir(session),
    )
    title = fill(session.tr("Profile {file}"), file=stage.path.name)
    session.set_overlay("latency")
    lane = COMPUTE if device_id == DEVICE_ID else device_lane(device_id)
    session.start(spec, title=title, lane=lane, then=lambda outcome: _take(session, outcome))


def partners(session: Session) -> list[Stage]:
    """The stages that the one in sight can be compared with, the likeliest first: the recipe's float file
    for what was made from it, else what was made from this file."""
    current = session.current_stage
    if current is None or not can_compare(session):
        return []
    others = [s for s in session.stages if s is not current and s.path is not None and s.has_graph]
    others = [s for s in others if s.path is not None and s.path.suffix.lstrip(".") in COMPARED]
    order = {stage.id: k for k, stage in enumerate(session.stages)}
    here = order[current.id]
    before = [s for s in others if order[s.id] < here]
    after = [s for s in others if order[s.id] > here]
    # The step right before is the input; a float source further up is the better original.
    before.sort(key=lambda s: (s.kind not in ("export", "source"), -order[s.id]))
    return [*before, *after]


def compare_layers(session: Session, other: Stage) -> None:
    """Compares the stage in sight with another one, layer by layer; the earlier one is the original."""
    from studio.jobs.compare_layers import CompareLayers

    current = session.current_stage
    if current is None or current.path is None or other.path is None:
        return
    order = [stage.id for stage in session.stages]
    first, second = sorted((current, other), key=lambda s: order.index(s.id))
    assert first.path is not None and second.path is not None
    spec = CompareLayers(
        a=str(first.path), b=str(second.path), inputs=_inputs(session), runs_dir=_runs_dir(session)
    )
    title = fill(session.tr("Compare the layers of {file}"), file=second.path.name)
    session.set_overlay("error")
    session.start(spec, title=title, lane=COMPUTE, then=lambda outcome: _take(session, outcome))


def _take(session: Session, outcome: Done | Failed) -> None:
    """Finds the new fact from every opened stage that it is about."""
    if isinstance(outcome, Done):
        for stage in session.stages:
            if stage.opened is not None:
                load_facts(session, stage)
        session.facts_changed.emit()
