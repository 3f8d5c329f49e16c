"""Hashes that say whether something changed: files, the source model with all it needs, data sets.

*Why content and not times:* two people's checkouts of one project must find the same artifacts.
*Why a memo:* reading a 10 GB model again on every start costs seconds; a file whose size, time and
inode are unchanged is not read again.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

from studio.artifact import hash_file
from studio.errors import InputError
from studio.paths import cache_dir
from studio.recipes.source import SourceModel
from studio.records import to_json, write_atomically

_MEMO_SMALLEST = 4 << 20  # smaller files are hashed in milliseconds and not remembered
_MEMO_LARGEST_COUNT = 2000


def file_hash(path: Path) -> str:
    """The SHA-256 of a file, from the memo when the file is unchanged. Raises InputError."""
    try:
        stat = path.stat()
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror}.", hint="Check the path.") from None
    if stat.st_size < _MEMO_SMALLEST:
        return hash_file(path)
    memo_path = cache_dir() / "hashes.json"
    memo: dict[str, str] = {}
    with contextlib.suppress(OSError, ValueError):
        loaded = json.loads(memo_path.read_text())
        memo = loaded if isinstance(loaded, dict) else {}
    key = f"{path.resolve()}|{stat.st_size}|{stat.st_mtime_ns}|{stat.st_ino}"
    if key not in memo:
        memo[key] = hash_file(path)
        kept = dict(list(memo.items())[-_MEMO_LARGEST_COUNT:])
        with contextlib.suppress(InputError):  # a memo that cannot be written only costs time
            write_atomically(memo_path, json.dumps(kept).encode())
    return memo[key]


def digest(*parts: object) -> str:
    """One SHA-256 over records, dicts and strings, independent of dict order."""
    whole = hashlib.sha256()
    for part in parts:
        text = json.dumps(json.loads(to_json(part)), sort_keys=True, separators=(",", ":"))
        whole.update(len(text).to_bytes(8, "little") + text.encode())
    return whole.hexdigest()


def resolve(folder: Path, path: str) -> Path:
    """The absolute path of a project's file. Raises InputError when it does not exist."""
    try:
        full = (folder / path).resolve()
        is_there = full.exists()
    except (OSError, RuntimeError, ValueError):  # links in a circle, a name that no file can have
        full, is_there = folder / path, False
    if not is_there:
        raise InputError(f"The file {full} does not exist.", hint="Restore it or correct the project.")
    return full


def source_files(source: SourceModel, folder: Path) -> tuple[Path, ...]:
    """Every file that the source model is made of: itself, Python it imports, weights, external data."""
    main = resolve(folder, source.path)
    files = [main]
    if main.is_dir():
        raise InputError(f"{main} is a folder, not a model file.", hint="Name the file inside it.")
    if main.suffix == ".py":
        files += [file for file in imported_files(main) if file != main]
    if main.suffix == ".onnx":
        files += external_files(main)
    if source.weights:
        files.append(resolve(folder, source.weights))
    return tuple(files)


def source_fingerprint(source: SourceModel, folder: Path) -> str:
    """The hash of the source model's contents and of what names its parts (not of where it lies)."""
    root = resolve(folder, source.path).parent
    parts = []
    for file in source_files(source, folder):
        name = file.name if root not in file.parents else file.relative_to(root).as_posix()
        parts.append([name, file_hash(file)])
    return digest(parts, source.factory, source.inputs)


def imported_files(main: Path) -> tuple[Path, ...]:
    """The Python files beside `main` that it imports, also indirectly; found by reading, not running."""
    root = main.parent
    found: dict[Path, None] = {}
    queue = [main]
    while queue:
        file = queue.pop()
        if file in found:
            continue
        found[file] = None
        try:
            tree = ast.parse(file.read_text(encoding="utf-8"))
        except (OSError, SyntaxError, ValueError) as error:
            raise InputError(f"{file} is not valid Python: {error}.", hint="Correct the file.") from None
        for name in _imported_names(tree):
            base = root.joinpath(*name.split("."))
            candidates = [
                *(parent / "__init__.py" for parent in (base, *base.parents) if root in parent.parents)
            ]
            candidates += [base.with_suffix(".py"), base.parent.with_suffix(".py")]
            queue += [c for c in candidates if root in c.parents and c.is_file()]
    return tuple(sorted(found))


def _imported_names(tree: ast.AST) -> Iterable[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.module:
                yield node.module
            yield from (f"{node.module}.{a.name}" if node.module else a.name for a in node.names)


def external_files(model: Path) -> tuple[Path, ...]:
    """The external data files of an ONNX model. Raises InputError for one that is missing or outside."""
    import onnx
    from onnx.external_data_helper import ExternalDataInfo, _get_all_tensors, uses_external_data

    try:
        proto = onnx.load(str(model), load_external_data=False)
    except Exception as error:
        raise InputError(
            f"{model.name} is not a readable ONNX file: {str(error).splitlines()[0][:200]}.",
            hint="Check that the file is complete.",
        ) from None
    root = model.parent.resolve()
    names = {ExternalDataInfo(t).location for t in _get_all_tensors(proto) if uses_external_data(t)}
    files = []
    for name in sorted(names):
        file = (root / name).resolve()
        if root not in file.parents:
            raise InputError(
                f"{model.name} points at “{name}”, which is outside its folder.",
                hint="Save the model with its data beside it.",
            )
        if not file.is_file():
            raise InputError(
                f"{model.name} needs its external data “{name}”, which is not there.",
                hint=f"Copy the file to {root}.",
            )
        files.append(file)
    return tuple(files)
