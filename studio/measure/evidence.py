"""What a run file says of where the model's nodes ran: the measured half of a verdict.

Only the head of the file is read, up to the first inference. A load alone proves nothing: without one
inference there is no evidence, except when the device refused the file.

Why from the run files and not in the project: a run is a fact with device, driver, runtime, date and the
artifact's hash, it is only ever added, and teammates' runs merge without a conflict.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from studio.devices.stream import (
    Hello,
    Inference,
    Loaded,
    Output,
    PlacedNode,
    Placement,
    Summary,
    Warm,
    decode_record,
)
from studio.errors import InputError
from studio.measure.run_file import list_runs
from studio.records import Choice
from studio.targets import TARGETS

_MOST_LINES = 2_000  # of a head: loading, phases, telemetry; real ones have about ten


class Share(Choice):
    """How much of the artifact ran on the target that was asked for."""

    ALL = "all"
    NONE = "none"  # something else ran: the commonest lie of runtimes
    NODES = "nodes"  # node by node
    FILE = "file"  # as the file itself says: its delegates are there, and they ran
    COUNTS = "counts"  # some, and nobody says which
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class RunEvidence:
    """One run's word: who, on what, when, and which nodes. `artifact_sha256` says of which file."""

    path: Path
    hello: Hello
    share: Share
    nodes: tuple[PlacedNode, ...] = ()
    words: str = ""
    delegated: int | None = None
    total: int | None = None
    refused: str = ""

    @property
    def soc(self) -> str:
        """The SoC as the device names it, or the processor of this computer; empty when not known."""
        return _text(self.hello, "soc")

    @property
    def is_of_simulated(self) -> bool:
        """Whether a simulated phone said so."""
        return self.hello.is_simulated or self.hello.device.get("is_simulated") is True

    @property
    def source(self) -> str:
        """ "measured on Pixel 8, Tensor G3, ONNX Runtime 1.32.0, 2026-11-30", as far as it is known; "refused
        on …" when it did not run."""
        hello = self.hello
        name = _text(hello, "name") or hello.device_id
        chip = _text(hello, "soc_marketing") or self.soc
        mark = " (simulated)" if self.is_of_simulated else ""
        parts = (name + mark, chip, _text(hello, "driver"), hello.runtime, hello.wall_time[:10])
        verb = "refused on" if self.refused else "measured on"
        return f"{verb} {', '.join(part for part in parts if part)}"


def evidence_of(path: Path) -> RunEvidence | None:
    """What the run of a file says; None when it never ran. Raises InputError when it cannot be read."""
    hello: Hello | None = None
    loaded: Loaded | None = None
    placement = Placement(t_ns=0)
    has_run = False
    try:
        with path.open("rb") as file:
            for line, _ in zip(file, range(_MOST_LINES)):
                if not line.endswith(b"\n") or line.startswith(b'{"type":"compared"'):
                    break
                record = decode_record(line, where=str(path))
                if isinstance(record, Hello):
                    hello = hello or record
                elif isinstance(record, Loaded):
                    loaded = record
                elif isinstance(record, Placement):
                    placement = record
                elif isinstance(record, Inference | Output | Summary) or (
                    isinstance(record, Warm) and record.runs
                ):
                    has_run = True
                    break
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror}.", hint="Check the path.") from None
    if hello is None or not hello.artifact_sha256 or hello.target not in TARGETS:
        return None
    if placement.refused:
        return RunEvidence(path, hello, Share.REFUSED, refused=placement.refused)
    if not has_run or loaded is None:
        return None
    share = _share(hello, loaded, placement)
    return RunEvidence(
        path=path,
        hello=hello,
        share=share,
        nodes=placement.nodes,
        words=loaded.evidence,
        delegated=loaded.total_nodes if share is Share.ALL else loaded.delegated_nodes,
        total=loaded.total_nodes,
    )


def newest_evidence(paths: Iterable[Path]) -> tuple[RunEvidence, ...]:
    """The newest word per artifact, target and kind of device (SoC, else device), the newest last.

    A file that cannot be read is left out: `read_run` tells why where runs are listed.
    """
    newest: dict[tuple[str, str, str, bool], RunEvidence] = {}
    for path in paths:
        try:
            found = evidence_of(path)
        except InputError:
            continue
        if found is None:
            continue
        hello = found.hello
        key = (hello.artifact_sha256, hello.target, found.soc or hello.device_id, found.is_of_simulated)
        if key not in newest or newest[key].hello.wall_time <= hello.wall_time:
            newest[key] = found
    return tuple(sorted(newest.values(), key=lambda e: e.hello.wall_time))


def evidence_in(*folders: Path) -> tuple[RunEvidence, ...]:
    """The newest evidence of all run files in the folders; those that do not exist hold none."""
    return newest_evidence(path for folder in folders for path in list_runs(folder))


def _share(hello: Hello, loaded: Loaded, placement: Placement) -> Share:
    if loaded.target_ran and loaded.target_ran != hello.target:
        return Share.NONE
    if placement.nodes:
        return Share.NODES
    if placement.is_whole or hello.target == "ort/cpu":  # a session of the CPU has no other provider
        return Share.ALL
    if hello.artifact_format == "pte":
        return Share.FILE
    if loaded.total_nodes and loaded.delegated_nodes == loaded.total_nodes:
        return Share.ALL
    return Share.COUNTS


def _text(hello: Hello, key: str) -> str:
    value = hello.device.get(key)
    return value if isinstance(value, str) else ""


def same_chip(wanted: str, found: str) -> bool:
    """Whether two names mean one SoC: spelling of case and of spaces does not count."""
    return wanted.casefold().split() == found.casefold().split()
