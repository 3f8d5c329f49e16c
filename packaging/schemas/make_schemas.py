"""Writes `resources/schemas/*.json`: tables, unions and enums of the flatbuffers the studio reads.

Source: the schemas that Netron carries as JavaScript (MIT), which follow the upstream `.fbs` files.
Run it again after raising the netron pin:  python packaging/schemas/make_schemas.py
Slots are vtable offsets / 2 − 2; a type is the reader method's name, with the table behind a colon.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SCHEMAS = {
    "tflite": ("tflite-schema.js", ("tflite",), "Model"),
    "ort": ("onnx-schema.js", ("onnxruntime.fbs",), "InferenceSession"),
    "executorch": ("executorch-schema.js", ("executorch_flatbuffer",), "Program"),
    "xnnpack": ("executorch-schema.js", ("fb_xnnpack",), "XNNGraph"),
    "vulkan": ("executorch-schema.js", ("vkgraph",), "VkGraph"),
}
SKIPPED = re.compile(r"(?:Metadata|ProcessUnit|Properties|Associated|Stats)")

FIELD = re.compile(r"\$\.(\w+) = reader\.(\w+)\(position, (\d+)(?:, ([^;]*))?\);")
STRUCT_FIELD = re.compile(r"\$\.(\w+) = reader\.(\w+)\(position \+ (\d+)\);")
CASE = re.compile(r"case (\d+): return ([\w.]+)\.decode\(")
BASE = re.compile(r"\.(\w+)\.decode\(reader, position, \$\);")
ENUM = re.compile(r"'(-?\d+)': '(\w+)'")
ARRAYS = {
    f"{prefix}{bits}Array": f"{prefix.lower()}{bits}"
    for prefix, sizes in (("Float", (32, 64)), ("Int", (8, 32, 64)), ("Uint", (8, 16, 32)))
    for bits in sizes
}


def type_of(method: str, argument: str | None) -> tuple[str, object]:
    """(type, default) of one reader call."""
    first = (argument or "").split(",")[0].strip()
    if method in ("table", "tables", "union", "unions", "struct", "structs"):
        return f"{method}:{first.rpartition('.')[2]}", None
    if method == "array":
        return f"array:{ARRAYS[first]}", None
    if method == "strings_":
        return "strings", None
    if method == "int64s_":
        return "array:int64", None
    if method == "uint64s_":
        return "array:uint64", None
    if method == "bools_":
        return "array:bool", None
    default: object = None
    if first in ("true", "false"):
        default = first == "true"
    elif first not in ("", "null"):
        default = float(first) if "." in first else int(first.rstrip("n"))
    return method.rstrip("_"), default


def schema_of(text: str, prefix: str, root: str) -> dict[str, object]:
    """Tables, structs, unions and enums under one JavaScript namespace."""
    tables: dict[str, object] = {}
    structs: dict[str, object] = {}
    unions: dict[str, object] = {}
    enums: dict[str, object] = {}
    blocks = re.split(r"\n(?=[\w.]+ = )", text)
    for block in sorted(blocks, key=lambda block: BASE.search(block) is not None):  # bases first
        head = re.match(rf"{re.escape(prefix)}\.(\w+) = (class|\{{)", block)
        if head is None:
            continue
        name = head.group(1)
        body = block.split("static decodeText")[0]
        if head.group(2) == "{":
            enums[name] = dict(ENUM.findall(body))
        elif "decode(reader, position, type)" in body:
            unions[name] = {number: table.rpartition(".")[2] for number, table in CASE.findall(body)}
        elif "position + " in body:
            structs[name] = [[f, int(o), m.rstrip("_")] for f, m, o in STRUCT_FIELD.findall(body)]
        else:
            fields = {}
            for field, method, offset, argument in FIELD.findall(body):
                kind, default = type_of(method, argument)
                fields[field] = [int(offset) // 2 - 2, kind, default]
            base = BASE.search(body)
            tables[name] = fields if base is None else tables[base.group(1)]
    used = reachable(root, tables, unions)
    return {
        "root": root,
        "tables": {n: tables[n] for n in tables if n in used},
        "structs": structs,
        "unions": {n: unions[n] for n in unions if n in used},
        "enums": enums,
    }


def reachable(root: str, tables: dict, unions: dict) -> set[str]:
    """Names that can be met from the root; the rest (separate metadata roots) is left out."""
    found: set[str] = set()
    todo = [root]
    while todo:
        name = todo.pop()
        if name in found:
            continue
        found.add(name)
        todo += [kind.partition(":")[2] for _, kind, _ in tables.get(name, {}).values() if ":" in kind]
        todo += unions.get(name, {}).values()
    return found


def main() -> None:
    spec = importlib.util.find_spec("netron")
    assert spec is not None and spec.origin is not None
    folder = Path(spec.origin).parent
    source = f"netron {importlib.metadata.version('netron')}"
    for name, (file, prefixes, root) in SCHEMAS.items():
        schema = schema_of((folder / file).read_text(), prefixes[0], root)
        out = ROOT / "resources" / "schemas" / f"{name}.json"
        out.write_text(json.dumps({"source": f"{source}, {file}", **schema}, separators=(",", ":")) + "\n")
        print(out.name, out.stat().st_size, "bytes,", len(schema["tables"]), "tables")


if __name__ == "__main__":
    main()
