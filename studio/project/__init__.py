"""The project file: what two people share in git.

What lives here: `Project` (record), `store.py` (load, save), `edit.py` (functions Project → Project
and the undo list), `migrate.py` (old to new, on plain dicts), `trust.py` (which folders may execute
Python), `recovery.py`. What does not: artifacts (found by hash in the cache), run contents (`measure`).
"""

from studio.project.project import Bookmark, DataSet, Project, SourceModel

__all__ = ["Bookmark", "DataSet", "Project", "SourceModel"]
