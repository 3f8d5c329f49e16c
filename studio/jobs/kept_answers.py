"""Keeps what tools answered, so that an audit that was interrupted goes on where it stopped.

An answer is known by the file's bytes, the target, the SoC, the input shapes and the versions of the packages
(for LiteRT's plug-ins the vendor's SDK too) that gave it. Crashes and timeouts are not kept: they may be the
machine's fault, and are asked again.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from studio import paths
from studio.artifact import hash_file
from studio.backends.aot_plugins import PLUGINS, find_sdk
from studio.backends.ask import ToolAnswer
from studio.backends.packages import package_version
from studio.errors import InputError, StudioError
from studio.records import Record, from_json, to_json, write_atomically

SCHEME = 1
"""Raised whenever an asker in `studio.backends` would answer otherwise for the same file and package."""

_PACKAGES = {
    "executorch": ("executorch", "torch"), "litert": ("ai-edge-litert", "litert-torch"),
    "ort": ("onnxruntime",), "pytorch-mobile": ("torch",),
}  # fmt: skip


class Kept(Record):
    """One answer, or the words of the tool's refusal; neither where no tool answers for the file."""

    answer: ToolAnswer | None = None
    refusal: str = ""
    hint: str = ""


class KeptAnswers:
    """A folder of answers in the cache, one small file each, written whole or not at all."""

    def __init__(self) -> None:
        self._folder = paths.graphs_dir() / "answers"
        self._folder.mkdir(exist_ok=True)
        self._hashes: dict[Path, str] = {}

    def place(self, path: Path, target_id: str, soc: str, shapes: tuple[tuple[int, ...], ...]) -> Path:
        """Where the answer about a file lives. Raises InputError when the file cannot be read."""
        if path not in self._hashes:
            self._hashes[path] = hash_file(path)
        packages = _PACKAGES.get(target_id.split("/")[0], ())
        if target_id == "ort/qnn":
            packages = (*packages, "onnxruntime-qnn")
        versions = [package_version(name) for name in packages]
        if target_id in PLUGINS:
            sdk = find_sdk(PLUGINS[target_id], soc)
            versions += (
                [f"{sdk.folders[0]} {package_version(sdk.package) if sdk.package else ''}"] if sdk else []
            )
        key = repr((SCHEME, self._hashes[path], path.suffix, target_id, soc, shapes, versions))
        return self._folder / f"{hashlib.sha256(key.encode()).hexdigest()[:40]}.json"

    def load(self, place: Path) -> Kept | None:
        """What was kept there; None when nothing was, or when it is damaged."""
        try:
            return from_json(place.read_bytes(), Kept, where=str(place))
        except (OSError, StudioError):
            return None

    def save(self, place: Path, kept: Kept) -> None:
        """Keeps an answer; a full disk costs only that it will be asked again."""
        try:
            write_atomically(place, to_json(kept).encode())
        except InputError:
            return
