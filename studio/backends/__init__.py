"""Tool chains that lower and run: one file per backend behind one small contract.

What lives here: `Backend` (the contract), `Availability`, the registry (a literal table plus the
entry-point group `deployment_studio.backends`), one file per tool chain, what their own profilers say of
single nodes (`profile_*.py`), and their inner results (`taps.py`). What does not: the
order of steps (`recipes`), hardware (`devices`), predictions without the tool (`support`).
A new backend touches: its file, one table line, its tests, its resources.
"""

from studio.backends.backend import Availability, Backend, Converted, LoadedModel, Report

__all__ = ["Availability", "Backend", "Converted", "LoadedModel", "Report"]
