"""LiteRT's NNAPI delegate: Android level, op version, rank and shape; the rest of its checks as condition.

Source: github:google-ai-edge/LiteRT@f67457790:tflite/delegates/nnapi/nnapi_delegate.cc (table
`tflite_nnapi_delegate`). Which operators a phone's driver takes is known only there.
"""

from __future__ import annotations

import re

from studio.support.op_node import OpNode
from studio.support.rules.by_table import dynamic
from studio.support.ruling import Ruling, Setting, depends, refuses
from studio.support.tables import load_table

DEFAULT_LEVEL = 30


def judge_node(node: OpNode, setting: Setting) -> Ruling:
    """Whether the NNAPI delegate may take the node."""
    table = load_table("tflite_nnapi_delegate")
    row = table.find(node.op)
    if row is None:
        return refuses(f"The NNAPI delegate has no {node.op}.", table.cite_absence())
    source = table.cite(row)
    level = setting.android_level or DEFAULT_LEVEL
    if row.level > level:
        return refuses(f"{node.op} needs Android API {row.level}, the phone has {level}.", source)
    if found := dynamic(node, "NNAPI", source):
        return found
    match = re.search(r"op version <= (\d+)", row.condition)
    if match and node.version > int(match[1]):
        return refuses(f"Op version {node.version}; the delegate reads up to {match[1]}.", source)
    if "rank must be <= 4" in row.condition and (node.input(0).rank or 0) > 4:
        return refuses(f"Rank {node.input(0).rank}: at most 4.", source, "rank5-to-4")
    if any(t.dtype in ("int64", "float64") and not t.is_constant for t in node.inputs):
        return refuses("NNAPI has no 64-bit tensors.", source)
    return depends(f"The NNAPI delegate has {node.op} if its checks pass ({row.condition or 'none listed'}); "
                   "then the phone's driver decides.", source)  # fmt: skip
