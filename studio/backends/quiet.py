"""Keeps what a library prints, warns and logs: for the error message, not for the terminal."""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
from collections.abc import Iterator


@contextlib.contextmanager
def quiet() -> Iterator[io.StringIO]:
    """Yields the text that Python code writes meanwhile; log records below ERROR are dropped.

    Native code that writes to the descriptors itself is not caught: a worker's are not the wire.
    """
    output = io.StringIO()
    disabled = logging.root.manager.disable
    logging.disable(logging.WARNING)
    handler = logging.StreamHandler(output)
    kept, logging.root.handlers = logging.root.handlers, [handler]
    try:
        with (
            contextlib.redirect_stdout(output),
            contextlib.redirect_stderr(output),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")
            yield output
    finally:
        logging.root.handlers = kept
        logging.disable(disabled)
