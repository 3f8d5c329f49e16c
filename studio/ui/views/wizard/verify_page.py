"""VerifyPage: how far each result is from the float original, on real inputs, and how far it may be."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QFormLayout,
    QHBoxLayout,
    QHeaderView,
    QTableWidget,
    QTableWidgetItem,
)

from studio.project import DataSet, Project, edit
from studio.recipes.recipe import VerifyStep
from studio.recipes.run import StepResult
from studio.recipes.shape import with_verification
from studio.ui.domain_texts import translate_sentence
from studio.ui.icons import icon
from studio.ui.session import Session
from studio.ui.texts import fill
from studio.ui.views.step_texts import bytes_text
from studio.ui.views.wizard.data_field import DataField
from studio.ui.views.wizard.fields import decimal_box, number_box
from studio.ui.views.wizard.made_text import accuracy_text, agreement_text, snr_text
from studio.ui.views.wizard.step_page import StepPage
from studio.ui.widgets.parts import label

_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class VerifyPage(StepPage):
    """Budgets and data above, one row per result below."""

    kind = "verify"

    def __init__(self, session: Session) -> None:
        super().__init__(
            session,
            self.tr("Verify"),
            self.tr("Loads what was made in its real runtime and compares it with the float original."),
            self.tr("&Run verify"),
        )
        form = QFormLayout()
        form.setVerticalSpacing(8)
        self.data = DataField(session, self.tr("Evaluation data"))
        self.data.changed.connect(self._on_data)
        self.data.looked_for_again.connect(self.refresh)
        form.addRow(self.tr("&Compare on"), self.data)
        self.samples = number_box(1, 100_000)
        self.samples.editingFinished.connect(self._apply)
        form.addRow(self.tr("S&amples"), self.samples)
        self.limits_loss = QCheckBox(self.tr("Accuracy may &fall by"))
        self.loss = decimal_box(0, 100, 2)
        self.loss.setSingleStep(0.5)
        self.loss.setSuffix(" " + self.tr("points"))
        self.limits_snr = QCheckBox(self.tr("SNR m&ust reach"))
        self.snr = decimal_box(-20, 200, 0)
        self.snr.setSuffix(" dB")
        for check, box in ((self.limits_loss, self.loss), (self.limits_snr, self.snr)):
            row = QHBoxLayout()
            row.addWidget(box)
            row.addStretch(1)
            box.setAccessibleName(check.text().replace("&", ""))
            box.editingFinished.connect(self._apply)
            check.toggled.connect(self._apply)
            form.addRow(check, row)
        self.form.addLayout(form)
        self.form.addWidget(label(self._meaning(), "small", wrap=True))
        self.form.addStretch(1)
        self.table = self._make_table()
        body = self.layout()
        assert body is not None
        self.advice_panel.hide()
        self.preset.hide()
        self.form.insertWidget(2, self.table)
        empty = self.tr("Nothing is made yet: choose a quantization or a file on the pages before.")
        self._empty = label(empty, "quiet", wrap=True)
        self.form.insertWidget(3, self._empty)
        self._shown = self._form_step()
        self.start()

    def _meaning(self) -> str:
        return self.tr(
            "SNR compares the size of the outputs with the size of the error: 20 dB is an error of a "
            "tenth, 40 dB of a hundredth. Float conversions reach 80 dB and more, good int8 20 to 40 dB."
        )

    def _make_table(self) -> QTableWidget:
        headers = (
            self.tr("Result"),
            self.tr("Size"),
            self.tr("Accuracy"),
            self.tr("SNR"),
            self.tr("Largest error"),
            self.tr("Same class"),
            self.tr("Within budget"),
        )
        table = QTableWidget(0, len(headers))
        table.setHorizontalHeaderLabels(headers)
        table.setAccessibleName(self.tr("Comparison with the float original"))
        table.verticalHeader().hide()
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        table.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        table.setTabKeyNavigation(False)
        table.setShowGrid(False)
        table.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        table.horizontalHeader().setDefaultAlignment(_RIGHT)
        for number in (0, len(headers) - 1):
            item = QTableWidgetItem(headers[number])
            item.setTextAlignment(_LEFT)
            table.setHorizontalHeaderItem(number, item)
        table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        table.horizontalHeader().setSectionResizeMode(len(headers) - 1, QHeaderView.ResizeMode.Stretch)
        return table

    def step_ids(self) -> tuple[str, ...]:
        """Every comparison of the recipe."""
        project = self.session.project
        return tuple(s.id for s in project.recipe.steps if isinstance(s, VerifyStep)) if project else ()

    def show_project(self, project: Project) -> None:
        """Puts the first comparison's settings into the form: the page keeps all alike."""
        step = self._step(project)
        self.data.show_data(project.evaluation or project.calibration)
        self.samples.setValue(step.samples)
        self.limits_loss.setChecked(step.max_accuracy_loss is not None)
        self.loss.setEnabled(step.max_accuracy_loss is not None)
        if step.max_accuracy_loss is not None:
            self.loss.setValue(step.max_accuracy_loss * 100)
        self.limits_snr.setChecked(step.min_snr_db is not None)
        self.snr.setEnabled(step.min_snr_db is not None)
        if step.min_snr_db is not None:
            self.snr.setValue(step.min_snr_db)
        self._shown = self._form_step()
        self._show_table(project)

    def problem(self, project: Project) -> str:
        """Data that cannot be read, or an accuracy budget without labels."""
        if not self.step_ids():
            return ""
        if self.data.problem:
            return self.data.problem
        summary = self.data.summary
        if self._step(project).max_accuracy_loss is not None and (summary is None or not summary.has_labels):
            return self.tr(
                "An accuracy budget needs labels: name data that has them, or take the budget away."
            )
        return ""

    def initializePage(self) -> None:
        """Gives every result a comparison when the page is entered for the first time."""
        project = self.session.project
        if project is not None and not self.step_ids():
            self._edit(VerifyStep(id="verify", after="source"))

    def show_made(self, project: Project) -> None:
        """Follows the comparisons as they are made."""
        self._show_table(project)

    def _step(self, project: Project) -> VerifyStep:
        found = next((s for s in project.recipe.steps if isinstance(s, VerifyStep)), None)
        return found or VerifyStep(id="verify", after="source")

    def _show_table(self, project: Project) -> None:
        steps = [s for s in project.recipe.steps if isinstance(s, VerifyStep)]
        self.table.setRowCount(len(steps))
        for row, step in enumerate(steps):
            for column, (text, name, color, tip) in enumerate(self._cells(step)):
                item = QTableWidgetItem(text)
                if 0 < column < self.table.columnCount() - 1:
                    item.setTextAlignment(_RIGHT)
                if name:
                    item.setIcon(icon(name, color))
                item.setToolTip(tip)
                self.table.setItem(row, column, item)
        height = self.table.horizontalHeader().sizeHint().height() + 4
        height += sum(self.table.rowHeight(row) for row in range(self.table.rowCount()))
        self.table.setFixedHeight(height)
        self.table.setVisible(bool(steps))
        self._empty.setVisible(not steps)
        self.strip.setVisible(bool(steps))

    def _cells(self, step: VerifyStep) -> list[tuple[str, str, str, str]]:
        """(text, icon, icon's colour, tool tip) of each column."""
        stage = self.session.stage(step.after)
        size = (
            bytes_text(stage.artifact.size_bytes) if stage is not None and stage.artifact is not None else ""
        )
        result = self.session.step_results.get(step.id)
        figures = result.figures if result is not None else None
        if result is None or figures is None:
            failed = self.session.step_failures.get(step.id)
            word = self.tr("failed") if failed else self.tr("not compared yet")
            state = ("step-failed", "fails") if failed else ("step-waiting", "quiet")
            tip = translate_sentence(failed.message) if failed else ""
            return [
                (step.after, "", "", ""),
                (size, "", "", ""),
                *[("", "", "", "")] * 4,
                (word, *state, tip),
            ]
        failures = self._failures(step, result)
        tip = "\n".join(translate_sentence(f) for f in failures)
        state = ("step-failed", "fails") if failures else ("step-done", "runs")
        origin = ""
        if result.verification is not None:
            shown = fill(
                self.tr("{n} samples: {origin}"), n=figures.samples, origin=result.verification.origin
            )
            origin = f"{shown}\n{result.verification.evidence}"
        texts = (size, accuracy_text(figures), snr_text(figures), f"{figures.max_abs_error:.2g}",
                 agreement_text(figures))  # fmt: skip
        return [
            (step.after, "", "", origin),
            *[(text, "", "", origin) for text in texts],
            (self.tr("no") if failures else self.tr("yes"), *state, tip),
        ]

    def _failures(self, step: VerifyStep, result: StepResult) -> tuple[str, ...]:
        """Budgets that are broken now: they may have changed since the comparison."""
        from studio.recipes.steps.verify import broken_budgets

        return broken_budgets(step, result.figures) if result.figures is not None else ()

    def _on_data(self, data: DataSet | None) -> None:
        self.session.edit(lambda p: edit.set_evaluation(p, data), self.tr("Evaluation data"))

    def _apply(self, *_: object) -> None:
        wanted = self._form_step()
        if not self.is_refreshing and wanted != self._shown:  # a field that was only left changes nothing
            self._edit(wanted)

    def _form_step(self) -> VerifyStep:
        """What the form says now, the same for every result."""
        return VerifyStep(
            id="verify",
            after="source",
            samples=self.samples.value(),
            max_accuracy_loss=self.loss.value() / 100 if self.limits_loss.isChecked() else None,
            min_snr_db=self.snr.value() if self.limits_snr.isChecked() else None,
        )

    def _edit(self, step: VerifyStep) -> None:
        self.session.edit(
            lambda p: edit.set_recipe(
                p,
                with_verification(
                    p.recipe,
                    samples=step.samples,
                    max_accuracy_loss=step.max_accuracy_loss,
                    min_snr_db=step.min_snr_db,
                ),
            ),
            self.tr("Change verify"),
            merge=True,
        )


def _plain(text: str) -> tuple[str, str, str, str]:
    return text, "", "", ""
