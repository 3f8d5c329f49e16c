"""Verdict, Reason and TargetVerdicts: what one target does with every node of a graph.

Three tiers, the stronger wins: rule (tables and per-attribute checks), tool (the real
partitioner or compiler asked about this very graph), measured (what a device did).
Unknown is never shown as yes or no.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from studio.records import Choice, Record, read_packed, write_packed

Ints = npt.NDArray[np.int32]


class Verdict(Choice):
    """What happens to a node on a target."""

    RUNS = "runs"
    CONDITIONAL = "conditional"
    FALLS_BACK = "falls_back"
    FAILS = "fails"
    UNKNOWN = "unknown"


VERDICTS = tuple(Verdict)
"""Order of the codes in `TargetVerdicts.codes`."""


class Tier(Choice):
    """Who says so."""

    RULE = "rule"
    TOOL = "tool"
    MEASURED = "measured"


class Reason(Record):
    """Why: a sentence, its evidence, and ids of fixes that apply (see `support.fixes`)."""

    text: str
    source: str
    tier: Tier = Tier.RULE
    fixes: tuple[str, ...] = ()
    vanishes: bool = False  # folded, fused or removed: nothing is left when the target is asked


class Partition(Record):
    """A run of nodes that the accelerator takes as one."""

    nodes: tuple[int, ...]
    macs: int | None = 0  # None: some node's are not known
    weight_bytes: int = 0
    boundary_in_bytes: int = 0
    boundary_out_bytes: int = 0
    unknown_sizes: int = 0  # tensors at its borders that count 0 in the bytes: the true figure is larger


class Evidence(Record):
    """What one run on a device says about a graph on a target; node numbers are of the judged graph.

    Runtime and artifact decide which nodes are known: `taken` and `left` may both be empty while the
    counts are known, and a run that was `refused` knows no nodes.
    """

    source: str  # “measured on Pixel 8, Tensor G3, ONNX Runtime 1.32.0, 2026-11-30”
    soc: str = ""
    is_simulated: bool = False
    applies: bool = False  # stands over rule and tool; else it is only shown, being of another SoC
    file: str = ""  # the artifact that ran, when it is not the judged file itself
    words: str = ""  # the runtime's own
    taken: tuple[int, ...] = ()
    left: tuple[int, ...] = ()
    delegated: int | None = None  # of `total` nodes of the artifact
    total: int | None = None
    refused: str = ""  # why the device did not run it at all


class _Head(Record):
    target_id: str
    reasons: tuple[Reason, ...]
    partitions: tuple[Partition, ...]
    cuts: dict[str, str]
    macs_share: float | None
    evidence: tuple[Evidence, ...] = ()


@dataclass(slots=True, eq=False)
class TargetVerdicts:
    """The verdicts of one target as columns: per node a code and an index into `reasons`."""

    target_id: str
    codes: npt.NDArray[np.uint8]  # index into VERDICTS, [node_count]
    reason_of: Ints  # index into reasons, [node_count]
    reasons: tuple[Reason, ...]
    partitions: tuple[Partition, ...] = ()
    partition_of: Ints = field(default_factory=lambda: np.zeros(0, np.int32))  # −1 = in none
    cuts: dict[str, str] = field(default_factory=dict)  # node label → sentence, e.g. "1 → 3 partitions"
    macs_share: float | None = None  # share of MACs kept on the accelerator, None = not all known
    evidence: tuple[Evidence, ...] = ()  # what runs say, the newest last
    is_inside: npt.NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))
    """[node_count] nodes inside a compiled call, which is counted for them; empty = there are none."""

    def verdict(self, node: int) -> Verdict:
        return VERDICTS[int(self.codes[node])]

    def reason(self, node: int) -> Reason:
        return self.reasons[int(self.reason_of[node])]

    def counts(self) -> dict[str, int]:
        """How many nodes have each verdict; every verdict is a key. A compiled call counts as one node."""
        codes = self.codes[~self.is_inside] if len(self.is_inside) else self.codes
        found = np.bincount(codes, minlength=len(VERDICTS))
        return {str(v): int(found[i]) for i, v in enumerate(VERDICTS)}

    def save(self, path: Path) -> None:
        """Writes the verdicts as one packed file."""
        head = _Head(
            target_id=self.target_id,
            reasons=self.reasons,
            partitions=self.partitions,
            cuts=self.cuts,
            macs_share=self.macs_share,
            evidence=self.evidence,
        )
        write_packed(
            path,
            head,
            {
                "codes": self.codes,
                "reason_of": self.reason_of,
                "partition_of": self.partition_of,
                "is_inside": self.is_inside,
            },
        )

    @staticmethod
    def load(path: Path) -> TargetVerdicts:
        """Reads what `save` wrote."""
        head, arrays = read_packed(path, _Head)
        return TargetVerdicts(
            target_id=head.target_id,
            codes=arrays["codes"],
            reason_of=arrays["reason_of"],
            reasons=head.reasons,
            partitions=head.partitions,
            partition_of=arrays["partition_of"],
            cuts=head.cuts,
            macs_share=head.macs_share,
            evidence=head.evidence,
            is_inside=arrays.get("is_inside", np.zeros(0, np.bool_)),
        )
