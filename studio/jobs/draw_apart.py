"""PNG bytes of an SVG, drawn in a process of its own, so that Ctrl+C ends at once.

resvg draws a picture in one call that no signal interrupts, for 13 s where a graph has thousands of
boxes. The SVG goes in on stdin and the PNG comes back on stdout; nothing is on the disk meanwhile.
"""

from __future__ import annotations

import subprocess
import sys

from studio.errors import StudioError, ToolError
from studio.paths import PACKAGE_HOME, own_process


def command() -> tuple[str, ...]:
    """The argv that starts the drawing process: the interpreter, or the frozen app itself."""
    return own_process("draw", "studio.jobs.draw_apart")


def svg_to_png(svg: str) -> bytes:
    """As `report.svg_to_png`. Raises ToolError when the picture cannot be drawn."""
    process = subprocess.Popen(
        command(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,  # a terminal's Ctrl+C is ours to handle
        cwd=PACKAGE_HOME,
    )
    try:
        png, said = process.communicate(svg.encode())
    finally:
        process.kill()
        process.wait()
    if process.returncode == 0:
        return png
    lines = said.decode(errors="replace").strip().splitlines()
    reason = lines[-1] if lines else f"The drawing process ended with {process.returncode}."
    raise ToolError(reason, hint="Write it as SVG instead.")


def main() -> int:
    """Draws the SVG on stdin; the process's exit code."""
    from studio.report.graph_png import svg_to_png as draw

    try:
        png = draw(sys.stdin.buffer.read().decode())
    except StudioError as error:
        sys.stderr.write(error.message)
        return error.exit_code
    sys.stdout.buffer.write(png)
    sys.stdout.flush()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
