"""Reads ETRecords: the archive that ExecuTorch writes beside a `.pte` file, without executing anything.

Opened by itself it is the edge-dialect graph, the one before delegation; `record_for` finds and checks the
record of a program. The weights in it are pickles, opened only when one is asked for.
"""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from studio.errors import InputError
from studio.graph.builder import GraphBuilder
from studio.graph.etrecord import DelegateMap, EtRecord, MethodOrigins, as_list
from studio.graph.flatbuffer import Table
from studio.graph.graph import Graph
from studio.graph.onnx_tensors import short
from studio.graph.pt2_program import ProgramReader
from studio.graph.pt2_schema import JSON_LIMIT, Program, decode
from studio.graph.pt2_weights import PickledWeights
from studio.graph.torch_archive import BROKEN_ARCHIVE, read_member

MARK = "ETRECORD_V0"
"""The empty member by which a record is known."""

_EDGE = "edge_dialect_exported_program"
_PARTS = ("_state_dict", "_constants", "_example_inputs")


def read_etrecord(path: Path) -> Graph:
    """The edge-dialect graph of a record: methods as subgraphs. Raises InputError when it is damaged."""
    return open_record(path).graph


def open_record(path: Path, relative: str = "") -> EtRecord:
    """The record in a file; `relative` is its path from the model's folder, for its weights.

    Raises InputError when it is damaged or no record.
    """
    builder = GraphBuilder("etrecord")
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
            methods = _methods(names)
            if MARK not in names or not methods:
                raise InputError(
                    f"{path.name} is not an ETRecord.", hint="Choose what generate_etrecord wrote."
                )
            builder.graph.name = next(iter(methods))
            builder.graph.producer = "ExecuTorch"
            for method in methods:
                builder.subgraph(method)
            handles = {
                method: _read_method(archive, member, builder, index)
                for index, (method, member) in enumerate(methods.items())
            }
            instructions = _json(archive, names, "debug_handle_map", dict[str, dict[str, int | list[int]]])
            delegates = _json(archive, names, "delegate_map", dict[str, dict[str, DelegateMap]])
    except BROKEN_ARCHIVE:
        raise InputError(f"{path.name} is a damaged ETRecord.", hint="Write it again.") from None
    graph = builder.finish()
    return EtRecord(
        graph,
        {
            method: MethodOrigins(
                graph, handles[method],
                {int(k): as_list(v) for k, v in instructions.get(method, {}).items() if k.isdecimal()},
                {int(k): v for k, v in delegates.get(method, {}).items() if k.isdecimal()},
                relative,
            )
            for method in methods
        },
    )  # fmt: skip


def record_for(
    path: Path, etrecord: Path | None, plans: Sequence[Table], builder: GraphBuilder
) -> EtRecord | None:
    """The record of a program: the one that was named, else one beside the file, when there is one.

    A named one that belongs to another program raises InputError; one that was only found becomes a note.
    """
    chosen = etrecord or record_beside(path)
    if chosen is None:
        return None
    if not chosen.is_file():
        raise InputError(f"There is no file {chosen}.", hint="Check the path.")
    inside = chosen.resolve().parent == path.resolve().parent
    try:
        record = open_record(chosen, chosen.name if inside else "")
    except InputError as error:
        if etrecord is not None:
            raise
        builder.note(f"{error.message} It is not used.")
        return None
    if record.fits(plans):
        builder.graph.metadata["etrecord"] = chosen.name
        builder.note(f"Modules, lines and what delegates were made from come from {short(chosen.name)}.")
        return record
    if etrecord is not None:
        raise InputError(
            f"{chosen.name} is the record of another program than {path.name}.",
            hint="Name the ETRecord that was written together with this file.",
        )
    builder.note(f"{short(chosen.name)} is not used: it is the record of another program.")
    return None


def record_beside(path: Path) -> Path | None:
    """The ETRecord that lies beside a `.pte` file, by the names that are usual for it."""
    names = (
        f"{path.stem}.etrecord",
        f"{path.stem}_etrecord.bin",
        f"{path.stem}.etrecord.bin",
        "etrecord.bin",
    )
    return next((found for name in names if (found := path.parent / name).is_file()), None)


def _methods(names: set[str]) -> dict[str, str]:
    """method → member; records of before 1.0 hold one, without its name."""
    found = {
        name.partition("/")[2]: name
        for name in sorted(names)
        if name.startswith(f"{_EDGE}/") and not name.endswith(_PARTS)
    }
    return found or ({"forward": _EDGE} if _EDGE in names else {})


def _read_method(
    archive: zipfile.ZipFile, member: str, builder: GraphBuilder, subgraph: int
) -> dict[int, list[int]]:
    """Reads a program into a subgraph; nodes by debug handle."""
    program = decode(read_member(archive, member, limit=JSON_LIMIT), Program)
    weights = PickledWeights(archive, f"{member}_state_dict", f"{member}_constants")
    reader = ProgramReader(builder, program, weights)
    reader.read_into(subgraph)
    result: dict[int, list[int]] = {}
    for node, handles in reader.handles.items():
        for handle in handles:
            result.setdefault(handle, []).append(node)
    return result


def _json(archive: zipfile.ZipFile, names: set[str], member: str, kind: Any) -> Any:
    return decode(read_member(archive, member, limit=JSON_LIMIT), kind) if member in names else {}
