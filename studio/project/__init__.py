"""The project file: what two people share in git.

What lives here: `Project` (record), `store.py` (load, save), `toml.py` (the text of it), `places.py`
(paths stay inside the folder), `create.py` (a new one with its default recipe), `edit.py` (functions
Project → Project and the undo list), `migrate.py` (old to new, on plain dicts), `trust.py` (which
folders may execute Python), `recovery.py` (what a crash left unsaved). What does not: artifacts
(found by hash in the cache), run contents (`measure`).
"""

from studio.project.project import SCHEMA, Bookmark, DataSet, Project, SourceModel

__all__ = ["SCHEMA", "Bookmark", "DataSet", "Project", "SourceModel"]
