"""What kind of model file this is, and the reader that opens it.

Content first, extension second: people rename files. `detect_format` never parses more than the
head, except for ONNX, which has no magic number and is recognised by walking its top-level fields.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from studio.artifact import hash_file
from studio.errors import InputError
from studio.graph.graph import Graph, Shape
from studio.graph.mapped import map_file
from studio.graph.onnx_skeleton import looks_like_model
from studio.graph.onnx_tensors import short
from studio.graph.torch_archive import members_of

READERS: dict[str, str] = {
    "onnx": "studio.graph.read_onnx:read_onnx",
    "gguf": "studio.graph.read_weights:read_gguf",
    "safetensors": "studio.graph.read_weights:read_safetensors",
    "etrecord": "studio.graph.read_etrecord:read_etrecord",
    "ort": "studio.graph.read_ort:read_ort",
    "pt": "studio.graph.read_torchscript:read_torchscript",
    "pt2": "studio.graph.read_pt2:read_pt2",
    "pte": "studio.graph.read_pte:read_pte",
    "ptl": "studio.graph.read_torchscript:read_torchscript",
    "tflite": "studio.graph.read_tflite:read_tflite",
}
"""format → "module:function"; imported on first use."""

TITLES = {
    "onnx": "ONNX", "ort": "ONNX Runtime (.ort)", "tflite": "TensorFlow Lite", "pt": "TorchScript",
    "ptl": "TorchScript for the lite interpreter", "pt2": "PyTorch exported program", "pte": "ExecuTorch",
    "etrecord": "ExecuTorch's record of a .pte file, before delegation",
    "safetensors": "safetensors (weights only)", "gguf": "GGUF (weights only)",
}  # fmt: skip

_ELSEWHERE = (
    (b"\x89HDF\r\n\x1a\n", "a Keras HDF5 file", "Convert it to .tflite or .onnx first."),
    (b"7767517\n", "an ncnn parameter file", "Open the ONNX or PyTorch file it was made from."),
    (b"\x7fELF", "a program or library", "Choose a model file."),
    (b"\x89PNG", "a picture", "Choose a model file."),
    (b"\xff\xd8\xff", "a picture", "Choose a model file."),
    (b"%PDF", "a PDF document", "Choose a model file."),
    (b"\x1f\x8b", "a gzip archive", "Unpack it and open the model inside."),
    (b"\x93NUMPY", "a numpy array", "Choose a model file."),
)
_LONGEST = 500  # characters of an error's sentence
_WEIGHTS_HINT = (
    "Weights need the Python code of the model: give a .py file with a function that returns it "
    "(module.py:factory) and this file as its weights."
)


def detect_format(path: Path) -> str:
    """The format's id: "onnx", "ort", "tflite", "pt", "ptl", "pt2", "pte", "etrecord",
    "safetensors" or "gguf".

    Raises InputError, saying what the file is instead where that can be told.
    """
    head, size = _head(path)
    if size == 0:
        raise InputError(f"{path} is empty.", hint="Copy or export the file again.")
    if head[:4] == b"PK\x03\x04" or head[:4] == b"PK\x05\x06":
        return _zip_format(path)
    magic = head[4:8]
    if magic == b"TFL3":
        return "tflite"
    if magic == b"ORTM":
        return "ort"
    if magic[:2] == b"ET" and magic[2:].isdigit():
        return "pte"
    if head[:4] == b"GGUF":
        return "gguf"
    header = int.from_bytes(head[:8], "little")
    if size >= 10 and head[8:9] == b"{" and header <= size - 8:
        return "safetensors"
    if head[:2] in (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"):
        raise InputError(f"{path} is a Python pickle: weights without a graph.", hint=_WEIGHTS_HINT)
    for start, what, hint in _ELSEWHERE:
        if head.startswith(start):
            raise InputError(f"{path} is {what}, not a model the studio reads.", hint=hint)
    if looks_like_model(map_file(path)):
        return "onnx"
    suffix = path.suffix.lower().lstrip(".")
    if suffix in TITLES:
        raise InputError(
            f"{path} is named like {TITLES[suffix]} but its content is truncated, damaged or something else.",
            hint="Copy or export the file again.",
        )
    raise InputError(
        f"{path} is not a model the studio reads.", hint=f"It reads: {', '.join(sorted(TITLES))}."
    )


def open_graph(
    path: Path,
    *,
    check_external: bool = True,
    dims: Mapping[str, int] | None = None,
    input_shapes: Mapping[str, Shape] | None = None,
    etrecord: Path | None = None,
) -> Graph:
    """The graph of a model file of any known format; weights stay on disk.

    `check_external`: whether missing or escaping external data is an error or a note (ONNX).
    `dims`: sizes for open dims of the inputs (ONNX; see `read_onnx`).
    `input_shapes`: shapes of inputs by name (TorchScript, which often keeps none); ignored elsewhere.
    `etrecord`: the ETRecord of a `.pte` file, when it does not lie beside it (`read_etrecord.record_beside`).
    Raises InputError for anything that is not a readable model.
    """
    path = Path(path)
    format_ = detect_format(path)
    if etrecord is not None and format_ != "pte":
        raise InputError(f"{TITLES[format_]} files have no ETRecord.", hint="Give a .pte file with it.")
    if dims and format_ != "onnx":
        raise InputError(f"Dims of {TITLES[format_]} files cannot be set.", hint="Set them at the export.")
    module, name = READERS[format_].split(":")
    reader = getattr(importlib.import_module(module), name)
    try:
        options: dict[str, Any] = {}
        if format_ == "onnx":
            options = {"check_external": check_external, "dims": dims}
        elif format_ in ("pt", "ptl"):
            options = {"input_shapes": input_shapes}
        elif format_ == "pte":
            options = {"etrecord": etrecord}
        graph: Graph = reader(path, **options)
    except InputError as error:
        message = short(error.message, _LONGEST)  # it may quote names from the file
        if path.name not in message:
            message = f"{path}: {message}"
        raise InputError(message, hint=error.hint) from None
    except (RecursionError, MemoryError):
        raise InputError(
            f"{path} nests or declares more than any model does.", hint="It is damaged."
        ) from None
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror}.", hint="Check the file.") from None
    graph.file_path = str(path)
    graph.file_sha256 = hash_file(path)
    return graph


def _head(path: Path) -> tuple[bytes, int]:
    """The first bytes and the size. Raises InputError when there is no readable file."""
    try:
        if path.is_dir():
            raise InputError(f"{path} is a folder.", hint="Choose the model file in it.")
        if not path.exists():
            raise InputError(f"There is no file {path}.", hint="Check the path.")
        if not path.is_file():
            raise InputError(f"{path} is not a regular file.", hint="Choose a model file.")
        with path.open("rb") as file:
            return file.read(64), path.stat().st_size
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"Cannot read {path}: {reason}.", hint="Check the path and its rights.") from None


def _zip_format(path: Path) -> str:
    inner = members_of(path)
    if "ETRECORD_V0" in inner:
        return "etrecord"
    if "archive_format" in inner or "serialized_exported_program.json" in inner:
        return "pt2"
    if "bytecode.pkl" in inner:
        return "ptl"
    if "constants.pkl" in inner:
        return "pt"
    if "data.pkl" in inner:
        raise InputError(f"{path} holds weights (a PyTorch checkpoint), not a graph.", hint=_WEIGHTS_HINT)
    if any(name.endswith((".npy", "/.zattrs")) for name in inner):
        raise InputError(f"{path} holds numpy arrays, not a model.", hint="Choose a model file.")
    raise InputError(f"{path} is an archive without a model.", hint="Unpack it and open the model inside.")
