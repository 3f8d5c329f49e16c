"""FixDialog: a rewrite of the graph that helps a target: what it does, what it changed, the proof."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import msgspec
from PySide6.QtCore import QTemporaryDir, QTimer, Signal
from PySide6.QtWidgets import (
    QFileDialog,
    QFormLayout,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QProgressBar,
    QVBoxLayout,
    QWidget,
)

from studio.errors import InputError
from studio.jobs.job import Done, Failed
from studio.project import edit
from studio.recipes.fixes import FixOptions, FixOutcome, find_fix
from studio.recipes.fixes.apply import Judged
from studio.recipes.fixes.fix import Needs
from studio.recipes.recipe import SOURCE, FixStep
from studio.records import from_json
from studio.targets import TARGETS
from studio.ui.domain_texts import translate_sentence
from studio.ui.job_runner import COMPUTE
from studio.ui.light_edits import can_edit
from studio.ui.session import Session
from studio.ui.texts import fill, translate
from studio.ui.widgets.dialog import Dialog
from studio.ui.widgets.parts import button, hairline, label


class FixDialog(Dialog):
    """Tries the fix at once and shows what it changed and the proof; then it goes into the recipe, or to a
    new file beside the old one."""

    step_made = Signal(object, str)
    """(FixStep, words for undo): the fix as a step after the stage that is looked at."""

    def __init__(self, session: Session, fix_id: str, node: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Apply a fix"))
        self._session = session
        self._fix = find_fix(fix_id)
        self._outcome: FixOutcome | None = None
        self._job_id = ""
        self._scratch = QTemporaryDir()
        self._tried = ""
        stage, opened = session.current_stage, session.opened
        self._path = stage.path if stage is not None else None
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 14)
        column.setSpacing(10)
        column.addWidget(label(translate_sentence(self._fix.title), "title", wrap=True))
        column.addWidget(label(translate_sentence(self._fix.gain), wrap=True))
        provenance = opened.graph.node_provenance.get(node) if opened is not None else None
        if self._fix.torch_advice:
            where = (
                f" ({Path(provenance.file).name}:{provenance.line})" if provenance and provenance.file else ""
            )
            advice = fill(self.tr("In Python{where}: {advice}"), where=where,
                          advice=translate_sentence(self._fix.torch_advice))  # fmt: skip
            column.addWidget(label(advice, "quiet", wrap=True, selectable=True))
        form = QFormLayout()
        self._dims = QLineEdit()
        if Needs.DIMS in self._fix.needs:
            self._dims.setPlaceholderText(self.tr("sizes that the model runs with are found"))
            self._dims.editingFinished.connect(self._on_dims)
            form.addRow(self.tr("Dims"), self._dims)
            names = fill(self.tr("Its dims: {names}. In a file of its own each: N=1,4"),
                         names=", ".join(self._symbolic_dims()) or "–")  # fmt: skip
            form.addRow("", label(names, "small", wrap=True))
        column.addLayout(form)
        promise = self.tr(
            "Old and new model are run on the same inputs; when their outputs differ, the fix is refused."
        )
        column.addWidget(label(promise, "small", wrap=True))
        self._busy = QProgressBar()
        self._busy.setRange(0, 0)
        self._busy.hide()
        column.addWidget(self._busy)
        self._result = QVBoxLayout()
        column.addLayout(self._result)
        row = QHBoxLayout()
        self._use = button(self.tr("Use as the new source"), self._use_result)
        self._use.hide()
        row.addWidget(self._use)
        row.addStretch(1)
        row.addWidget(button(self.tr("Close"), self.reject))
        self._apply = button(self.tr("Apply to a file…"), self._ask_where)
        self._apply.setEnabled(self._path is not None and self._path.suffix == ".onnx")
        self._add = button(self.tr("Add to the recipe"), self._make_step, role="primary")
        self._add.setEnabled(can_edit(session))
        self._add.setDefault(True)
        row.addWidget(self._apply)
        row.addWidget(self._add)
        column.addLayout(row)
        if not self._apply.isEnabled():
            self._say(
                self.tr("Fixes rewrite ONNX files: export the model first, then open that stage."), "quiet"
            )
        elif Needs.INPUTS in self._fix.needs and not self._inputs():
            self._say(
                self.tr("As a step it takes its ranges from the calibration data, and is proven then."),
                "quiet",
            )
        else:
            QTimer.singleShot(0, self, self.try_it)
        self._add.setFocus()
        self.setMinimumWidth(520)

    def try_it(self) -> None:
        """Rewrites into a scratch file: verdicts before and after, and the proof."""
        if self._path is not None and self._scratch.isValid():
            self._tried = self._dims.text()
            self._start(Path(self._scratch.path()) / self._path.name, is_trial=True)

    def apply_to(self, out: Path) -> None:
        """Starts the rewrite into `out`."""
        self._start(out, is_trial=False)

    def done(self, result: int) -> None:
        """Ends a trial that is under way: nobody would see what it says."""
        job_id, self._job_id = self._job_id, ""
        if job_id:
            self._session.cancel(job_id)
        super().done(result)

    def _start(self, out: Path, *, is_trial: bool) -> None:
        from studio.jobs.apply_fix import ApplyFix

        project = self._session.project
        self._clear_result()
        try:
            options = FixOptions(
                dims=parse_dims(self._dims.text()),
                target=self._session.target_id,
                soc=project.soc if project else "",
                inputs_path=self._inputs(),
            )
        except InputError as error:
            self._say(str(error), "bad")
            return
        spec = ApplyFix(
            path=str(self._path),
            fix=self._fix.id,
            out=str(out),
            options=options,
            targets=project.targets if project else (),
        )
        self._apply.setEnabled(False)
        self._busy.show()
        title = fill(self.tr("Fix: {title}"), title=translate_sentence(self._fix.title))
        then = partial(self._on_end, is_trial)
        self._job_id = self._session.start(spec, title=title, lane=COMPUTE, then=then, quiet=True)

    def _on_dims(self) -> None:
        """Other sizes are tried when the person is done typing them."""
        if self._path is not None and self._path.suffix == ".onnx" and self._dims.text() != self._tried:
            self._add.setEnabled(can_edit(self._session))
            self.try_it()

    def _inputs(self) -> str:
        """The project's calibration data, where they are inputs as they are (`.npz`); else empty."""
        project, folder = self._session.project, self._session.folder
        if project is None or folder is None or project.calibration is None:
            return ""
        path = folder / project.calibration.path
        return str(path) if path.suffix == ".npz" and path.is_file() else ""

    def _make_step(self) -> None:
        """The fix as a step of the recipe, with one size per dim."""
        try:
            dims = parse_dims(self._dims.text())
            if any(len(sizes) > 1 for sizes in dims.values()):
                raise InputError("A step of the recipe makes one file.", hint="Give each dim one size: N=1")
        except InputError as error:
            self._say(str(error), "bad")
            return
        step = FixStep(
            id="fix",
            after=self._session.current_stage_id,
            fix=self._fix.id,
            dims={name: sizes[0] for name, sizes in dims.items()},
            target=self._session.target_id,
        )
        self.step_made.emit(step, translate_sentence(self._fix.title))
        self.accept()

    def _ask_where(self) -> None:
        if self._path is None:
            return
        folder = self._session.folder or self._path.parent
        first = folder / f"{self._path.stem}-{self._fix.id}.onnx"
        path, _ = QFileDialog.getSaveFileName(
            self, self.tr("Write the fixed model to"), str(first), "ONNX (*.onnx)"
        )
        if path:
            self.apply_to(Path(path))

    def _on_end(self, is_trial: bool, outcome: Done | Failed) -> None:
        if not self._job_id:
            return  # closed by now
        self._job_id = ""
        self._busy.hide()
        self._apply.setEnabled(True)
        if isinstance(outcome, Failed):
            self._add.setEnabled(self._add.isEnabled() and not is_trial)  # the step would be refused as well
            self._say(
                f"{translate_sentence(outcome.message)} {translate_sentence(outcome.hint)}".strip(), "bad"
            )
            return
        self._outcome = from_json(bytes(outcome.result), FixOutcome, where="apply_fix")
        self._show_outcome(self._outcome, is_trial=is_trial)

    def _show_outcome(self, outcome: FixOutcome, *, is_trial: bool) -> None:
        self._apply.setVisible(is_trial)
        self._add.setVisible(is_trial)
        proof = outcome.proof
        self._say(
            fill(
                self.tr("Nodes changed: {n}; largest difference {error} of the range, {allowed} allowed."),
                n=len(outcome.changed),
                error=f"{proof.max_relative_error:.2g}",
                allowed=f"{proof.tolerance:g}",
            ),
            "good",
        )
        after = outcome.after[0] if outcome.after else {}
        if outcome.before and after:
            self._result.addWidget(hairline())
        table = QWidget()
        grid = QGridLayout(table)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(20)
        for row, (target_id, before) in enumerate(outcome.before.items()):
            if target_id in after:
                for column, text in enumerate(_change_texts(target_id, before, after[target_id])):
                    grid.addWidget(label(text, "" if column == 0 else "quiet"), row, column)
        self._result.addWidget(table)
        for note in outcome.notes:
            self._say(translate_sentence(note), "small")
        for file in () if is_trial else outcome.files:
            self._say(file, "small")
        QTimer.singleShot(0, self, self.adjustSize)
        is_source = self._session.current_stage_id == SOURCE
        self._use.setVisible(not is_trial and len(outcome.files) == 1 and is_source)

    def _use_result(self) -> None:
        folder = self._session.folder
        if self._outcome is None or folder is None:
            return
        from studio.artifact import hash_file
        from studio.project.places import relative_to_folder

        path = Path(self._outcome.files[0])
        with self._session.telling_failures():
            relative = relative_to_folder(path, folder)
            sha256 = hash_file(path)
            self._session.edit(
                lambda p: edit.set_source(p, msgspec.structs.replace(p.source, path=relative, sha256=sha256)),
                translate_sentence(self._fix.title),
            )
        self.accept()

    def _clear_result(self) -> None:
        while (item := self._result.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.deleteLater()

    def _say(self, text: str, role: str = "") -> None:
        self._result.addWidget(label(text, role, wrap=True, selectable=True))

    def _symbolic_dims(self) -> list[str]:
        opened = self._session.opened
        if opened is None:
            return []
        names: dict[str, None] = {}
        for tensor in opened.graph.main_inputs():
            for dim in opened.graph.tensor_shape[tensor] or ():
                if isinstance(dim, str):
                    names[dim] = None
        return list(names)


def parse_dims(text: str) -> dict[str, tuple[int, ...]]:
    """`N=1,4 H=224` as values per dim. Raises InputError."""
    result = {}
    for word in text.split():
        name, _, values = word.partition("=")
        try:
            result[name] = tuple(int(v) for v in values.split(","))
        except ValueError:
            raise InputError(f"“{word}” is not a dim with its values.", hint="Write: N=1,4 H=224") from None
    return result


def _change_texts(target_id: str, before: Judged, after: Judged) -> tuple[str, str, str]:
    """A target, its nodes that are not taken before and after, its partitions before and after."""
    old, new = (j.counts.get("falls_back", 0) + j.counts.get("fails", 0) for j in (before, after))
    nodes = translate("FixDialog", "{before} → {after} nodes not taken")
    partitions = translate("FixDialog", "{before} → {after} partitions")
    return (
        TARGETS[target_id].title,
        fill(nodes, before=old, after=new),
        fill(partitions, before=before.partitions, after=after.partitions),
    )
