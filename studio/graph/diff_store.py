"""Saves a GraphDiff as one packed file: a worker compares, the window only loads."""

from __future__ import annotations

from pathlib import Path

from studio.errors import InputError
from studio.graph.diff import Change, GraphDiff
from studio.records import Record, read_packed, write_packed

_VERSION = 1
_ARRAYS = ("match_a", "match_b", "status_a", "status_b")


class _Head(Record):
    """Everything of a GraphDiff that is no array."""

    version: int
    changes: tuple[Change, ...]
    weights_compared: bool
    notes: tuple[str, ...]


def save_diff(diff: GraphDiff, path: Path) -> None:
    """Writes the diff, atomically. Raises InputError when the folder is not writable or full."""
    head = _Head(
        version=_VERSION, changes=diff.changes, weights_compared=diff.weights_compared, notes=diff.notes
    )
    write_packed(path, head, {name: getattr(diff, name) for name in _ARRAYS})


def load_diff(path: Path) -> GraphDiff:
    """The diff of a packed file. Raises InputError when it is damaged, absent or another version's."""
    try:
        head, arrays = read_packed(path, _Head)
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror}.", hint="Compare again.") from None
    if head.version != _VERSION or arrays.keys() != set(_ARRAYS):
        raise InputError(f"{path} is from another version of the studio.", hint="Compare again.")
    return GraphDiff(
        match_a=arrays["match_a"],
        match_b=arrays["match_b"],
        status_a=arrays["status_a"],
        status_b=arrays["status_b"],
        changes=head.changes,
        weights_compared=head.weights_compared,
        notes=head.notes,
    )
