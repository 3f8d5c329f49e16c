"""Options that name a model's inputs and real data, and the way from an image to the model's input."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from studio.cli.options import Parser, size_of
from studio.errors import InputError
from studio.project import DataSet
from studio.recipes.recipe import InputSpec, Preprocessing


def add_data(parser: Parser) -> None:
    """Options that name real inputs and the way from an image to the model's input."""
    parser.add_argument("--calibration", default="", metavar="DATA", help="folder of images, .npy or .npz")
    parser.add_argument("--evaluation", default="", metavar="DATA", help="the same, with labels in the .npz")
    parser.add_argument("--labels", default="", metavar="FILE", help="labels of --evaluation: .npy or CSV")
    add_preprocessing(parser)


def add_preprocessing(parser: Parser) -> None:
    """Options that say how an image becomes the model's input."""
    parser.add_argument("--size", default="", metavar="HxW", help="resize images to this height and width")
    parser.add_argument("--color", choices=("rgb", "bgr", "gray"), default="rgb", help="channel order")
    parser.add_argument("--mean", default="", metavar="A,B,C", help="subtracted per channel, on a 0..1 scale")
    parser.add_argument("--std", default="", metavar="A,B,C", help="divided by, per channel")
    parser.add_argument("--layout", choices=("NCHW", "NHWC"), default="NCHW", help="of the model's input")


def split_factory(text: str) -> tuple[Path, str]:
    """`net.py:build` as (path, function); any other path has no function."""
    head, colon, factory = text.rpartition(":")
    return (Path(head), factory) if colon and head.endswith(".py") else (Path(text), "")


def parse_input(text: str) -> InputSpec:
    """`NAME:DTYPE:SHAPE`, a shape being numbers or names joined by commas. Raises InputError."""
    parts = text.split(":")
    if len(parts) != 3 or not all(parts):
        raise InputError(f"--input {text} is not NAME:DTYPE:SHAPE.", hint="e.g. image:float32:1,3,224,224")
    dims = (d.strip() for d in parts[2].split(","))
    return InputSpec(name=parts[0], dtype=parts[1], shape=tuple(size_of(d) or d for d in dims))


def preprocessing_of(options: Namespace) -> Preprocessing:
    """The Preprocessing of the options of `add_data`. Raises InputError."""
    height, width = 0, 0
    if options.size:
        sides = [size_of(side) for side in options.size.lower().split("x")]
        if len(sides) != 2 or not all(sides):
            raise InputError(f"--size {options.size} is not HEIGHTxWIDTH.", hint="e.g. --size 224x224")
        height, width = sides
    return Preprocessing(
        height=height,
        width=width,
        color=options.color,
        mean=_numbers("--mean", options.mean),
        std=_numbers("--std", options.std),
        layout=options.layout,
    )


def evaluation_of(options: Namespace) -> DataSet | None:
    """The evaluation data of the options of `add_data`, or None."""
    return DataSet(path=options.evaluation, labels=options.labels) if options.evaluation else None


def _numbers(name: str, text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(",")) if text else ()
    except ValueError:
        raise InputError(f"{name} {text} is not a list of numbers.", hint="e.g. 0.5,0.5,0.5") from None
