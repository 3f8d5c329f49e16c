"""QuantizePage: float, int8 or float16, and the data that int8 is calibrated on."""

from __future__ import annotations

from msgspec.structs import replace
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QFormLayout,
    QLineEdit,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from studio.project import DataSet, Project, edit
from studio.recipes.advice import Advice, quantize_advice
from studio.recipes.recipe import Calibration, Preprocessing, QuantizeScheme, QuantizeStep
from studio.recipes.shape import quantize_step, with_quantize
from studio.recipes.suggest import same_choices, suggested_quantize
from studio.ui.session import Session
from studio.ui.views.wizard.data_field import DataField
from studio.ui.views.wizard.fields import choice_box, number_box
from studio.ui.views.wizard.preprocessing_field import PreprocessingField
from studio.ui.views.wizard.source_facts import has_convolutions, is_torch_source
from studio.ui.views.wizard.step_page import StepPage
from studio.ui.widgets.parts import label

FLOAT = ""
_NEW = QuantizeStep(id="quantize", after="source")


class QuantizePage(StepPage):
    """One radio button per scheme; settings of static int8 below it."""

    kind = "quantize"

    def __init__(self, session: Session) -> None:
        super().__init__(
            session,
            self.tr("Quantize"),
            self.tr("Fewer bits: a smaller file and, where the hardware computes in them, a faster one."),
            self.tr("&Run quantize"),
        )
        self._group = QButtonGroup(self)
        self.radios: dict[str, QRadioButton] = {}
        for scheme, title, sentence in (
            (FLOAT, self.tr("Leave it in &float"), self.tr("Nothing is lost and nothing is gained.")),
            (
                str(QuantizeScheme.STATIC),
                self.tr("int8, &static"),
                self.tr("Weights and activations in 8 bits, with ranges learned from real inputs."),
            ),
            (
                str(QuantizeScheme.DYNAMIC),
                self.tr("int8, &dynamic"),
                self.tr("Weights in 8 bits, ranges found while it runs: needs no data, suits transformers."),
            ),
            (
                str(QuantizeScheme.FLOAT16),
                self.tr("float&16"),
                self.tr("Half the size, nearly the same numbers; needs no data."),
            ),
        ):
            radio = QRadioButton(title)
            radio.setAccessibleDescription(sentence)
            radio.setProperty("scheme", scheme)
            self._group.addButton(radio)
            self.radios[scheme] = radio
            note = label(sentence, "small", wrap=True)
            note.setContentsMargins(22, 0, 0, 0)
            pair = QVBoxLayout()
            pair.setSpacing(0)
            pair.addWidget(radio)
            pair.addWidget(note)
            self.form.addLayout(pair)
        self._group.buttonClicked.connect(self._on_scheme)
        self._static = self._make_static()
        self.form.addWidget(self._static)
        self.form.addStretch(1)
        self.start()

    def _make_static(self) -> QWidget:
        box = QWidget()
        form = QFormLayout(box)
        form.setContentsMargins(0, 6, 0, 0)
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        form.setVerticalSpacing(8)
        self.data = DataField(self.session, self.tr("Calibration data"))
        self.data.changed.connect(self._on_data)
        self.data.looked_for_again.connect(self.refresh)
        form.addRow(self.tr("&Calibrate on"), self.data)
        self.preprocessing = PreprocessingField()
        self.preprocessing.changed.connect(self._on_preprocessing)
        form.addRow(self.tr("Preprocessing"), self.preprocessing)
        self.samples = number_box(1, 100_000)
        self.samples.editingFinished.connect(self._apply)
        form.addRow(self.tr("S&amples"), self.samples)
        self.method = choice_box()
        for method, text in (
            (Calibration.MINMAX, self.tr("Smallest and largest value")),
            (Calibration.ENTROPY, self.tr("Entropy: rare large values are cut off")),
            (Calibration.PERCENTILE, self.tr("Percentile 99.999")),
        ):
            self.method.addItem(text, method)
        self.method.activated.connect(self._apply)
        form.addRow(self.tr("Ran&ges"), self.method)
        self.per_channel = QCheckBox(self.tr("One scale per c&hannel"))
        self.per_channel.toggled.connect(self._apply)
        form.addRow("", self.per_channel)
        self.keep_float = QLineEdit()
        self.keep_float.setPlaceholderText(self.tr("names of nodes, with commas; usually none"))
        self.keep_float.editingFinished.connect(self._apply)
        form.addRow(self.tr("&Keep in float"), self.keep_float)
        return box

    def step_ids(self) -> tuple[str, ...]:
        """The quantize step, none for float."""
        step = quantize_step(self.session.project.recipe) if self.session.project else None
        return (step.id,) if step else ()

    def show_project(self, project: Project) -> None:
        """Puts the step's settings into the form."""
        step = quantize_step(project.recipe)
        scheme = str(step.scheme) if step else FLOAT
        self.radios[scheme].setChecked(True)
        self._static.setVisible(scheme == QuantizeScheme.STATIC)
        self.strip.setVisible(step is not None)
        self.data.show_data(project.calibration)
        self.preprocessing.show_preprocessing(project.preprocessing)
        if step is not None:
            self.samples.setValue(step.samples)
            self.method.setCurrentIndex(self.method.findData(step.calibration))
            self.per_channel.setChecked(step.per_channel)
            self.keep_float.setText(", ".join(step.keep_float))

    def advice(self, project: Project) -> tuple[Advice, ...]:
        """What the scheme means for each target."""
        step = quantize_step(project.recipe)
        return quantize_advice(
            step,
            project.targets,
            has_convolutions=has_convolutions(self.session),
            from_torch=is_torch_source(self.session),
        )

    def problem(self, project: Project) -> str:
        """Static int8 wants data that can be read, and numbers that make sense."""
        step = quantize_step(project.recipe)
        if step is None or step.scheme is not QuantizeScheme.STATIC:
            return ""
        if project.calibration is None:
            return self.tr(
                "Static int8 learns its ranges from real inputs: name a folder of pictures or an array file."
            )
        return self.data.problem or self.preprocessing.problem

    def apply_preset(self, target_ids: tuple[str, ...]) -> None:
        """Takes the suggested scheme."""
        self._edit(self._suggested(target_ids))

    def matches_preset(self, project: Project, target_ids: tuple[str, ...]) -> bool:
        """Whether the scheme is the suggested one."""
        step, suggested = quantize_step(project.recipe), self._suggested(target_ids)
        return step is suggested if step is None or suggested is None else same_choices(step, suggested)

    def _suggested(self, target_ids: tuple[str, ...]) -> QuantizeStep | None:
        has_data = self.session.project is not None and self.session.project.calibration is not None
        return suggested_quantize(
            target_ids, has_data=has_data, has_convolutions=has_convolutions(self.session)
        )

    def _on_scheme(self, radio: QRadioButton) -> None:
        scheme = radio.property("scheme")
        project = self.session.project
        if project is None or self.is_refreshing:
            return
        step = quantize_step(project.recipe) or _NEW
        self._edit(None if scheme == FLOAT else replace(step, scheme=QuantizeScheme(scheme)))

    def _on_data(self, data: DataSet | None) -> None:
        self.session.edit(lambda p: edit.set_calibration(p, data), self.tr("Calibration data"))

    def _on_preprocessing(self, how: Preprocessing) -> None:
        self.session.edit(lambda p: edit.set_preprocessing(p, how), self.tr("Preprocessing"))

    def _apply(self, *_: object) -> None:
        project = self.session.project
        step = quantize_step(project.recipe) if project else None
        if step is None or self.is_refreshing:
            return
        names = tuple(name.strip() for name in self.keep_float.text().split(",") if name.strip())
        self._edit(
            replace(
                step,
                calibration=Calibration(self.method.currentData()),  # Qt keeps the text of an enum
                samples=self.samples.value(),
                per_channel=self.per_channel.isChecked(),
                keep_float=names,
            )
        )

    def _edit(self, step: QuantizeStep | None) -> None:
        self.session.edit(
            lambda p: edit.set_recipe(p, with_quantize(p.recipe, step)),
            self.tr("Change quantize"),
            merge=True,
        )
