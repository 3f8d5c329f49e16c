"""Who connects: only the user whose phone it is may, since its shell runs with that user's rights.

The phone listens on 127.0.0.1, which every user of this computer reaches, and proot is no wall.
The kernel knows the owner of each socket: `/proc/net/tcp` (proc(5): local address in hexadecimal,
uid in the eighth column).
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

_TABLE = Path("/proc/net/tcp")


def is_own_user(writer: asyncio.StreamWriter, table: Path = _TABLE) -> bool:
    """Whether the other end of a local connection belongs to this process's user."""
    peer = writer.get_extra_info("peername")
    return peer is not None and owner_of(int(peer[1]), table) == os.getuid()


def owner_of(port: int, table: Path = _TABLE) -> int | None:
    """The user id that owns the socket bound to 127.0.0.1:`port`, None when there is none."""
    wanted = f"0100007F:{port:04X}"  # 127.0.0.1 as the kernel prints it on a little-endian machine
    try:
        rows = table.read_text().splitlines()[1:]
    except OSError:
        return None
    for row in rows:
        fields = row.split()
        if len(fields) > 7 and fields[1] == wanted:
            return int(fields[7])
    return None
