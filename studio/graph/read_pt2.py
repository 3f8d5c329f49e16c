"""Reads `.pt2` files: what torch.export saves.

The archive's JSON is read directly, without torch: nothing is executed or unpickled, it opens in
milliseconds, and operators this torch does not have are drawn all the same. Layouts: `models/*.json` with raw
weights beside it (torch 2.8 and newer), and `serialized_exported_program.json` (older; its weights are a
pickle, which is opened only when one is asked for). Format: torch/export/pt2_archive/constants.py.
"""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

from studio.errors import InputError
from studio.graph.builder import GraphBuilder
from studio.graph.graph import Graph
from studio.graph.pt2_program import ProgramReader
from studio.graph.pt2_schema import JSON_LIMIT, Program, decode
from studio.graph.pt2_weights import PickledWeights, StoredWeights, WeightFinder
from studio.graph.torch_archive import read_member

_MODEL = re.compile(r"(^|/)models/[^/]+\.json$")
_OLD_MODEL = "serialized_exported_program.json"


def read_pt2(path: Path) -> Graph:
    """The graph of an exported program. Raises InputError when the archive is damaged or holds none."""
    builder = GraphBuilder("pt2")
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        models = [n for n in names if _MODEL.search(n)]
        old = [n for n in names if n.rpartition("/")[2] == _OLD_MODEL]
        if not models and not old:
            raise InputError("The archive holds no exported program.", hint="Save it with torch.export.save.")
        program = decode(read_member(archive, (models or old)[0], limit=JSON_LIMIT), Program)
        if len(models) > 1:
            builder.note(f"The archive holds {len(models)} programs; the first is shown.")
        weights: WeightFinder
        if models:
            weights = StoredWeights(archive, path)
        else:
            pickles = [
                next(
                    (n for n in names if n.endswith((f"serialized_{kind}.pt", f"serialized_{kind}.json"))), ""
                )
                for kind in ("state_dict", "constants")
            ]
            weights = PickledWeights(archive, *pickles)
        builder.graph.producer = f"torch {program.torch_version}".strip()
        builder.graph.opsets = dict(program.opset_version)
        builder.graph.name = "main"
        ProgramReader(builder, program, weights).read_into(builder.subgraph("main"))
    return builder.finish()
