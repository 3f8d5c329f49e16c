"""Libraries are heard in the error message and not on the terminal; our own progress passes."""

from __future__ import annotations

import logging
import os
import sys
import warnings

import pytest

from studio.backends.quiet import aloud, quiet


def test_python_and_native_output_are_kept_in_order_of_kind(capfd: pytest.CaptureFixture[str]) -> None:
    with quiet() as output:
        print("from print")
        os.write(2, b"from native\n")
        logging.getLogger("library").error("from log")
        logging.getLogger("library").warning("dropped")
        warnings.warn("dropped", stacklevel=1)
    text = output.getvalue()
    assert "from print" in text and "from native" in text and "from log" in text
    assert "dropped" not in text
    assert capfd.readouterr() == ("", "")


def test_progress_passes_through_a_quiet_block(capfd: pytest.CaptureFixture[str]) -> None:
    with quiet() as output:
        print("noise")
        with aloud():
            print("progress", file=sys.stderr)
            os.write(1, b"native progress\n")
        os.write(1, b"native noise\n")
    assert "progress" not in output.getvalue().replace("native noise", "")
    out, err = capfd.readouterr()
    assert (out, err) == ("native progress\n", "progress\n")


def test_everything_is_restored_after_an_exception(capfd: pytest.CaptureFixture[str]) -> None:
    before = (sys.stdout, sys.stderr, logging.root.manager.disable, list(logging.root.handlers))
    with pytest.raises(ValueError), quiet() as output:
        os.write(2, b"last words\n")
        raise ValueError
    assert (sys.stdout, sys.stderr, logging.root.manager.disable, list(logging.root.handlers)) == before
    assert "last words" in output.getvalue()
    os.write(2, b"audible\n")
    assert capfd.readouterr().err == "audible\n"
