"""`python -m studio` is `deployment-studio`: the one place that knows both faces of the program."""

from __future__ import annotations

from pathlib import Path


def main(argv: list[str] | None = None) -> int:
    """Runs a command or the window and returns its exit code."""
    try:
        from studio.cli.main import main as command_line

        return command_line(argv, open_window=_open_window)
    except KeyboardInterrupt:  # while modules are still being imported
        return 130


def _open_window(paths: list[Path]) -> int:
    from studio.ui.app import run

    return run([str(path) for path in paths])


if __name__ == "__main__":
    raise SystemExit(main())
