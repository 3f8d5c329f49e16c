"""What a step made, in words: size, time and the facts worth showing."""

from __future__ import annotations

from studio.artifact import Artifact
from studio.measure.measurement import ErrorFigures
from studio.ui.job_runner import JobState
from studio.ui.session import Session
from studio.ui.texts import fill, translate
from studio.ui.views.step_texts import bytes_text, seconds_text, stage_text


def _tr(text: str) -> str:
    return translate("Wizard", text)


def made_text(artifact: Artifact, *, was_cached: bool) -> str:
    """ "1.6 MB · opset 18 · made in 9.3 s"."""
    facts = artifact.facts
    parts = [bytes_text(artifact.size_bytes)]
    if "opset" in facts:
        parts.append(fill(_tr("opset {n}"), n=facts["opset"]))
    if "exporter" in facts:
        parts.append(fill(_tr("{name} exporter"), name=facts["exporter"]))
    if "quantized_nodes" in facts:
        text = _tr("{n} of {total} nodes in fewer bits")
        parts.append(fill(text, n=facts["quantized_nodes"], total=facts["total_nodes"]))
    if "delegated_nodes" in facts:
        total = int(facts["delegated_nodes"] or 0) + int(facts.get("not_delegated_nodes") or 0)
        parts.append(fill(_tr("{n} of {total} nodes delegated"), n=facts["delegated_nodes"], total=total))
    if facts.get("xnnpack_nodes") is not None:
        text = _tr("XNNPACK takes {n} of {total} nodes")
        parts.append(fill(text, n=facts["xnnpack_nodes"], total=facts["total_nodes"]))
    took = _tr("made in {time}, from the cache") if was_cached else _tr("made in {time}")
    parts.append(fill(took, time=seconds_text(artifact.seconds)))
    return " · ".join(parts)


def accuracy_text(figures: ErrorFigures) -> str:
    """ "99.3 → 99.0 %", or how often both choose the same class, or nothing."""
    if figures.accuracy is not None and figures.reference_accuracy is not None:
        return f"{figures.reference_accuracy * 100:.2f} → {figures.accuracy * 100:.2f} %"
    return "–"


def agreement_text(figures: ErrorFigures) -> str:
    """How often both choose the same class, in percent."""
    return "–" if figures.argmax_agreement is None else f"{figures.argmax_agreement * 100:.1f} %"


def snr_text(figures: ErrorFigures) -> str:
    """ "36.2 dB", or that the outputs are equal."""
    if figures.is_equal:
        return _tr("equal")
    return "–" if figures.snr_db is None else f"{figures.snr_db:.1f} dB"


def progress_text(session: Session, job: JobState) -> str:
    """ "Quantize: Calibrating", with the stage in the window's language; empty before the first word."""
    if job.progress is None:
        return ""
    return stage_text(session, job.progress.stage)
