"""`edit FILE … --out FILE`: light edits of an ONNX graph, in the order in which they are given.

JSON: `{"file": path, "done": [sentence per edit]}`. What the model computes may change, so nothing
is proven; the result is checked to be a valid model, and nothing is written when it is not.
"""

from __future__ import annotations

import argparse
import json
from argparse import Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from studio.cli.opening import refuse_itself
from studio.cli.options import Parser, add_out, size_of
from studio.cli.output import Output
from studio.errors import InputError
from studio.recipes.edit_records import (
    CutOut,
    Edit,
    FreezeDim,
    RemoveNode,
    RenameNode,
    RenameTensor,
    SetAttribute,
)
from studio.records import Record


class EditAnswer(Record):
    """What `edit --json` prints."""

    file: str
    done: tuple[str, ...]


class _Collect(argparse.Action):
    """Appends an edit, so that different options keep their order."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        make = _MAKERS[option_string or ""]
        namespace.edits = (*namespace.edits, make(str(values)))


def parser() -> Parser:
    """The options of `edit`."""
    result = Parser(
        "edit",
        summary="Edit an ONNX graph lightly. A node is named by its name or by a tensor that it makes.",
        example="deployment-studio edit net.onnx --remove dropout --cut :features --out features.onnx",
    )
    result.set_defaults(edits=())
    result.add_argument("file", help="an .onnx file")
    add_out(result, text="where to write", required=True)
    for option, metavar, text in (
        ("--rename", "NODE=NAME", "give a node another name"),
        ("--rename-tensor", "TENSOR=NAME", "give a tensor another name"),
        ("--remove", "NODE", "take a node out that keeps the shape"),
        ("--set", "NODE.ATTRIBUTE=VALUE", "set an attribute; VALUE is JSON, null = the default"),
        ("--cut", "IN,…:OUT,…", "keep only what lies between; an empty side = the model's own"),
        ("--freeze", "DIM=N", "give a symbolic dim a number"),
    ):
        result.add_argument(
            option, action=_Collect, dest="edits", metavar=metavar, help=text + "; repeatable"
        )
    return result


def run(options: Namespace, output: Output) -> int:
    """Writes the edited model; 0."""
    from studio.recipes.edits import apply_edits

    if not options.edits:
        raise InputError("No edit was given.", hint="See: deployment-studio edit --help")
    refuse_itself(options.out, Path(options.file))
    out = Path(options.out)
    done = apply_edits(Path(options.file), options.edits, out)
    output.result(EditAnswer(file=str(out), done=done), "\n".join([*done, f"Wrote {out}"]))
    return 0


def _halves(option: str, text: str, separator: str = "=") -> tuple[str, str]:
    left, found, right = text.rpartition(separator)
    if not found or not left or not right:
        raise InputError(f"{option} {text} is not of the form A{separator}B.", hint="See: edit --help")
    return left, right


def _rename(text: str) -> Edit:
    node, name = _halves("--rename", text)
    return RenameNode(node=node, name=name)


def _rename_tensor(text: str) -> Edit:
    tensor, name = _halves("--rename-tensor", text)
    return RenameTensor(tensor=tensor, name=name)


def _set(text: str) -> Edit:
    place, found, raw = text.partition("=")
    if not found:
        raise InputError(f"--set {text} has no “=”.", hint="For example --set softmax.axis=-1")
    node, attribute = _halves("--set", place, ".")
    try:
        value = json.loads(raw)
    except ValueError:
        value = raw  # a bare word is a string
    if isinstance(value, dict):
        raise InputError(
            f"--set {text}: an attribute cannot be an object.", hint="Give a number, text or list."
        )
    return SetAttribute(node=node, attribute=attribute, value=value)


def _cut(text: str) -> Edit:
    left, found, right = text.partition(":")
    if not found:
        raise InputError(f"--cut {text} has no “:”.", hint="For example --cut input:features")
    return CutOut(inputs=tuple(filter(None, left.split(","))), outputs=tuple(filter(None, right.split(","))))


def _freeze(text: str) -> Edit:
    dim, size = _halves("--freeze", text)
    if not size_of(size):
        raise InputError(f"--freeze {text}: {size} is no size.", hint="For example --freeze batch=1")
    return FreezeDim(dim=dim, size=size_of(size))


_MAKERS: dict[str, Callable[[str], Edit]] = {
    "--rename": _rename,
    "--rename-tensor": _rename_tensor,
    "--remove": lambda text: RemoveNode(node=text),
    "--set": _set,
    "--cut": _cut,
    "--freeze": _freeze,
}
