"""Starts the jobs that touch devices: watching, deploying, the virtual phone."""

from __future__ import annotations

import contextlib

from studio.devices import RunSettings
from studio.jobs.job import Done, Failed
from studio.measure.live import LiveRun
from studio.project import edit
from studio.project.places import runs_dir
from studio.records import from_json
from studio.ui.domain_texts import translate_sentence
from studio.ui.job_runner import WATCH, device_lane
from studio.ui.recipe_jobs import when_trusted
from studio.ui.session import Session
from studio.ui.texts import fill

_LIVE_MS = 10.0
"""At most 100 inferences a second are told to the window; the run file has all of them."""


def watch_devices(session: Session) -> None:
    """Starts the job that tells which devices are there, for as long as the window lives."""
    from studio.jobs.watch_devices import WatchDevices

    session.start(WatchDevices(), title=session.tr("Watch devices"), lane=WATCH, quiet=True)


def deploy(session: Session, device_id: str, stage_id: str, settings: RunSettings) -> None:
    """Runs a stage's file on a device; remembers device and settings in the project."""
    project, stage = session.project, session.stage(stage_id)
    if project is None or stage is None or stage.path is None or device_id in session.run_jobs:
        return
    session.edit(
        lambda p: edit.set_devices(
            edit.set_run_settings(p, settings), (*[d for d in p.devices if d != device_id], device_id)
        ),
        session.tr("Run settings"),
        merge=True,
    )
    when_trusted(session, lambda: _start(session, device_id, stage_id, settings))


def stop(session: Session, device_id: str) -> None:
    """Ends the run on a device; what was measured is kept."""
    with contextlib.suppress(KeyError):
        session.cancel(session.run_jobs[device_id])


def _start(session: Session, device_id: str, stage_id: str, settings: RunSettings) -> None:
    from studio.jobs.deploy import DeployResult
    from studio.jobs.deploy_project import DeployProject

    stage = session.stage(stage_id)
    if stage is None or stage.path is None or session.folder is None:
        return
    artifact = stage.artifact
    spec = DeployProject(
        artifact_path=str(stage.path),
        settings=settings,
        project=session.project,
        folder=str(session.folder),
        stage_id=stage_id,
        artifact_format=artifact.format if artifact else "",
        artifact_sha256=artifact.sha256 if artifact else "",
        device_id=device_id,
        runs_dir=str(runs_dir(session.project_path)) if session.project_path else "",
        live_interval_ms=_LIVE_MS,
    )
    name = next((d.name for d in session.devices if d.id == device_id), device_id)
    title = fill(session.tr("Run on {device}"), device=translate_sentence(name))

    def take(outcome: Done | Failed) -> None:
        if isinstance(outcome, Done):
            result = from_json(bytes(outcome.result), DeployResult, where="deploy_project")
            session.last_results[device_id] = result

    session.last_results.pop(device_id, None)
    session.run_failures.pop(device_id, None)
    session.last_stages[device_id] = stage_id
    session.live[device_id] = LiveRun(device_id)
    job_id = session.start(spec, title=title, lane=device_lane(device_id), then=take)
    session.run_jobs[device_id] = job_id
    session.run_started.emit(device_id, job_id)


def connect(session: Session, address: str) -> None:
    """Watches devices anew, asking adb to connect to `host:port` first."""
    from studio.jobs.watch_devices import WatchDevices

    for job in session.jobs:
        if job.kind == "watch_devices" and not job.is_over:
            session.cancel(job.id)
    title = fill(session.tr("Connect to {address}"), address=address)
    session.start(WatchDevices(connect=(address,)), title=title, lane=WATCH, quiet=True)


def add_virtual_phone(session: Session, profile: str = "tensor-g3") -> None:
    """Serves a simulated phone for as long as the window lives; the watch sees it come."""
    from studio.jobs.virtual_phone import ServePhone

    session.start(ServePhone(profile=profile), title=session.tr("Virtual phone"), lane=WATCH)
