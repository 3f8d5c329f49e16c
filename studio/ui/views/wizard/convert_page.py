"""ConvertPage: which runtimes get a file: .ort, .tflite, .pte."""

from __future__ import annotations

from msgspec.structs import replace
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QFormLayout, QFrame, QVBoxLayout, QWidget

from studio.backends import Availability
from studio.backends.registry import open_backend
from studio.project import Project, edit
from studio.recipes.advice import Advice, convert_advice
from studio.recipes.recipe import ConvertStep, Recipe
from studio.recipes.shape import FROM_SOURCE, convert_step, with_convert
from studio.recipes.suggest import suggested_conversions
from studio.targets import TARGETS
from studio.ui.domain_texts import translate_sentence
from studio.ui.session import Session
from studio.ui.views.wizard.fields import choice_box
from studio.ui.views.wizard.made_text import made_text
from studio.ui.views.wizard.source_facts import is_torch_source
from studio.ui.views.wizard.step_page import StepPage
from studio.ui.widgets.parts import label

FORMATS = {"ort": "ort", "tflite": "litert", "pte": "executorch"}
"""format → id of the backend that makes it."""


class ConvertPage(StepPage):
    """A card per format; at least one is made, or the ONNX file is deployed as it is."""

    kind = "convert"

    def __init__(self, session: Session) -> None:
        super().__init__(
            session,
            self.tr("Convert"),
            self.tr("Makes the files that the runtimes on the phone load."),
            self.tr("&Run convert"),
        )
        self.cards: dict[str, FormatCard] = {}
        for format_, title, sentence, label_, choices in (
            (
                "ort", "ONNX Runtime", self.tr("Opens faster than .onnx: it is optimized already."),
                self.tr("Optimization"),
                (
                    ("auto", self.tr("Automatic: as the target wants it")),
                    ("extended", self.tr("extended: fused for the CPU")),
                    ("basic", self.tr("basic: accelerators can take its nodes")),
                    ("all", self.tr("all: for processors like this one only")),
                    ("disabled", self.tr("disabled: as it was exported")),
                ),
            ),
            ("tflite", "LiteRT", self.tr("For LiteRT's CPU, GPU and NPU delegates; float."), "", ()),
            (
                "pte", "ExecuTorch", self.tr("For ExecuTorch; the accelerator is chosen while converting."),
                self.tr("Lower for"),
                tuple((t, TARGETS[t].title) for t in
                      ("executorch/xnnpack", "executorch/portable", "executorch/vulkan")),
            ),
        ):  # fmt: skip
            record = self.tr("&Keep an ETRecord (for profiling)") if format_ == "pte" else ""
            card = FormatCard(format_, title, sentence, label_, choices, record_label=record)
            card.changed.connect(lambda f=format_: self._apply(f))
            self.cards[format_] = card
            self.form.addWidget(card)
        self.form.addStretch(1)
        self._available = {f: open_backend(b).probe() for f, b in FORMATS.items()}
        self.start()

    def step_ids(self) -> tuple[str, ...]:
        """The conversions."""
        project = self.session.project
        return tuple(s.id for s in project.recipe.steps if isinstance(s, ConvertStep)) if project else ()

    def show_project(self, project: Project) -> None:
        """Puts the conversions into the cards."""
        is_torch = is_torch_source(self.session)
        for format_, card in self.cards.items():
            step = convert_step(project.recipe, format_)
            card.show_step(step, self._why_not(format_, is_torch) if step is None else "")
        self.show_made(project)

    def show_made(self, project: Project) -> None:
        """Says in each card what was made."""
        for format_, card in self.cards.items():
            step = convert_step(project.recipe, format_)
            stage = self.session.stage(step.id) if step else None
            if stage is not None and stage.artifact is not None:
                card.show_made(made_text(stage.artifact, was_cached=stage.was_cached))
            else:
                card.show_made("")

    def advice(self, project: Project) -> tuple[Advice, ...]:
        """Which file each target loads."""
        steps = tuple(s for s in project.recipe.steps if isinstance(s, ConvertStep))
        return convert_advice(steps, project.targets)

    def problem(self, project: Project) -> str:
        """A conversion that cannot be made from this source or on this computer."""
        is_torch = is_torch_source(self.session)
        for step in project.recipe.steps:
            if isinstance(step, ConvertStep) and step.format in FORMATS:
                why = self._why_not(step.format, is_torch)
                if why:
                    return f".{step.format}: {why}"
        return ""

    def apply_preset(self, target_ids: tuple[str, ...]) -> None:
        """Takes the suggested files, leaves the others out."""
        self.session.edit(
            lambda p: edit.set_recipe(p, self._suggested(p.recipe, target_ids)), self.tr("Change convert")
        )

    def matches_preset(self, project: Project, target_ids: tuple[str, ...]) -> bool:
        """Whether the files are the suggested ones."""
        return self._suggested(project.recipe, target_ids) == project.recipe

    def _suggested(self, recipe: Recipe, target_ids: tuple[str, ...]) -> Recipe:
        wanted = {
            s.format: s
            for s in suggested_conversions(target_ids, is_torch_source=is_torch_source(self.session))
        }
        for format_ in FORMATS:
            recipe = with_convert(recipe, format_, wanted.get(format_))
        return recipe

    def _why_not(self, format_: str, is_torch: bool) -> str:
        if format_ in FROM_SOURCE and not is_torch:
            return self.tr("is made from a torch source; this project starts from ONNX.")
        available: Availability = self._available[format_]
        if not available.is_available:
            return f"{translate_sentence(available.reason)} {available.fix}"
        return ""

    def _apply(self, format_: str) -> None:
        if self.is_refreshing or self.session.project is None:
            return
        card = self.cards[format_]
        step: ConvertStep | None = None
        if card.is_wanted:
            step = convert_step(self.session.project.recipe, format_)
            if step is None:
                target = {"ort": "ort/cpu", "tflite": "litert/cpu", "pte": "executorch/xnnpack"}[format_]
                step = ConvertStep(id=format_, after="source", format=format_, target=target)
            if format_ == "ort":
                step = replace(step, optimization=card.choice)
            elif format_ == "pte":
                step = replace(step, target=card.choice, etrecord=card.keeps_record)
        self.session.edit(
            lambda p: edit.set_recipe(p, with_convert(p.recipe, format_, step)),
            self.tr("Change convert"),
            merge=True,
        )


class FormatCard(QFrame):
    """A format: make it or not, its one choice, what was made, or why it cannot be made."""

    changed = Signal()

    def __init__(
        self,
        format_: str,
        title: str,
        sentence: str,
        choice_label: str,
        choices: tuple[tuple[str, str], ...],
        *,
        record_label: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("Card")
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 10, 12, 10)
        column.setSpacing(4)
        self.check = QCheckBox(f".{format_} · {title}")
        self.check.setAccessibleDescription(sentence)
        self.check.toggled.connect(self._on_toggled)
        column.addWidget(self.check)
        column.addWidget(label(sentence, "small", wrap=True))
        self._combo = choice_box()
        self._form = QWidget()
        form = QFormLayout(self._form)
        form.setContentsMargins(0, 4, 0, 0)
        for value, text in choices:
            self._combo.addItem(text, value)
        self._combo.setAccessibleName(choice_label)
        self._combo.activated.connect(lambda _: self.changed.emit())
        form.addRow(choice_label, self._combo)
        self.record = QCheckBox(record_label)
        if record_label:
            self.record.setToolTip(
                self.tr("The graph before delegation, beside the .pte, with all weights: as large again.")
            )
            self.record.toggled.connect(self._on_toggled)
            form.addRow(self.record)
        column.addWidget(self._form)
        self._made = label("", "good", wrap=True)
        column.addWidget(self._made)
        self._why = label("", "quiet", wrap=True)
        column.addWidget(self._why)

    @property
    def is_wanted(self) -> bool:
        """Whether the file is to be made."""
        return self.check.isChecked()

    @property
    def choice(self) -> str:
        """The chosen optimization or target."""
        return str(self._combo.currentData())

    @property
    def keeps_record(self) -> bool:
        """Whether what was written down while converting is kept beside the file."""
        return self.record.isChecked()

    def show_step(self, step: ConvertStep | None, why_not: str) -> None:
        """Shows the step; `why_not` says why it cannot be chosen."""
        self.check.setChecked(step is not None)
        self.check.setEnabled(not why_not)
        self._form.setVisible(step is not None and self._combo.count() > 0)
        if step is not None:
            value = step.optimization if step.format == "ort" else step.target or "executorch/xnnpack"
            self._combo.setCurrentIndex(max(0, self._combo.findData(value)))
            self.record.setChecked(step.etrecord)
        self._why.setText(why_not)
        self._why.setVisible(bool(why_not))

    def show_made(self, text: str) -> None:
        """Says what was made."""
        self._made.setText(text)
        self._made.setVisible(bool(text))

    def _on_toggled(self, _is_on: bool) -> None:
        self.changed.emit()
