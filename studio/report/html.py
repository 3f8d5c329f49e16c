"""The report as one HTML file: no script, no network, readable on any screen and on paper.

Why no script: the file is passed around and opened from mail; a page that cannot execute cannot
surprise. Its content security policy forbids everything but its own style and pictures.
"""

from __future__ import annotations

import base64

from studio.report.content import ReportContent, device_name
from studio.report.glance import glance_section
from studio.report.run_sections import run_section
from studio.report.style import style_sheet
from studio.report.support_sections import support_section
from studio.report.words import (
    count_text,
    definition_list,
    error_words,
    escape,
    section,
    settings_words,
    size_text,
    table,
)

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def report_html(content: ReportContent) -> str:
    """The whole page."""
    title = f"{content.project.name}: deployment report"
    sections = (
        _head(content),
        glance_section(content),
        _recipe(content),
        support_section(content),
        _picture(content),
        run_section(content),
        _environment(content),
        _reproduce(content),
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)}</title>\n<style>{style_sheet()}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(filter(None, sections))
        + f"\n<footer>Made by Deployment Studio {escape(content.studio_version)} on "
        f"{escape(content.made_at)}. Nothing in this file is loaded from a network.</footer>\n"
        "</main>\n</body>\n</html>\n"
    )


def _head(content: ReportContent) -> str:
    summary = content.summary
    lines = []
    if summary is not None:
        lines.append(
            f"{summary.format_title} · {summary.nodes:,} nodes · {summary.parameters:,} parameters"
            + (f" · {count_text(summary.macs)} MACs" if summary.macs else "")
        )
    lines.append(f"Targets: {', '.join(content.project.targets) or 'none chosen'}")
    body = "".join(f'<p class="quiet">{escape(line)}</p>' for line in lines)
    notes = "".join(f"<p>{escape(line)}</p>" for line in content.project.notes.splitlines() if line.strip())
    simulated = [run for run in content.runs if run.hello.is_simulated]
    warning = (
        '<p class="simulated">Some figures come from a simulated phone: they are marked, and they say '
        "nothing about a real one.</p>"
        if simulated
        else ""
    )
    said = "".join(f'<p class="quiet">{escape(note)}</p>' for note in content.notes)
    return f"<header>\n<h1>{escape(content.project.name)}</h1>\n{body}{notes}{warning}{said}\n</header>"


def _recipe(content: ReportContent) -> str:
    rows = []
    done = {step.step_id: step for step in content.steps}
    for step in content.project.recipe.steps:
        kind = str(step.__struct_config__.tag)
        found = done.get(step.id)
        if found is None:
            rows.append((f"<b>{escape(step.id)}</b>", kind, escape(step.after), "", "not made"))
            continue
        settings = settings_words(found.artifact.settings)
        state = f"{size_text(found.artifact.size_bytes)}, {found.artifact.seconds:.1f} s"
        if found.verification is not None:
            word = (
                '<span class="bad">✕ failed</span>'
                if found.failures
                else '<span class="good">✓ passed</span>'
            )
            state = f"{word} {escape(error_words(found.figures))}"
        notes = "".join(
            f'<br><span class="quiet">{escape(n)}</span>' for n in (*found.failures, *found.artifact.notes)
        )
        rows.append((f"<b>{escape(step.id)}</b>", kind, escape(step.after), escape(settings), state + notes))
    if not rows:
        return ""
    return section("Recipe", [table(("step", "kind", "works on", "settings", "result"), rows, "lllll")])


def _picture(content: ReportContent) -> str:
    if content.picture is None:
        return ""
    light, dark = (_data_url(svg) for svg in (content.picture.light, content.picture.dark))
    caption = escape(content.picture.caption)
    return section(
        "Graph",
        [
            f'<figure><div class="picture"><picture><source media="print" srcset="{light}">'
            f'<source media="(prefers-color-scheme:dark)" srcset="{dark}">'
            f'<img src="{light}" alt="{caption}"></picture></div><figcaption>{caption}</figcaption></figure>'
        ],
    )


def _data_url(svg: str) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()


def _environment(content: ReportContent) -> str:
    versions: dict[str, str] = {}
    for step in content.steps:
        versions.update(step.artifact.tool_versions)
    rows = [("deployment-studio", content.studio_version), *sorted(versions.items())]
    devices = {}
    for run in content.runs:
        said = ", ".join(f"{k} {v}" for k, v in run.hello.device.items() if v not in (None, "", "name"))
        devices[f"{device_name(run)} ({run.hello.device_id})"] = f"{said} · {run.hello.runtime}".strip(" ·")
    return section(
        "Environment",
        [
            f'<div class="card">{definition_list([*devices.items()])}</div>' if devices else "",
            f'<div class="card">{definition_list(rows)}</div>',
        ],
    )


def _reproduce(content: ReportContent) -> str:
    source = content.project.source
    rows = [("project", content.project_file), ("source", source.path)]
    sha256 = content.summary.sha256 if content.summary is not None else source.sha256
    if sha256:
        rows.append(("source SHA-256", sha256))
    for name, data in (
        ("calibration", content.project.calibration),
        ("evaluation", content.project.evaluation),
    ):
        if data is not None:
            rows.append((f"{name} data", data.path))
    for step in content.made_models:
        rows.append((f"{step.step_id} SHA-256", step.artifact.sha256))
    file = content.project_file
    command = f"deployment-studio run {file}\ndeployment-studio report {file} --out report.html"
    return section(
        "How to reproduce",
        [
            f'<div class="card"><pre>{escape(command)}</pre></div>',
            f'<div class="card">{definition_list(rows)}</div>',
        ],
    )
