"""Apply a fix to a file: what the button in the window and `deployment-studio fix` both do."""

from __future__ import annotations

from pathlib import Path

from studio.backends.quiet import quiet
from studio.jobs.job import Report
from studio.recipes.fixes import FixOptions, FixOutcome, apply_fix, find_fix
from studio.records import Record


class ApplyFix(Record):
    """Which fix on which ONNX file, written where; verdicts before and after for `targets`."""

    path: str
    fix: str
    out: str
    options: FixOptions = FixOptions()
    targets: tuple[str, ...] = ()


def run(spec: ApplyFix, report: Report) -> FixOutcome:
    """Rewrites, proves, writes. Raises UnsupportedError when it is refused."""
    report.progress(find_fix(spec.fix).title, 0)
    with quiet():
        return apply_fix(Path(spec.path), spec.fix, Path(spec.out), spec.options, targets=spec.targets)
