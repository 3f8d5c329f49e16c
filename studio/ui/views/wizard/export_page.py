"""ExportPage: torch → ONNX: opset, exporter, batch."""

from __future__ import annotations

from msgspec.structs import replace
from PySide6.QtWidgets import QCheckBox, QFormLayout, QWidget

from studio.project import Project, edit
from studio.recipes.advice import Advice, export_advice
from studio.recipes.recipe import Exporter, ExportStep
from studio.recipes.shape import export_step, with_export
from studio.recipes.suggest import same_choices, suggested_export
from studio.ui.session import Session
from studio.ui.texts import fill
from studio.ui.views.wizard.fields import choice_box, number_box
from studio.ui.views.wizard.source_facts import is_torch_source, source_opset
from studio.ui.views.wizard.step_page import StepPage
from studio.ui.widgets.parts import label

NEWEST_OPSET = 23
OLDEST_OPSET = 9


class ExportPage(StepPage):
    """Shown for every project; a project that starts from ONNX has nothing to choose here."""

    kind = "export"

    def __init__(self, session: Session) -> None:
        super().__init__(
            session,
            self.tr("Export"),
            self.tr("Turns the torch model into an ONNX graph, which all later steps read."),
            self.tr("&Run export"),
        )
        self._choices = QWidget()
        form = QFormLayout(self._choices)
        form.setContentsMargins(0, 0, 0, 0)
        form.setVerticalSpacing(6)
        self.opset = number_box(OLDEST_OPSET, NEWEST_OPSET)
        self.opset.valueChanged.connect(self._apply)
        form.addRow(self.tr("&Opset"), self.opset)
        self._opset_note = label("", "small", wrap=True)
        form.addRow("", self._opset_note)
        self.exporter = choice_box()
        for choice, text in (
            (Exporter.AUTO, self.tr("Automatic")),
            (Exporter.DYNAMO, self.tr("dynamo (torch.export)")),
            (Exporter.TORCHSCRIPT, self.tr("TorchScript (tracing)")),
        ):
            self.exporter.addItem(text, choice)
        self.exporter.currentIndexChanged.connect(self._apply)
        form.addRow(self.tr("&Exporter"), self.exporter)
        self._exporter_note = label("", "small", wrap=True)
        form.addRow("", self._exporter_note)
        self.any_batch = QCheckBox(self.tr("Any batch si&ze"))
        self.any_batch.toggled.connect(self._apply)
        form.addRow("", self.any_batch)
        self._batch_note = label("", "small", wrap=True)
        form.addRow("", self._batch_note)
        self.form.addWidget(self._choices)
        self._nothing = label("", wrap=True)
        self.form.addWidget(self._nothing)
        self.form.addStretch(1)
        self.start()

    def step_ids(self) -> tuple[str, ...]:
        """The export step."""
        step = export_step(self.session.project.recipe) if self.session.project else None
        return (step.id,) if step else ()

    def show_project(self, project: Project) -> None:
        """Puts the step's settings into the form."""
        is_torch = is_torch_source(self.session)
        self._choices.setVisible(is_torch)
        self._nothing.setVisible(not is_torch)
        self.strip.setVisible(is_torch or export_step(project.recipe) is not None)
        self.preset.setVisible(is_torch)
        if not is_torch:
            opset = source_opset(self.session)
            text = self.tr("The source is ONNX already: there is nothing to export.")
            if opset:
                text += " " + fill(self.tr("Its opset is {n}."), n=opset)
            self._nothing.setText(text)
            return
        step = self._step(project)
        self.opset.setValue(step.opset)
        self.exporter.setCurrentIndex(self.exporter.findData(step.exporter))
        self.any_batch.setChecked(step.dynamic_batch)
        self._opset_note.setText(
            self.tr("The version of ONNX operators. 18 suits every runtime that is looked after today.")
            if step.opset >= 18
            else self.tr("Below 18 the TorchScript exporter is used, for older runtimes and vendor tools.")
        )
        notes = {
            Exporter.AUTO: self.tr("dynamo first; where it fails, TorchScript. What worked is noted."),
            Exporter.DYNAMO: self.tr("Keeps control flow and names of modules; opset 18 or newer."),
            Exporter.TORCHSCRIPT: self.tr("Follows one example: branches on values are lost."),
        }
        self._exporter_note.setText(notes[step.exporter])
        self._batch_note.setText(
            self.tr("The first dimension stays free. Phones' accelerators want it fixed.")
            if step.dynamic_batch
            else self.tr("The shape is fixed as the source declares it, which every accelerator takes.")
        )

    def advice(self, project: Project) -> tuple[Advice, ...]:
        """What the export means for each target."""
        if not is_torch_source(self.session):
            opset = source_opset(self.session)
            if not opset:
                return ()
            as_it_is = ExportStep(id="export", opset=opset)
            return export_advice(as_it_is, project.targets, from_torch=False)
        return export_advice(self._step(project), project.targets)

    def problem(self, project: Project) -> str:
        """An impossible pair of exporter and opset, or a source without inputs."""
        if not is_torch_source(self.session):
            return ""
        step = self._step(project)
        if step.exporter is Exporter.DYNAMO and step.opset < 18:
            return self.tr("The dynamo exporter makes opset 18 at least: choose Automatic or a newer opset.")
        if not project.source.inputs and not project.source.path.endswith(".pt2"):
            return self.tr("The project does not say which inputs the source takes: name, type and shape.")
        return ""

    def apply_preset(self, target_ids: tuple[str, ...]) -> None:
        """Takes the suggested export."""
        self._edit(suggested_export(target_ids))

    def matches_preset(self, project: Project, target_ids: tuple[str, ...]) -> bool:
        """Whether the export is the suggested one."""
        return same_choices(self._step(project), suggested_export(target_ids))

    def _step(self, project: Project) -> ExportStep:
        return export_step(project.recipe) or ExportStep(id="export")

    def _apply(self, *_: object) -> None:
        if self.is_refreshing or self.session.project is None:
            return
        self._edit(
            replace(
                self._step(self.session.project),
                opset=self.opset.value(),
                exporter=Exporter(self.exporter.currentData()),  # Qt keeps the text of an enum
                dynamic_batch=self.any_batch.isChecked(),
            )
        )

    def _edit(self, step: ExportStep) -> None:
        self.session.edit(
            lambda p: edit.set_recipe(p, with_export(p.recipe, step)), self.tr("Change export"), merge=True
        )
