"""Entry point of `deployment-studio`. Workers are recognised before anything heavy is imported."""

from __future__ import annotations


def main(argv: list[str] | None = None) -> int:
    """Runs the command line and returns its exit code."""
    return 0
