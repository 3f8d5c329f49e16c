"""Opens mutations of one model file in a process with little memory, one JSON line each.

    python fuzz_reader.py SEED_FILE FOLDER FIRST LAST MEGABYTES

Run by `test_fuzz_readers.py`, which watches the clock. A line "begin" comes before every mutation, so that
whoever reads them knows which one a crash belongs to; the mutated file stays in FOLDER as evidence.
"""

from __future__ import annotations

import contextlib
import copy
import importlib
import io
import json
import random
import resource
import sys
import traceback
import zipfile
from pathlib import Path
from typing import Any

from studio.errors import InputError
from studio.graph import Graph, node_costs, open_graph
from studio.graph.formats import READERS
from studio.graph.layout import lay_out
from studio.graph.scopes import initial_view
from studio.graph.store import load_graph, save_graph
from studio.graph.tensor_statistics import statistics_of
from studio.graph.weights import read_tensor

WORDS = (
    b"\xff\xff\xff\xff",
    b"\xff\xff\xff\x7f",
    b"\0\0\0\0",
    b"\0\0\0\x80",
    b"\1\0\0\0",
    b"\xff\xff\xff\xff" * 2,
)
ODD: tuple[Any, ...] = (
    -1,
    0,
    1 << 31,
    1 << 62,
    1 << 70,
    1e300,
    None,
    True,
    "",
    "\u202e😀",
    "a" * 5_000,
    [],
    {},
    [[]],
)


def mutate(data: bytes, seed: int) -> bytes:
    """The file with some bytes, archive members or JSON values changed, by seed."""
    rng = random.Random(seed)
    if data[:4] == b"PK\x03\x04" and rng.random() < 0.8:
        return _archive(data, rng)
    if data[8:9] == b"{" and rng.random() < 0.6:  # safetensors: length, JSON, weights
        length = int.from_bytes(data[:8], "little")
        header = _json(data[8 : 8 + length], rng)
        return len(header).to_bytes(8, "little") + header + data[8 + length :]
    return _bytes(data, rng)


def _bytes(data: bytes, rng: random.Random) -> bytes:
    result = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 8])):
        if not result:
            break
        # Heads hold the counts and offsets; weights in the middle hold nothing to get wrong.
        reach = min(len(result), rng.choice([64, 1_500, len(result)]))
        at = rng.choice([rng.randrange(reach), len(result) - 1 - rng.randrange(reach)])
        kind = rng.choice([0, 0, 1, 1, 2, 3, 4, 5, 5, 6])
        if kind == 0:
            result[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            result[at] = rng.choice([0, 1, 127, 128, 255])
        elif kind == 2:
            del result[at : at + rng.choice([1, 4, 100, len(result)])]
        elif kind == 3:
            result[at:at] = rng.randbytes(rng.choice([1, 4, 16]))
        elif kind == 4:
            piece = result[at : at + rng.choice([4, 16, 200])]
            there = rng.randrange(len(result))
            result[there : there + len(piece)] = piece
        else:
            at -= at % 4 if kind == 5 else 0
            word = rng.choice([*WORDS, rng.randbytes(4)])
            result[at : at + len(word)] = word
    return bytes(result)


def _archive(data: bytes, rng: random.Random) -> bytes:
    """The archive with one member changed and everything's checksum right again."""
    source = zipfile.ZipFile(io.BytesIO(data))
    names = source.namelist()
    changed = rng.choice([n for n in names if source.getinfo(n).file_size] or names)
    texts = [n for n in names if n.endswith((".json", ".pkl", ".py"))]
    if texts and rng.random() < 0.7:
        changed = rng.choice(texts)
    fate = rng.randrange(12)
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name in names:
            content = source.read(name)
            if name == changed and fate == 0:
                continue
            if name == changed and fate == 1:
                content = b""
            elif name == changed and content[:1] == b"{":
                content = _json(content, rng) if rng.random() < 0.9 else _bytes(content, rng)
            elif name == changed:
                content = _bytes(content, rng)
            archive.writestr(name, content)
    return target.getvalue()


def _json(content: bytes, rng: random.Random) -> bytes:
    try:
        tree = json.loads(content)
    except ValueError:
        return _bytes(content, rng)
    for _ in range(rng.choice([1, 1, 3])):
        places = [*_places(tree)]
        if not places:
            break
        owner, key = rng.choice(places)
        fate = rng.randrange(4)
        if fate == 0:
            del owner[key]
        elif fate == 1:
            other, its = rng.choice(places)
            owner[key] = (
                json.loads(json.dumps(other[its])) if other is not owner else copy.deepcopy(rng.choice(ODD))
            )
        elif fate == 2 and isinstance(owner[key], int):
            owner[key] = rng.choice([owner[key] + 1, -owner[key], owner[key] << 20, 1 << 62, -(1 << 63)])
        else:
            owner[key] = copy.deepcopy(rng.choice(ODD))
    return json.dumps(tree).encode()


def _places(tree: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) of a JSON tree."""
    found: list[tuple[Any, Any]] = []
    stack = [tree]
    while stack:
        here = stack.pop()
        if isinstance(here, (dict, list)):
            keys = list(here) if isinstance(here, dict) else range(len(here))
            found += [(here, key) for key in keys]
            stack += [here[key] for key in keys]
    return found


VALUES = 12
"""Constants of a file whose values are read as well."""


def read_values(graph: Graph) -> None:
    """The values of the first constants, or a sentence for each; loading TorchScript again costs too much."""
    if graph.format in ("pt", "ptl"):
        return
    for tensor in list(graph.tensor_data)[:VALUES]:
        with contextlib.suppress(InputError):
            statistics_of(read_tensor(graph, tensor))


def open_whole(path: Path, folder: Path) -> int:
    """The node count, after everything that opening a file does with it."""
    graph = open_graph(path)
    save_graph(graph, folder / "packed")
    assert load_graph(folder / "packed").node_op == graph.node_op
    node_costs(graph)
    read_values(graph)
    layout = lay_out(graph, initial_view(graph))
    assert len(layout.item_x) == len(layout.item_kind)
    return graph.node_count


def main(seed_file: str, folder: str, first: str, last: str, megabytes: str) -> None:
    data = Path(seed_file).read_bytes()
    path = Path(folder) / "mutated"
    path.write_bytes(data)
    open_whole(path, Path(folder))  # what libraries map for good is not counted below
    for module in READERS.values():
        importlib.import_module(module.partition(":")[0])
    with open("/proc/self/statm") as file:
        mapped = int(file.read().split()[0]) * resource.getpagesize()
    limit = mapped + int(megabytes) * 1024 * 1024
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    out = sys.__stdout__
    assert out is not None
    for seed in range(int(first), int(last)):
        path.write_bytes(mutate(data, seed))
        print(json.dumps({"seed": seed, "end": "begin"}), file=out, flush=True)
        try:
            result = {"end": "graph", "text": str(open_whole(path, Path(folder)))}
        except InputError as error:
            result = {"end": "refused", "text": error.message}
        except BaseException:
            result = {"end": "bug", "text": traceback.format_exc()[-3_000:]}
        print(json.dumps({"seed": seed, **result}), file=out, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
