"""The TOML text of a record: every setting on lines of its own, in declared order.

Why a writer of our own: git merges two edits only when an unchanged line stands between them, so
every setting is followed by a blank line, and lists of names have a line per name. Lists of tables always
have the same shape (a general writer turns short tables into inline ones, and the diff jumps).
Values that are empty and whose default is empty are left out.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import msgspec

from studio.errors import InputError
from studio.records import Record

if sys.version_info >= (3, 11):
    import tomllib
else:  # the same reader under its earlier name
    import tomli as tomllib

_ESCAPES = {"\\": "\\\\", '"': '\\"', "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def read_toml(data: bytes, *, where: str) -> dict[str, Any]:
    """The tables of a TOML text as plain dicts. Raises InputError naming `where` and the line."""
    try:
        return tomllib.loads(data.decode())
    except UnicodeDecodeError:
        raise InputError(f"{where} is not a text file.", hint="Choose a .studio project file.") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(
            f"{where} cannot be read: {error}.", hint="Correct that line or restore a copy."
        ) from None
    except RecursionError:
        raise InputError(f"{where} is nested too deeply.", hint="Restore a copy.") from None


def write_toml(record: Record) -> str:
    """The text of a record; the same record always gives the same bytes."""
    lines: list[str] = []
    _write_table(record, "", lines)
    return "\n".join(lines).rstrip("\n") + "\n"


def _write_table(record: Record, path: str, lines: list[str]) -> None:
    """Plain settings first, then sub-tables, then lists of tables: the order TOML asks for."""
    config = record.__struct_config__
    if config.tag_field is not None:
        lines += [f"{config.tag_field} = {_scalar(config.tag)}", ""]
    tables: list[tuple[str, Any]] = []
    for field in msgspec.structs.fields(record):
        value = getattr(record, field.name)
        if _is_silent(value, field):
            continue
        if isinstance(value, (Record, dict)) or _is_table_list(value):
            tables.append((field.encode_name, value))
        else:
            lines += [f"{_key(field.encode_name)} = {_value(value)}", ""]
    for name, value in tables:
        where = f"{path}.{_key(name)}" if path else _key(name)
        if isinstance(value, Record):
            lines += [f"[{where}]", ""]
            _write_table(value, where, lines)
        elif isinstance(value, dict):
            lines += [f"[{where}]", ""]
            for key in value:
                lines += [f"{_key(key)} = {_value(value[key])}", ""]
        else:
            for item in value:
                lines += [f"[[{where}]]", ""]
                _write_table(item, where, lines)


def _is_silent(value: Any, field: msgspec.structs.FieldInfo) -> bool:
    """Nothing to say: None (TOML has no null), or empty as it is by default."""
    if value is None:
        return True
    if value not in ("", (), {}):
        return False
    default = field.default
    if default is msgspec.NODEFAULT and field.default_factory is not msgspec.NODEFAULT:
        default = field.default_factory()
    return bool(default == value)


def _is_table_list(value: Any) -> bool:
    return isinstance(value, tuple) and bool(value) and all(isinstance(item, Record) for item in value)


def _value(value: Any) -> str:
    if isinstance(value, str) and "\n" in value:
        return '"""\n' + "\n".join(_escape(line) for line in str(value).split("\n")) + '"""'
    if isinstance(value, (list, tuple)):
        if not all(isinstance(item, str) for item in value):  # a shape, a mean: read as one value
            return f"[{', '.join(_scalar(item) for item in value)}]"
        items = "".join(f"    {_scalar(item)},\n" for item in value)
        return f"[\n{items}]" if items else "[]"
    return _scalar(value)


def _scalar(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{_escape(str(value))}"'
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InputError(f"A setting is {value}, which is no number.", hint="Give a finite number.")
        return repr(value)
    return str(value)


def _escape(text: str) -> str:
    return "".join(_ESCAPES.get(c) or (c if c >= " " and c != "\x7f" else f"\\u{ord(c):04x}") for c in text)


def _key(name: str) -> str:
    bare = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if bare else f'"{_escape(name)}"'
