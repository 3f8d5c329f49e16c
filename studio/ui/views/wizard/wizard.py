"""DeployWizard: the pages, and the list at the left that says where one is."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QPushButton, QVBoxLayout, QWidget, QWizard

from studio.ui.job_runner import JobStatus
from studio.ui.session import Session
from studio.ui.views.step_texts import step_title
from studio.ui.views.wizard.convert_page import ConvertPage
from studio.ui.views.wizard.deploy_page import DeployPage
from studio.ui.views.wizard.export_page import ExportPage
from studio.ui.views.wizard.quantize_page import QuantizePage
from studio.ui.views.wizard.run_strip import RunStrip
from studio.ui.views.wizard.source_facts import is_torch_source
from studio.ui.views.wizard.verify_page import VerifyPage
from studio.ui.widgets.focus_order import move_focus
from studio.ui.widgets.parts import set_role
from studio.ui.widgets.row import Row

PAGES = ("export", "quantize", "convert", "verify", "deploy")
"""Kinds of pages in order; a page's id is its index."""

_BUTTONS = (
    QWizard.WizardButton.CancelButton,
    QWizard.WizardButton.BackButton,
    QWizard.WizardButton.NextButton,
    QWizard.WizardButton.FinishButton,
)


class DeployWizard(QWizard):
    """Choices are edits of the project at once (undo takes them back); closing loses nothing."""

    def __init__(self, session: Session, parent: QWidget | None = None, *, start: str = "") -> None:
        super().__init__(parent)
        self._session = session
        self.setWindowTitle(self.tr("Wizard"))
        self.setWizardStyle(QWizard.WizardStyle.ModernStyle)
        self.setOptions(
            QWizard.WizardOption.IndependentPages
            | QWizard.WizardOption.NoBackButtonOnStartPage
            | QWizard.WizardOption.NoDefaultButton
        )
        texts = {
            QWizard.WizardButton.CancelButton: self.tr("Close"),
            QWizard.WizardButton.BackButton: self.tr("< &Back"),
            QWizard.WizardButton.NextButton: self.tr("&Next >"),
            QWizard.WizardButton.FinishButton: self.tr("&Finish"),
        }
        for which, text in texts.items():
            self.setButtonText(which, text)
        close, *others = texts
        self.setButtonLayout([close, QWizard.WizardButton.Stretch, *others])
        for number, page in enumerate((ExportPage, QuantizePage, ConvertPage, VerifyPage, DeployPage)):
            self.setPage(number, page(session))
        self.steps = StepList(session)
        self.steps.rows_clicked(self._go_to)
        self.setSideWidget(self.steps)
        self.currentIdChanged.connect(self.steps.set_current)
        self.currentIdChanged.connect(self._show_primary)
        for number in self.pageIds():
            made = self.page(number)
            strip = getattr(made, "strip", None)
            if isinstance(strip, RunStrip):
                strip.done_changed.connect(self._show_primary)
            elif isinstance(made, DeployPage):
                made.done_changed.connect(self._show_primary)
        self.setStartId(self._start_page(start))
        session.runs_changed.connect(self._show_primary)
        self.resize(1000, 660)
        self.setMinimumSize(840, 460)
        self._show_primary()

    def focusNextPrevChild(self, next: bool) -> bool:
        """Tab goes as one reads: the list of pages, the page from top to bottom, the buttons below."""
        return move_focus((self.steps, self.currentPage(), *self.buttons_below()), forward=next)

    def buttons_below(self) -> tuple[QAbstractButton, ...]:
        """Close, back, next and finish, from left to right."""
        return tuple(self.button(which) for which in _BUTTONS)

    def _start_page(self, kind: str) -> int:
        if kind in PAGES:
            return PAGES.index(kind)
        return 0 if is_torch_source(self._session) else 1

    def _show_primary(self, *_: object) -> None:
        """One button is the next one to press: the page's own, and Next when that was done."""
        page = self.currentPage()
        strip = getattr(page, "strip", None)
        is_next = strip.is_done if isinstance(strip, RunStrip) else bool(getattr(page, "is_done", False))
        for which in (QWizard.WizardButton.NextButton, QWizard.WizardButton.FinishButton):
            found = self.button(which)
            if isinstance(found, QPushButton):
                found.setDefault(False)
                found.setAutoDefault(False)
                set_role(found, "primary" if is_next else "")

    def _go_to(self, number: int) -> None:
        if number != self.currentId():
            self.setCurrentId(number)


class StepList(QWidget):
    """One row per page with its state; a click goes there."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._current = 0
        self.setMinimumWidth(170)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 18, 4, 12)
        column.setSpacing(2)
        self.rows: list[Row] = []
        for _ in PAGES:
            row = Row()
            row.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            column.addWidget(row)
            self.rows.append(row)
        column.addStretch(1)
        for signal in (
            session.stages_changed,
            session.jobs_changed,
            session.project_changed,
            session.runs_changed,
        ):
            signal.connect(self.refresh)
        self.refresh()

    def rows_clicked(self, go_to: object) -> None:
        """Calls `go_to(number)` when a row is clicked."""
        assert callable(go_to)
        for number, row in enumerate(self.rows):
            row.clicked.connect(lambda _=False, n=number: go_to(n))

    def set_current(self, number: int) -> None:
        """Marks the page that is shown."""
        self._current = number
        self.refresh()

    def refresh(self, *_: object) -> None:
        """Follows the stages and jobs."""
        for number, (kind, row) in enumerate(zip(PAGES, self.rows)):
            icon, color = self._state(kind)
            row.show_texts(step_title(kind), icon=icon, icon_color=color)
            row.set_selected(number == self._current)

    def _state(self, kind: str) -> tuple[str, str]:
        session = self._session
        if kind == "deploy":
            if session.run_jobs:
                return "step-running", "accent"
            if session.last_results:
                return "step-done", "runs"
            return ("step-failed", "fails") if session.run_failures else ("step-waiting", "quiet")
        stages = [stage for stage in session.stages if stage.kind == kind]
        is_running = any(job.kind == "run_recipe" and job.status is JobStatus.RUNNING for job in session.jobs)
        if is_running and any(stage.id in session.step_progress for stage in stages):
            return "step-running", "accent"
        if any(stage.id in session.step_failures for stage in stages):
            return "step-failed", "fails"
        if kind == "verify" and any(
            session.step_results[s.id].failures for s in stages if s.id in session.step_results
        ):
            return "step-failed", "fails"
        if stages and all(stage.artifact is not None for stage in stages):
            return "step-done", "runs"
        if not stages:
            return "step-done", "quiet"  # nothing to do here
        return "step-waiting", "quiet"
