"""From the plain tables of an old project file to those of today's schema.

One pure function per step of the schema, on dicts, so that a migration never depends on records
that change later. `tests/projects/` keeps one saved file per version for ever.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from studio.errors import InputError
from studio.project.project import SCHEMA

Tables = dict[str, Any]

MIGRATIONS: Mapping[int, Callable[[Tables], Tables]] = {}
"""`n -> function from schema n to n + 1`. Empty: schema 1 is the first."""


def migrate(
    tables: Tables,
    *,
    where: str,
    schema: int = SCHEMA,
    migrations: Mapping[int, Callable[[Tables], Tables]] = MIGRATIONS,
) -> Tables:
    """The tables in today's schema; the argument is not changed.

    Raises InputError when the file says no schema, or a newer one than this version knows.
    """
    found = schema_of(tables, where=where)
    if found > schema:
        raise InputError(
            f"{where} was saved by a newer version (schema {found}; this version reads up to {schema}).",
            hint="Update deployment-studio; the file was not changed.",
        )
    result = dict(tables)
    for version in range(found, schema):
        if version not in migrations:
            raise InputError(f"{where} has schema {version}, which never was.", hint="Restore a copy.")
        result = migrations[version](result)
        result["schema"] = version + 1
    return result


def schema_of(tables: Tables, *, where: str) -> int:
    """The schema a project file says it has. Raises InputError when it says none."""
    found = tables.get("schema")
    if not isinstance(found, int) or isinstance(found, bool) or found < 1:
        raise InputError(
            f"{where} is not a project: it has no “schema” number.",
            hint="Make a project with: deployment-studio new NAME.studio --model FILE",
        )
    return found
