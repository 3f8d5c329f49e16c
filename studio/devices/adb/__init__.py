"""Phones over ADB: the server's wire, the shell, pushing files, and a run that survives the cable.

What lives here: `binary.py` (which adb), `server.py` (connection to the adb server), `listing.py`
(who is plugged in, and what each state asks of the user), `shell.py`, `sync.py`, `identity.py`,
`thermal.py`, `battery.py` and `telemetry.py` (what the phone tells about itself), `kit.py` and `elf.py`
(what must be there to run), `preparation.py` and `cache.py` (bringing it there once), `detached.py`
(a run that the cable cannot stop), `follower.py` (its stream), `benchmark_model.py` (LiteRT) and
`phone.py` (the Device).

Why not adbutils for all of it: its shell buffers or loses the exit code, tracking cannot be cancelled
and dies with the server, sizes are 32 bits and a failed push loses its reason. It connects phones
on TCP here, and brings the adb binary where there is none.
"""
