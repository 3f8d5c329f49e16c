"""Open in Netron: the page of the window's verdicts, and how its script finds the drawn nodes."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from models import save_model
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtQml import QJSEngine
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from studio.paths import resources


@pytest.fixture
def match(qtbot: QtBot) -> Callable[[list[dict[str, Any]], list[dict[str, Any]]], list[int | None]]:
    """Our node of each drawn one, by the page's own script; None = it stays uncoloured."""
    engine = QJSEngine()
    engine.evaluate("var window = { addEventListener: function () {} };")
    loaded = engine.evaluate((resources() / "netron" / "verdicts.js").read_text(encoding="utf-8"))
    assert not loaded.isError(), loaded.toString()

    def of(nodes: list[dict[str, Any]], values: list[dict[str, Any]]) -> list[int | None]:
        answer = engine.evaluate(
            f"var drawn = {json.dumps(values)}.map(function (value) {{ return {{ value: value }}; }});"
            f"var found = window.__studio__.match({json.dumps(nodes)}, drawn);"
            "JSON.stringify(drawn.map(function (d) { return found.has(d) ? found.get(d) : null; }))"
        )
        assert not answer.isError(), answer.toString()
        return json.loads(answer.toString())  # type: ignore[no-any-return]

    return of


def _node(op: str, output: str = "", name: str = "", *, main: bool = True) -> dict[str, Any]:
    return {"output": output, "name": name, "op": op, "main": main}


def _drawn(op: str, output: str = "", name: str = "") -> dict[str, Any]:
    outputs = [{"value": [{"name": output}]}] if output else []
    return {"name": name, "type": {"name": op}, "outputs": outputs}


def test_nodes_are_found_by_output_then_name(match: Callable[..., list[int | None]]) -> None:
    nodes = [_node("conv2d", "a"), _node("relu", "b", "act"), _node("add", "c")]
    drawn = [_drawn("Add", "c\n7"), _drawn("Relu", "other", "act"), _drawn("Conv2D", "a")]
    assert match(nodes, drawn) == [2, 1, 0]


def test_a_name_that_two_nodes_have_finds_neither(match: Callable[..., list[int | None]]) -> None:
    nodes = [_node("relu", "a", "same"), _node("tanh", "a", "same"), _node("relu", "", "other")]
    assert match(nodes, [_drawn("Sigmoid", "a", "same")]) == [None]


def test_nameless_nodes_are_found_by_place_where_both_sides_have_as_many(
    match: Callable[..., list[int | None]],
) -> None:
    nodes = [_node("add"), _node("mul"), _node("add"), _node("mul"), _node("mul", main=False)]
    drawn = [_drawn("aten::add"), _drawn("aten::mul"), _drawn("aten::add")]
    assert match(nodes, drawn) == [0, None, 2]


def _open_in_netron(studio: Any, qtbot: QtBot, opened: list[str]) -> tuple[str, dict[str, Any]]:
    before = len(opened)
    studio.window._menus.action("view.netron").trigger()
    qtbot.waitUntil(lambda: len(opened) > before, timeout=30_000)
    url = opened[-1]
    with urllib.request.urlopen(url, timeout=10) as answer:
        assert b"studio/verdicts.js" in answer.read()
    with urllib.request.urlopen(f"{url}studio/verdicts.json", timeout=10) as answer:
        return url, json.load(answer)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that the browser was asked for."""
    found: list[str] = []

    def remember(url: QUrl) -> bool:
        found.append(url.toString())
        return True

    monkeypatch.setattr(QDesktopServices, "openUrl", staticmethod(remember))
    return found


def test_a_format_that_only_netron_reads_is_offered_to_it(
    open_window: Callable[..., Any], qtbot: QtBot, tmp_path: Path, opened: list[str]
) -> None:
    path = tmp_path / "net.param"
    path.write_text("7767517\n1 1\nInput data 0 1 data 0=3 1=32 2=32\n")
    studio = open_window(path)
    banner = studio.window.banner
    qtbot.waitUntil(banner.isVisible)
    offer = next(b for b in banner.findChildren(QPushButton) if b.text() == "Open in Netron")
    qtbot.mouseClick(offer, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: bool(opened), timeout=30_000)
    with urllib.request.urlopen(f"{opened[0]}data/net.param", timeout=10) as answer:
        assert answer.read() == path.read_bytes()
    with urllib.request.urlopen(opened[0], timeout=10) as answer:
        assert b"studio/verdicts.js" not in answer.read()


def test_what_netron_cannot_read_is_not_offered(
    open_window: Callable[..., Any], qtbot: QtBot, tmp_path: Path
) -> None:
    (tmp_path / "photo.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(64))
    studio = open_window(tmp_path / "photo.png")
    qtbot.waitUntil(studio.window.banner.isVisible)
    shown = [b.text() for b in studio.window.banner.findChildren(QPushButton) if b.isVisible()]
    assert "Copy" in shown
    assert "Open in Netron" not in shown


def test_the_page_shows_what_the_window_shows(
    open_window: Callable[..., Any], qtbot: QtBot, tmp_path: Path, opened: list[str]
) -> None:
    studio = open_window(save_model(tmp_path / "net.onnx"))
    session = studio.session
    qtbot.waitUntil(
        lambda: session.current_stage is not None and session.current_stage.opened is not None, timeout=30_000
    )
    shown = session.current_stage.opened
    url, data = _open_in_netron(studio, qtbot, opened)
    assert data["first"] == session.target_id
    assert set(data["targets"]) == set(shown.verdicts)
    assert data["targets"][session.target_id]["codes"] == shown.verdicts[session.target_id].codes.tolist()

    assert _open_in_netron(studio, qtbot, opened)[0] == url  # nothing changed: the same port

    other = next(target for target in shown.verdicts if target != session.target_id)
    session.set_target(other)
    url_now, data = _open_in_netron(studio, qtbot, opened)
    assert url_now != url
    assert data["first"] == other
