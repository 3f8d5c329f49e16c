"""TargetBar: the chosen targets with what they do with the graph, and what the colours mean."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QSizePolicy, QToolButton, QWidget

from studio.project import edit
from studio.support import TargetVerdicts, Verdict
from studio.targets import TARGETS, Target
from studio.ui.graph_overlays import OVERLAYS
from studio.ui.icons import icon
from studio.ui.session import Session
from studio.ui.texts import QT_TRANSLATE_NOOP, fill, translate
from studio.ui.widgets.chip import TargetChip
from studio.ui.widgets.parts import label

DEPTHS = (1, 2, 3, 4)

STATUS_WORDS = {
    "deprecated": QT_TRANSLATE_NOOP("TargetBar", "deprecated"),
    "maintenance": QT_TRANSLATE_NOOP("TargetBar", "in maintenance"),
}


class TargetBar(QFrame):
    """One chip per target; a click colours the graph by it, its menu removes it."""

    depth_chosen = Signal(int)
    """Collapse scopes below this depth; 0 = show everything."""
    targets_requested = Signal()

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._chips: list[TargetChip] = []
        self.setObjectName("Bar")
        self.setFixedHeight(44)
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 0, 10, 0)
        row.setSpacing(8)
        row.addWidget(label(self.tr("Targets"), "quiet"))
        self._strip = QWidget()
        self._strip.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._strip.setFixedHeight(32)
        self._more = self._tool_button("", self.tr("Targets that do not fit here"))
        self._more.setParent(self._strip)
        self._add = self._tool_button(self.tr("target"), self.tr("Add or remove targets"))
        self._add.setIcon(icon("plus", "quiet"))
        self._add.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._add.setParent(self._strip)
        self._add.setPopupMode(QToolButton.ToolButtonPopupMode.DelayedPopup)
        self._add.clicked.connect(self.targets_requested)
        row.addWidget(self._strip, 1)
        self._overlay = self._tool_button("", self.tr("What the colours of the graph mean"))
        self._overlay.setMenu(self._make_overlay_menu())
        self._depth = self._tool_button(self.tr("Depth"), self.tr("How far scopes are opened"))
        self._depth.setMenu(self._make_depth_menu())
        for tool in (self._overlay, self._depth):
            tool.setIcon(icon("chevron-down", "quiet"))
            tool.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
            tool.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
            row.addWidget(tool)
        session.project_changed.connect(self.refresh)
        session.stage_opened.connect(self.refresh)
        session.current_stage_changed.connect(self.refresh)
        session.target_changed.connect(self.refresh)
        session.overlay_changed.connect(self.refresh)
        self.refresh()

    def refresh(self, *_: object) -> None:
        """Shows the project's targets and the counts of the graph that is looked at."""
        project = self._session.project
        wanted = project.targets if project else ()
        if [c.target_id for c in self._chips] != list(wanted):
            self._make_chips(wanted)
        opened = self._session.opened
        for chip in self._chips:
            verdicts = opened.verdicts.get(chip.target_id) if opened else None
            target = TARGETS[chip.target_id]
            chip.setChecked(chip.target_id == self._session.target_id)
            chip.show_counts(_counts(verdicts), mark=self._mark(target), tip=self._tip(target, verdicts))
        if project is None:
            self.hide()
        elif self.parent() is not None:
            self.show()
        title = next((t for o, t in OVERLAYS if o == self._session.overlay), "")
        self._overlay.setText(fill(self.tr("Overlay: {name}"), name=translate("TargetBar", title)))
        self._depth.setEnabled(opened is not None)
        self._place()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Finds out again which chips fit."""
        super().resizeEvent(event)
        self._place()

    def _make_chips(self, target_ids: tuple[str, ...]) -> None:
        for chip in self._chips:
            chip.hide()
            chip.deleteLater()
        self._chips = []
        for target_id in target_ids:
            chip = TargetChip(target_id, TARGETS[target_id].title, self._strip)
            chip.clicked.connect(lambda _=False, t=target_id: self._session.set_target(t))
            remove = QAction(fill(self.tr("Remove {target}"), target=TARGETS[target_id].title), chip)
            remove.triggered.connect(lambda _=False, t=target_id: self._remove(t))
            chip.addAction(remove)
            self._chips.append(chip)

    def _remove(self, target_id: str) -> None:
        self._session.edit(
            lambda p: edit.remove_target(p, target_id),
            fill(self.tr("Remove {target}"), target=TARGETS[target_id].title),
        )

    def _place(self) -> None:
        """Puts the chips side by side; those without room go into the menu behind the number."""
        add_width = self._add.sizeHint().width()
        room = self._strip.width() - add_width - 8
        widths = [chip.sizeHint().width() for chip in self._chips]
        fits = _how_many(widths, room)
        if fits < len(self._chips):
            fits = _how_many(widths, room - 64)
        order = list(self._chips)
        current = next((c for c in order if c.target_id == self._session.target_id), None)
        if current is not None and order.index(current) >= fits > 0:
            order.remove(current)
            order.insert(fits - 1, current)
            while fits > 1 and sum(c.sizeHint().width() + 8 for c in order[:fits]) > room - 64:
                order.insert(fits - 2, order.pop(fits - 1))
                fits -= 1
        x = 0
        for chip in order[:fits]:
            chip.setGeometry(x, 2, chip.sizeHint().width(), 28)
            chip.show()
            x += chip.width() + 8
        hidden = order[fits:]
        for chip in hidden:
            chip.hide()
        self._more.setVisible(bool(hidden))
        if hidden:
            self._more.setText(f"+{len(hidden)} ▾")
            self._more.setMenu(self._menu_of(hidden))
            self._more.setGeometry(x, 4, self._more.sizeHint().width(), 24)
            x += self._more.width() + 8
        self._add.setGeometry(x, 4, add_width, 24)

    def _menu_of(self, chips: list[TargetChip]) -> QMenu:
        menu = QMenu(self)
        for chip in chips:
            action = menu.addAction(chip.accessibleName())
            action.triggered.connect(lambda _=False, t=chip.target_id: self._session.set_target(t))
        return menu

    def _make_overlay_menu(self) -> QMenu:
        menu = QMenu(self)
        group = QActionGroup(menu)
        for overlay, title in OVERLAYS:
            action = menu.addAction(translate("TargetBar", title))
            action.setCheckable(True)
            action.setData(overlay)
            group.addAction(action)
            action.triggered.connect(lambda _=False, o=overlay: self._session.set_overlay(o))

        def mark_current() -> None:
            for action in group.actions():
                action.setChecked(action.data() == self._session.overlay)

        menu.aboutToShow.connect(mark_current)
        return menu

    def _make_depth_menu(self) -> QMenu:
        menu = QMenu(self)
        for depth in DEPTHS:
            action = menu.addAction(fill(self.tr("Open scopes to depth {depth}"), depth=depth))
            action.triggered.connect(lambda _=False, d=depth: self.depth_chosen.emit(d))
        menu.addSeparator()
        menu.addAction(self.tr("Open all scopes")).triggered.connect(lambda: self.depth_chosen.emit(0))
        return menu

    def _tool_button(self, text: str, tip: str) -> QToolButton:
        tool = QToolButton()
        tool.setText(text)
        tool.setToolTip(tip)
        tool.setAccessibleName(text or tip)
        tool.setProperty("role", "flat")
        tool.setIconSize(QSize(12, 12))
        tool.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        return tool

    def _mark(self, target: Target) -> str:
        return translate("TargetBar", STATUS_WORDS[target.status]) if target.status else ""

    def _tip(self, target: Target, verdicts: TargetVerdicts | None) -> str:
        lines = [target.title]
        if verdicts is not None and verdicts.macs_share is not None and target.is_accelerator:
            lines.append(
                fill(
                    self.tr("{share} % of the MACs stay on the accelerator, in {n} partitions"),
                    share=f"{verdicts.macs_share * 100:.1f}",
                    n=len(verdicts.partitions),
                )
            )
        if target.status and target.successor:
            lines.append(
                fill(
                    self.tr("{status}; the studio proposes {successor}"),
                    status=self._mark(target),
                    successor=TARGETS[target.successor].title,
                )
            )
        return "\n".join(lines)


def _how_many(widths: list[int], room: int) -> int:
    used = 0
    for i, width in enumerate(widths):
        used += width + 8
        if used > room:
            return i
    return len(widths)


def _counts(verdicts: TargetVerdicts | None) -> dict[Verdict, int]:
    if verdicts is None:
        return {}
    return {Verdict(name): n for name, n in verdicts.counts().items()}
