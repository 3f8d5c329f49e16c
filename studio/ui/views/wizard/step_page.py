"""StepPage: what every page of the wizard has: title, preset, form, advice, validation, run strip."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QScrollArea, QVBoxLayout, QWidget, QWizardPage

from studio.project import Project
from studio.recipes.advice import Advice
from studio.targets import TARGETS
from studio.ui.session import Session
from studio.ui.views.wizard.advice_panel import AdvicePanel
from studio.ui.views.wizard.fields import choice_box
from studio.ui.views.wizard.run_strip import RunStrip
from studio.ui.widgets.icon_label import IconLabel
from studio.ui.widgets.parts import label


class StepPage(QWizardPage):
    """A page of one kind of step. Subclasses fill `form` and implement the hooks below."""

    kind = ""

    def __init__(self, session: Session, title: str, sentence: str, run_text: str) -> None:
        super().__init__()
        self.session = session
        self.is_refreshing = False
        self.setAccessibleName(title)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 16, 20, 8)
        column.setSpacing(14)
        head = QHBoxLayout()
        head.setSpacing(12)
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(label(title, "title"))
        words.addWidget(label(sentence, "quiet", wrap=True))
        head.addLayout(words, 1)
        self.preset = choice_box()
        self.preset.setMaximumWidth(220)
        self.preset.setAccessibleName(self.tr("Preset"))
        self.preset.setToolTip(self.tr("Takes the choices that suit these targets"))
        self.preset.activated.connect(self._on_preset)
        head.addWidget(self.preset, 0, Qt.AlignmentFlag.AlignTop)
        column.addLayout(head)
        body = QHBoxLayout()
        body.setSpacing(16)
        inner = QWidget()
        self.form = QVBoxLayout(inner)
        self.form.setContentsMargins(0, 0, 8, 0)
        self.form.setSpacing(10)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setWidget(inner)
        body.addWidget(scroll, 3)
        self.advice_panel = AdvicePanel()
        body.addWidget(self.advice_panel, 2)
        column.addLayout(body, 1)
        self._problem_row = QWidget()
        row = QHBoxLayout(self._problem_row)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(IconLabel("warning", "fails", 14), 0, Qt.AlignmentFlag.AlignTop)
        self._problem = label("", "bad", wrap=True, selectable=True)
        row.addWidget(self._problem, 1)
        column.addWidget(self._problem_row)
        self.strip = RunStrip(session, run_text, self.step_ids)
        column.addWidget(self.strip)

    def start(self) -> None:
        """Connects the page; call it at the end of the subclass's constructor."""
        self.session.project_changed.connect(self.refresh)
        self.session.stages_changed.connect(self._on_stages)
        self._fill_presets()
        self.refresh()

    # Hooks

    def step_ids(self) -> tuple[str, ...]:
        """The steps that the page runs."""
        return ()

    def show_project(self, project: Project) -> None:
        """Puts the project's choices into the form."""

    def advice(self, project: Project) -> tuple[Advice, ...]:
        """What the choices mean for the project's targets."""
        return ()

    def problem(self, project: Project) -> str:
        """Why the choices cannot be run, in a sentence; empty when they can."""
        return ""

    def apply_preset(self, target_ids: tuple[str, ...]) -> None:
        """Takes the choices that suit these targets."""

    def matches_preset(self, project: Project, target_ids: tuple[str, ...]) -> bool:
        """Whether the choices are those of `apply_preset`."""
        return False

    # Inside

    def isComplete(self) -> bool:
        """Whether Next may be pressed."""
        return self.session.project is not None and not self.problem(self.session.project)

    def refresh(self, *_: object) -> None:
        """Shows the project as it is now."""
        project = self.session.project
        if project is None:
            return
        self.is_refreshing = True
        try:
            self.show_project(project)
        finally:
            self.is_refreshing = False
        problem = self.problem(project)
        self._problem.setText(problem)
        self._problem_row.setVisible(bool(problem))
        self.strip.set_allowed(not problem)
        self._refresh_advice()
        self._show_preset(project)
        self.completeChanged.emit()

    def show_made(self, project: Project) -> None:
        """Shows what the steps have made, when that changed; the strip does so by itself."""

    def _on_stages(self) -> None:
        self._refresh_advice()
        if self.session.project is not None:
            self.show_made(self.session.project)

    def _refresh_advice(self) -> None:
        if self.session.project is not None:
            self.advice_panel.show_advice(self.advice(self.session.project))

    def _fill_presets(self) -> None:
        targets = self.session.project.targets if self.session.project else ()
        self.preset.clear()
        self.preset.addItem(self.tr("For all my targets"), targets)
        for target_id in targets if len(targets) > 1 else ():
            self.preset.addItem(TARGETS[target_id].title, (target_id,))
        self.preset.addItem(self.tr("My own choice"), None)

    def _on_preset(self, index: int) -> None:
        target_ids = self.preset.itemData(index)
        if target_ids is not None:
            self.apply_preset(tuple(target_ids))

    def _show_preset(self, project: Project) -> None:
        chosen = self.preset.itemData(self.preset.currentIndex())
        if chosen is not None and self.matches_preset(project, tuple(chosen)):
            return
        for index in range(self.preset.count()):
            target_ids = self.preset.itemData(index)
            if target_ids is None or self.matches_preset(project, tuple(target_ids)):
                self.preset.setCurrentIndex(index)
                return
