"""Keeps what a library prints, warns and logs: for the error message, not for the terminal."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import sys
import tempfile
import warnings
from collections.abc import Iterator
from typing import IO, TextIO

_LARGEST_TEXT = 1 << 20

_loud: list[tuple[TextIO, TextIO, list[int]]] = []
"""Per running `quiet` block: the stdout, stderr and descriptors 1 and 2 from before it."""


@contextlib.contextmanager
def quiet() -> Iterator[io.StringIO]:
    """Yields the text that Python and native code write meanwhile; log records below ERROR are dropped.

    The native part is in the text only after the block has ended, also when it ended by an
    exception. Not for code that other threads of the process print beside.
    """
    output = io.StringIO()
    disabled = logging.root.manager.disable
    kept = logging.root.handlers
    logging.disable(logging.WARNING)
    logging.root.handlers = [logging.StreamHandler(output)]
    before = (sys.stdout, sys.stderr)
    try:
        with _native_quiet(output) as descriptors, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _loud.append((*before, descriptors))
            sys.stdout = sys.stderr = output
            yield output
    finally:
        sys.stdout, sys.stderr = before
        if _loud:
            _loud.pop()
        logging.root.handlers = kept
        logging.disable(disabled)


@contextlib.contextmanager
def aloud() -> Iterator[None]:
    """Lets our own progress through while a `quiet` block runs around it."""
    if not _loud:
        yield
        return
    stdout, stderr, descriptors = _loud[0]
    inside = (sys.stdout, sys.stderr)
    _flush()
    muted = [os.dup(number) for number in (1, 2)] if descriptors else []
    for number, original in zip((1, 2), descriptors):
        os.dup2(original, number)
    sys.stdout, sys.stderr = stdout, stderr
    try:
        yield
    finally:
        _flush()
        sys.stdout, sys.stderr = inside
        for number, file in zip((1, 2), muted):
            os.dup2(file, number)
            os.close(file)


@contextlib.contextmanager
def _native_quiet(output: io.StringIO) -> Iterator[list[int]]:
    """Sends descriptors 1 and 2 to a file meanwhile, and the file's text to `output`."""
    try:
        saved = [os.dup(1), os.dup(2)]
    except OSError:  # a window application without a terminal has no such descriptors
        yield []
        return
    with tempfile.TemporaryFile() as file:
        _flush()
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
        try:
            yield saved
        finally:
            _flush()
            for descriptor, original in zip((1, 2), saved):
                os.dup2(original, descriptor)
                os.close(original)
            output.write(_text_of(file))


def _text_of(file: IO[bytes]) -> str:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _LARGEST_TEXT))
    return file.read().decode(errors="replace")


def _flush() -> None:
    for stream in (sys.__stdout__, sys.__stderr__):
        if stream is not None:
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
