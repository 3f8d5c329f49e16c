"""OpDoc: what an operator does, its category, its attributes with their defaults, its inputs and outputs.

Sources: `onnx.defs` for ONNX operators (of the opset that the file asks for); the metadata files of the
installed `netron` package for TFLite, PyTorch and the other formats, and for categories.
Why in a worker: importing onnx costs more than the window may take for a click.
"""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from studio.records import Record

_NETRON_FILE = {
    "onnx": "onnx", "ort": "onnx", "tflite": "tflite", "pt": "pytorch", "ptl": "pytorch", "pt2": "pytorch",
    "pte": "pytorch", "etrecord": "pytorch",
}  # fmt: skip


class OpPart(Record):
    """An attribute, input or output. `default` is text, "" = none; `is_required` of attributes and inputs."""

    name: str
    type: str = ""
    default: str = ""
    is_required: bool = False
    text: str = ""


class OpDoc(Record):
    """The documentation of one operator. `source` says whose words these are."""

    domain: str
    op: str
    text: str = ""
    category: str = ""
    attributes: tuple[OpPart, ...] = ()
    inputs: tuple[OpPart, ...] = ()
    outputs: tuple[OpPart, ...] = ()
    source: str = ""


def read_op_docs(
    format_: str, ops: Sequence[tuple[str, str]], opsets: Mapping[str, int]
) -> tuple[OpDoc, ...]:
    """The documentation of the (domain, op) pairs that is known; the others are left out."""
    found = []
    for domain, op in ops:
        doc = _from_onnx(domain, op, opsets) if format_ in ("onnx", "ort") else None
        doc = doc or _from_netron(format_, domain, op, opsets)
        if doc is not None:
            found.append(doc)
    return tuple(found)


def _from_onnx(domain: str, op: str, opsets: Mapping[str, int]) -> OpDoc | None:
    import onnx

    version = opsets.get(domain) or opsets.get("ai.onnx" if domain == "" else domain)
    version = version or onnx.defs.onnx_opset_version()
    try:
        schema = onnx.defs.get_schema(op, version, "" if domain == "ai.onnx" else domain)
    except (onnx.defs.SchemaError, TypeError):
        return None
    attributes = [
        OpPart(
            name=a.name,
            type=str(a.type).rpartition(".")[2].lower(),
            default=_default_of(a.default_value),
            is_required=bool(a.required),
            text=_one_line(a.description),
        )
        for a in schema.attributes.values()
    ]
    since = f"onnx {onnx.__version__}, {domain or 'ai.onnx'} {schema.since_version}"
    return OpDoc(
        domain=domain,
        op=op,
        text=_plain(schema.doc or ""),
        category=_category("onnx", op),
        attributes=tuple(sorted(attributes, key=lambda a: a.name)),
        inputs=tuple(_formal(p) for p in schema.inputs),
        outputs=tuple(_formal(p) for p in schema.outputs),
        source=since,
    )


def _formal(parameter: Any) -> OpPart:
    option = str(parameter.option).rpartition(".")[2]
    return OpPart(
        name=parameter.name,
        type=parameter.type_str,
        is_required=option == "Single",
        text=_one_line(parameter.description),
    )


def _default_of(attribute: Any) -> str:
    import onnx

    if not attribute.name:
        return ""
    value = onnx.helper.get_attribute_value(attribute)
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def _from_netron(format_: str, domain: str, op: str, opsets: Mapping[str, int]) -> OpDoc | None:
    kind = _NETRON_FILE.get(format_, format_)
    entry = _entry(kind, domain, op)
    if entry is None:
        return None
    return OpDoc(
        domain=domain,
        op=op,
        text=_plain(str(entry.get("description", ""))),
        category=str(entry.get("category", "")),
        attributes=tuple(_part(p) for p in entry.get("attributes", ())),
        inputs=tuple(_part(p) for p in entry.get("inputs", ())),
        outputs=tuple(_part(p) for p in entry.get("outputs", ())),
        source="Netron metadata",
    )


def _part(raw: Mapping[str, Any]) -> OpPart:
    default = raw.get("default")
    return OpPart(
        name=str(raw.get("name", "")),
        type=str(raw.get("type", "")),
        default="" if default is None else str(default),
        is_required=not raw.get("optional", False) and "default" not in raw,
        text=_one_line(str(raw.get("description", ""))),
    )


def _category(kind: str, op: str) -> str:
    return next((str(e["category"]) for e in _metadata(kind).get(_key(op), ()) if "category" in e), "")


def _entry(kind: str, domain: str, op: str) -> Mapping[str, Any] | None:
    """The newest entry of an operator, its category taken from whichever version has one."""
    entries = _metadata(kind).get(_key(op), ())
    entries = [e for e in entries if not domain or str(e.get("module", domain)) == domain] or list(entries)
    if not entries:
        return None
    newest = max(entries, key=lambda e: int(e.get("version", 0)))
    category = next((e["category"] for e in entries if "category" in e), "")
    return {**newest, "category": category}


@lru_cache(maxsize=4)
def _metadata(kind: str) -> dict[str, list[Mapping[str, Any]]]:
    """The entries of a metadata file by normalised operator name; empty when there is no such file."""
    spec = importlib.util.find_spec("netron")
    if spec is None or spec.origin is None or not re.fullmatch(r"[a-z0-9]+", kind):
        return {}
    path = Path(spec.origin).parent / f"{kind}-metadata.json"
    if not path.is_file():
        return {}
    table: dict[str, list[Mapping[str, Any]]] = {}
    for entry in json.loads(path.read_text(encoding="utf-8")):
        table.setdefault(_key(str(entry.get("name", "")).partition("(")[0]), []).append(entry)
    return table


def _key(op: str) -> str:
    """`CONV_2D`, `Conv2D` and `aten.conv2d.default`, `aten::conv2d` meet here."""
    name = op.removesuffix(".default")
    if name.startswith("aten."):
        name = "aten::" + name[5:]
    return name.replace("_", "").lower()


def _plain(text: str) -> str:
    """Markdown's first paragraphs as plain text, without pictures and code fences."""
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    text = re.sub(r"<img[^>]*>|!\[[^\]]*\]\([^)]*\)", "", text)
    text = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"</?[a-zA-Z][^>]*>", "", text)
    paragraphs = [re.sub(r"[ \t]*\n[ \t]*", " ", p).strip() for p in re.split(r"\n\s*\n", text)]
    return "\n\n".join(p for p in paragraphs if p)[:4000]


def _one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()[:600]
