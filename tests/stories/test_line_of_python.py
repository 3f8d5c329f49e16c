"""Story: the sample is exported from torch; a node says its line of Python, a click shows it in an editor."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from studio.project import trust
from tests.stories.test_digits_journey import copy_of_sample, made

MINUTES = 60_000


def test_a_node_leads_to_its_line_in_the_editor(qtbot: QtBot, play: Any, tmp_path: Path) -> None:
    path = copy_of_sample(tmp_path / "digits")
    trust.trust_folder(path.parent)
    opened = tmp_path / "opened.json"
    editor = tmp_path / "editor.py"
    editor.write_text(
        "import json, os, pathlib, sys\n"
        f"out = pathlib.Path({str(opened)!r})\n"
        "out.with_suffix('.part').write_text(json.dumps(sys.argv[1:]))\n"
        "os.replace(out.with_suffix('.part'), out)\n"
    )

    def act(window: Any) -> None:
        session = window.session
        preferences = session.preferences
        command = f"{json.dumps(sys.executable)} {json.dumps(str(editor))} {{file}} --line {{line}}"
        session.set_preferences(type(preferences)(**{
            **{f: getattr(preferences, f) for f in preferences.__struct_fields__}, "editor": command,
        }))  # fmt: skip
        qtbot.waitUntil(lambda: session.project is not None, timeout=MINUTES)
        window.stage_area.run_requested.emit("export")
        qtbot.waitUntil(lambda: made(session, "export"), timeout=5 * MINUTES)
        session.set_current_stage("export")
        qtbot.waitUntil(lambda: session.opened is not None, timeout=2 * MINUTES)
        graph = session.opened.graph
        source = (path.parent / "mobilenet_digits.py").read_text().splitlines()
        own = {n: p for n, p in graph.node_provenance.items() if p.file.endswith("mobilenet_digits.py")}
        assert len(own) > graph.node_count / 2, "most nodes know their line"
        node, provenance = next((n, p) for n, p in own.items() if graph.node_op[n] == "Conv")
        assert "(" in source[provenance.line - 1], "the line is a call"

        session.go_to_node(node)
        words = f"mobilenet_digits.py:{provenance.line}"
        qtbot.waitUntil(lambda: link(window, words) is not None, timeout=MINUTES)
        qtbot.mouseClick(link(window, words), Qt.MouseButton.LeftButton)
        qtbot.waitUntil(opened.is_file, timeout=MINUTES)
        assert json.loads(opened.read_text()) == [
            str(path.parent / "mobilenet_digits.py"), "--line", str(provenance.line),
        ]  # fmt: skip

    assert play([str(path)], act) == 0


def link(window: Any, words: str) -> QPushButton | None:
    """The button of the node panel with these words."""
    return next((b for b in window.node_panel.findChildren(QPushButton) if b.text() == words), None)


@pytest.mark.parametrize("name", ["no-such-editor", ""])
def test_an_editor_that_is_not_there_is_told(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from studio.errors import InputError
    from studio.ui.editor import show_in_editor
    from studio.ui.preferences import Preferences

    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "net.py").write_text("x = 1\n")
    command = f"{name} {{file}}" if name else ""
    with pytest.raises(InputError, match=name or "No editor"):
        show_in_editor(Preferences(editor=command), "net.py", 1, tmp_path)
