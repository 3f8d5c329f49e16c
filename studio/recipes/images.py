"""Pictures as model inputs: reading, and the one preprocessing that all users of the data share."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import numpy.typing as npt

from studio.backends.backend import Array, InputInfo
from studio.errors import InputError
from studio.recipes.recipe import Preprocessing

IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".webp", ".tif", ".tiff")
PREPROCESSING_VERSION = 1
"""Raised when the same pictures and settings give other numbers: artifacts made from them are made anew."""
_CHANNELS = {"rgb": 3, "bgr": 3, "gray": 1}
_LARGEST_PIXELS = 100_000_000  # Pillow's own warning limit is 89 million


def readable(path: Path) -> str:
    """The path as text that can be printed and hashed: bytes that are no UTF-8 become `\\xNN`."""
    return os.fsencode(path).decode(errors="backslashreplace")


def image_files(folder: Path) -> list[Path]:
    """The pictures of a folder and its subfolders, by path."""
    return sorted(p for p in folder.rglob("*") if p.suffix.lower() in IMAGE_SUFFIXES and p.is_file())


def picture_size(path: Path) -> tuple[int, int]:
    """(height, width) from the picture's header, (0, 0) when it cannot be read."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(path) as picture:
            return (picture.height, picture.width)
    except (UnidentifiedImageError, OSError, ValueError, Image.DecompressionBombError):
        return (0, 0)


def read_image(path: Path, how: Preprocessing) -> npt.NDArray[np.uint8]:
    """A picture as `[H, W, C]` uint8 in the wanted colour order, resized when a size is set."""
    from PIL import Image, UnidentifiedImageError

    if how.color not in _CHANNELS:
        raise InputError(
            f"The preprocessing names the colour order “{how.color}”.", hint="Choose rgb, bgr or gray."
        )
    try:
        with Image.open(path) as picture:
            if picture.width * picture.height > _LARGEST_PIXELS:
                raise InputError(
                    f"{readable(path)} has {picture.width}×{picture.height} pixels, too many to read.",
                    hint="Scale the picture down.",
                )
            if picture.mode in ("I", "F"):
                raise InputError(
                    f"{readable(path)} has 32-bit pixels, whose range is not known.",
                    hint="Save it with 8 or 16 bits, or save an array (.npy).",
                )
            plain: Image.Image = picture
            if picture.mode.startswith("I;16"):  # Pillow's own conversion cuts at 255 and leaves white
                plain = Image.fromarray((np.asarray(picture) >> 8).astype(np.uint8))
            plain = plain.convert("L" if how.color == "gray" else "RGB")
            if how.height and how.width and plain.size != (how.width, how.height):
                plain = plain.resize((how.width, how.height), Image.Resampling.BILINEAR)
            pixels = np.asarray(plain)
    except InputError:
        raise
    except Exception as error:  # a damaged picture raises what its decoder happens to trip over
        said = (str(error) or "damaged").splitlines()[0]
        is_unknown = isinstance(error, UnidentifiedImageError)
        reason = "its content is of no known kind" if is_unknown else said
        raise InputError(
            f"{readable(path)} cannot be read as a picture: {reason}.",
            hint="Remove or replace it.",
        ) from None
    if pixels.ndim == 2:
        pixels = pixels[:, :, None]
    return pixels[:, :, ::-1] if how.color == "bgr" else pixels


def preprocess(pixels: Array, how: Preprocessing, info: InputInfo, *, name: str) -> Array:
    """`[H, W, C]` integers → the model's input without batch axis, in the wanted layout.

    A model that takes integers gets the pixels as they are.
    """
    if info.dtype.startswith(("int", "uint")):
        made: Array = pixels.astype(info.dtype)
    else:
        value: npt.NDArray[np.float32] = pixels.astype(np.float32) * np.float32(how.scale)
        for what, numbers in (("mean", how.mean), ("std", how.std)):
            if numbers and len(numbers) not in (1, pixels.shape[-1]):
                raise InputError(
                    f"The preprocessing has {len(numbers)} values of {what}, {name} has "
                    f"{pixels.shape[-1]} channel(s).",
                    hint="Give one value, or one per channel.",
                )
        if how.mean:
            value = np.subtract(value, np.asarray(how.mean, np.float32))
        if how.std:
            value = np.divide(value, np.asarray(how.std, np.float32))
        made = value
    if how.layout not in ("NCHW", "NHWC"):
        raise InputError(f"The preprocessing names the layout “{how.layout}”.", hint="Choose NCHW or NHWC.")
    return np.ascontiguousarray(made.transpose(2, 0, 1)) if how.layout == "NCHW" else made
