"""How big the boxes of a layout are: the one place for sizes in pixels at zoom 1.

Text is not measured here, since layouts are made without a window: widths come from the number of
characters, at the mean advance of a 13 px (operator) and 11 px (name) sans serif. East Asian wide
characters count twice. The painter elides what does not fit.
"""

from __future__ import annotations

import unicodedata

NODE_WIDTH = 176.0
NODE_WIDTH_MAX = 256.0
NODE_HEIGHT = 44.0
SCOPE_HEIGHT = 52.0
PILL_WIDTH = 88.0
PILL_WIDTH_MAX = 320.0
PILL_HEIGHT = 28.0
FRAME_PAD = 16.0
FRAME_TITLE = 24.0

_OP_ADVANCE = 8.0
NAME_ADVANCE = 6.4
_ROUND = 16.0


def text_columns(text: str, limit: int = 64) -> int:
    """Width of the first `limit` characters of a text, in columns of a Latin letter."""
    head = text[:limit]
    if head.isascii():
        return len(head)
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in head)


def node_width(op: str) -> float:
    """Width of a node's box: room for bar, operator and verdict icon. Capitals are wider."""
    capitals = sum(c.isupper() for c in op[:64])
    return _clamp(text_columns(op) * _OP_ADVANCE + capitals * 1.2 + 52, NODE_WIDTH, NODE_WIDTH_MAX)


def scope_width(title: str, kind: str) -> float:
    """Width of a collapsed scope's box."""
    wanted = max(text_columns(title) * _OP_ADVANCE + 76, text_columns(kind) * NAME_ADVANCE + 84)
    return _clamp(wanted, NODE_WIDTH, NODE_WIDTH_MAX)


def pill_width(name: str, shape: str) -> float:
    """Width of a graph input's or output's pill: name and shape on one line."""
    return _clamp((text_columns(name) + len(shape[:40])) * NAME_ADVANCE + 44, PILL_WIDTH, PILL_WIDTH_MAX)


def _clamp(wanted: float, least: float, most: float) -> float:
    rounded = -(-wanted // _ROUND) * _ROUND
    return float(min(max(rounded, least), most))
