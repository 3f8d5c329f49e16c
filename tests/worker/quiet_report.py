"""A Report that tells nobody, and can ask to stop."""

from __future__ import annotations


class Quiet:
    """A Report; `stop_at` a stage whose name begins so."""

    def __init__(self, stop_at: str = "never") -> None:
        self._stop_at = stop_at
        self._stopped = False

    def progress(self, stage: str, done: int, total: int | None = None, unit: str = "") -> None:
        self._stopped = self._stopped or stage.startswith(self._stop_at)

    def log(self, text: str) -> None: ...
    def emit(self, event: object) -> None: ...
    def should_stop(self) -> bool:
        return self._stopped
