"""Saves the graph as a picture, the whole or what is in sight, with the overlay and its legend.

PNG and PDF as the canvas paints them, SVG as the report draws it from the same overlay.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QVBoxLayout,
    QWidget,
)

from studio.records import write_atomically
from studio.targets import TARGETS
from studio.ui import theme
from studio.ui.canvas import Gather, GraphCanvas, Hatch, Icon, Overlay
from studio.ui.canvas.colors import of_theme
from studio.ui.session import Session
from studio.ui.stages import OpenedGraph
from studio.ui.texts import fill, translate
from studio.ui.widgets.dialog import Dialog
from studio.ui.widgets.parts import button, label

if TYPE_CHECKING:
    from studio.report.paint import Paint

FORMATS = ("png", "svg", "pdf")
_HATCHES = {Hatch.DIAGONAL: "/", Hatch.CROSSED: "x", Hatch.DOTTED: ".", Hatch.STRIPES: "-"}
_ICONS = {Icon.NONE: "", Icon.DELTA: "tilde"}


class PictureDialog(Dialog):
    """Which part, which format, then where."""

    def __init__(self, session: Session, canvas: GraphCanvas, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session, self._canvas = session, canvas
        self.setWindowTitle(self.tr("Save picture"))
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 14)
        column.setSpacing(10)
        column.addWidget(label(self.tr("Save picture"), "title"))
        form = QFormLayout()
        self.part, self.format, self.scale = QComboBox(), QComboBox(), QComboBox()
        self.part.addItem(self.tr("the whole graph"), True)
        self.part.addItem(self.tr("what is in sight"), False)
        for name in FORMATS:
            self.format.addItem(name.upper(), name)
        for factor in (1, 2, 4):
            self.scale.addItem(f"{factor}×", float(factor))
        self.scale.setCurrentIndex(1)
        for title, box in (
            (self.tr("Part"), self.part),
            (self.tr("Format"), self.format),
            (self.tr("Size"), self.scale),
        ):
            box.setAccessibleName(title)
            form.addRow(title, box)
        column.addLayout(form)
        self.format.currentIndexChanged.connect(self._refresh)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(button(self.tr("Cancel"), self.reject))
        save = button(self.tr("Save…"), self._ask_where, role="primary")
        save.setDefault(True)
        row.addWidget(save)
        column.addLayout(row)
        self.setMinimumWidth(360)
        self._refresh()

    def _refresh(self, *_: object) -> None:
        kind = self.format.currentData()
        self.scale.setEnabled(kind == "png")

    def _ask_where(self) -> None:
        stage = self._session.current_stage
        if stage is None or stage.path is None:
            return
        kind = self.format.currentData()
        first = (self._session.folder or Path.home()) / f"{stage.path.stem}.{kind}"
        path, _ = QFileDialog.getSaveFileName(
            self, self.tr("Save picture"), str(first), f"{kind.upper()} (*.{kind})"
        )
        if path:
            self.save(Path(path).with_suffix(f".{kind}"))

    def save(self, path: Path) -> None:
        """Writes the picture as the form says; a failure is told."""
        whole = bool(self.part.currentData())
        with self._session.telling_failures():
            if path.suffix == ".svg":
                self._save_svg(path, whole=whole)
            elif path.suffix == ".pdf":
                self._canvas.save_pdf(str(path), whole=whole)
            else:
                self._canvas.save_png(str(path), whole=whole, scale=float(self.scale.currentData()))
            self.accept()

    def _save_svg(self, path: Path, *, whole: bool) -> None:
        from studio.report.graph_svg import Region, graph_svg
        from studio.report.palette import DARK, LIGHT

        session = self._session
        opened, stage = session.opened, session.current_stage
        if opened is None or stage is None or stage.path is None:
            return
        palette = DARK if theme.current().is_dark else LIGHT
        left, top, right, bottom = self._canvas.viewport.visible()
        region = None if whole else Region(left, top, right - left, bottom - top)
        svg = graph_svg(
            opened.graph,
            opened.layout,
            paint_of(self._canvas.overlay),
            title=stage.path.name,
            subtitle=_subtitle(session, opened),
            palette=palette,
            region=region,
        )
        write_atomically(path, svg.encode())


def _subtitle(session: Session, opened: OpenedGraph) -> str:
    """What the colours are of: the target, or the files and the machine that were measured. Costs and
    quantisation are the graph's own, so no target is named under them."""
    if session.overlay == "latency" and opened.profile is not None:
        profile = opened.profile
        return " · ".join((profile.runtime, profile.device_name, profile.wall_time[:10]))
    if session.overlay == "error" and opened.layer_errors is not None:
        errors = opened.layer_errors
        return " · ".join((f"{errors.a.file} → {errors.b.file}", errors.wall_time[:10]))
    target = TARGETS.get(session.target_id) if session.overlay in ("verdict", "partitions") else None
    return target.title if target else ""


def paint_of(overlay: Overlay | None) -> Paint | None:
    """What the canvas shows by colour, for the SVG: the same categories, figures, lines and thick edges."""
    from studio.report.paint import Category, Figures, Group, Paint

    if overlay is None:
        return None
    colors = of_theme(theme.current())
    figures = None
    categories: tuple[Category, ...] = ()
    nodes = len(overlay.values) if overlay.values is not None else 0
    codes = np.full(nodes if overlay.codes is None else len(overlay.codes), -1, np.int16)
    if overlay.values is not None:
        unknown = fill(translate("Canvas", "unknown: {count} nodes"), count=f"{overlay.unknown:,}")
        figures = Figures(
            overlay.values,
            overlay.unit,
            overlay.gather is Gather.MAX,
            translate("Canvas", "No node has a figure above 0."),
            unknown,
        )
    if overlay.codes is not None:
        order = sorted(range(len(overlay.categories)), key=lambda k: overlay.categories[k].severity)
        looks = [overlay.categories[k] for k in order]
        place = np.full(256, -1, np.int16)
        place[order] = np.arange(len(order))
        codes = place[overlay.codes]
        categories = tuple(
            Category(
                c.title,
                colors.role(c.color).name(),
                _ICONS.get(c.icon, c.icon.value),
                _HATCHES.get(c.hatch, ""),
                c.group,
                is_calm=not c.is_loud,
            )
            for c in looks
        )
    groups = tuple(Group(o.title, colors.role(o.color).name(), o.nodes) for o in overlay.outlines)
    return Paint(
        categories,
        codes,
        overlay.name,
        figures=figures,
        groups=groups,
        tensor_bytes=overlay.tensor_weight,
        tensor_note=overlay.tensor_note,
    )
