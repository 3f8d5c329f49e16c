"""Phones over ADB: the server's wire, the shell, pushing files, and a run that survives the cable.

What lives here: `binary.py` (which adb), `server.py` (connection to the adb server), `listing.py`
(who is plugged in, and what each state asks of the user), `shell.py`, `sync.py`, `identity.py`,
`thermal.py`, `battery.py` and `telemetry.py` (what the phone tells about itself), `kit.py` (what must
be pushed to run), `cache.py`, `preparation.py` and
`detached.py` (a run on the phone, followed by byte offset), `follower.py`, `phone.py` (the Device).

Why not adbutils for all of it: it brings the adb binary and the pinned protocol knowledge, but its
shell buffers or loses the exit code, tracking cannot be cancelled and dies with the server, sizes
are 32 bits and a failed push loses its reason. What it does well (connect, forward) it does here.
"""
