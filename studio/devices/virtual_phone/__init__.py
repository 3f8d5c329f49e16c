"""The virtual phone: the device side of ADB, spoken to by the real adb, over a small Android-like root.

What lives here: `profile.py` (what a phone says of itself, as data), `root.py` (its file system),
`heat.py` (it warms up and throttles), `packets.py`, `connection.py`, `shell_service.py` and
`sync_service.py` (the protocol), `peer.py` (who may connect), `faults.py` (cables pulled on purpose),
`daemon.py` (the process inside the root) and `serve.py` (starts it). It serves the tests, and a
newcomer without a phone.

Why proot: the daemon and all it starts see `/data/local/tmp`, `/sys` and `/system/bin` where a phone
has them, without root rights; mksh and toybox are Android's own shell and userland. Everything that is
measured here is marked as simulated: heat, clocks and battery are a model, and the processor is
this computer's.
"""

from studio.devices.virtual_phone.profile import PhoneProfile, load_profile, profile_ids
from studio.devices.virtual_phone.serve import VirtualPhone, serve

__all__ = ["PhoneProfile", "VirtualPhone", "load_profile", "profile_ids", "serve"]
