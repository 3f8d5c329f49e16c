"""Saves the graph as a picture: PNG and PDF as the canvas paints it, SVG as the report draws it."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from studio.records import write_atomically
from studio.support import TargetVerdicts
from studio.targets import TARGETS
from studio.ui import theme
from studio.ui.canvas import GraphCanvas
from studio.ui.session import Session
from studio.ui.texts import translate


def save_picture(parent: QWidget, session: Session, canvas: GraphCanvas) -> None:
    """Asks for a name and writes the whole graph in its format. Raises InputError when it cannot."""
    opened, stage = session.opened, session.current_stage
    if opened is None or stage is None or stage.path is None:
        return
    first = (session.folder or Path.home()) / f"{stage.path.stem}.png"
    path, _ = QFileDialog.getSaveFileName(
        parent, translate("picture", "Save picture"), str(first), "PNG (*.png);;SVG (*.svg);;PDF (*.pdf)"
    )
    if not path:
        return
    if path.endswith(".svg"):
        from studio.report.graph_svg import graph_svg
        from studio.report.paint import verdict_paint
        from studio.report.palette import DARK, LIGHT

        verdicts: TargetVerdicts | None = session.verdicts
        palette = DARK if theme.current().is_dark else LIGHT
        svg = graph_svg(
            opened.graph,
            opened.layout,
            verdict_paint(verdicts, palette) if verdicts is not None else None,
            title=stage.path.name,
            subtitle=TARGETS[session.target_id].title if session.target_id else "",
            palette=palette,
        )
        write_atomically(Path(path), svg.encode())
    elif path.endswith(".pdf"):
        canvas.save_pdf(path)
    else:
        canvas.save_png(path if path.endswith(".png") else path + ".png")
