"""The Netron page in a real browser: drawn offline, every node coloured by what the target does with it."""

from __future__ import annotations

import json
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from studio.jobs.netron_verdicts import page_data
from studio.jobs.open_graph import OpenGraph, run
from studio.jobs.serve_netron import netron_folder, open_server
from studio.support import TargetVerdicts
from tests.bench.browser import Browser
from tests.worker.quiet_report import Quiet

pytestmark = pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not installed")
_TARGET = "ort/nnapi"
_CLASSES = """JSON.stringify([...window.__view__.target.nodes.values()].map(e => e.label)
    .filter(l => l.value && l.value.type && l.value.outputs)
    .map(l => [l.value.outputs[0].value[0].name,
               [...l.element.classList].filter(c => c.startsWith('studio-')).map(c => c.slice(7)),
               l.element.querySelector('title').textContent]))"""


def _model(path: Path) -> Path:
    """Relu and Softplus in the graph, and two more in the bodies of an If; NNAPI takes some of them."""
    of = {}
    for name, op in (("then", "Relu"), ("else", "Softplus")):
        out = helper.make_tensor_value_info(f"{name}_y", TensorProto.FLOAT, [1, 4])
        of[f"{name}_branch"] = helper.make_graph(
            [helper.make_node(op, ["b"], [f"{name}_y"], name=f"{name} node")], name, [], [out]
        )
    nodes = [
        helper.make_node("Relu", ["x"], ["a"], name="first"),
        helper.make_node("Softplus", ["a"], ["b"]),
        helper.make_node("If", ["flag"], ["c"], name="choice", **of),
        helper.make_node("Relu", ["c"], ["y"]),
    ]
    inputs = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4]),
        helper.make_tensor_value_info("flag", TensorProto.BOOL, []),
    ]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 4])]
    graph = helper.make_graph(nodes, "g", inputs, outputs)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)
    return path


@pytest.fixture
def page(tmp_path: Path) -> Iterator[tuple[Browser, str, dict[str, str]]]:
    """A browser on the page, its address, and the verdict of every node by its output's name."""
    model = _model(tmp_path / "net.onnx")
    opened = run(OpenGraph(path=str(model), targets=(_TARGET,)), Quiet())
    data = page_data(Path(opened.graph_path), opened.verdict_paths)
    server = open_server(model, netron_folder(), data)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    browser = Browser(tmp_path / "profile")
    verdicts = TargetVerdicts.load(Path(opened.verdict_paths[_TARGET]))
    nodes = json.loads(data)["nodes"]
    yield browser, server.url, {n["output"]: str(verdicts.verdict(i)) for i, n in enumerate(nodes)}
    browser.close()
    server.shutdown()
    thread.join()
    server.server_close()


def _until(browser: Browser, script: str, wanted: object) -> None:
    end = time.monotonic() + 60
    found = None
    while time.monotonic() < end:
        found = browser.value(script)
        if found == wanted:
            return
        time.sleep(0.1)
    raise AssertionError(f"{script} stayed {found!r}, not {wanted!r}")


def test_every_drawn_node_wears_its_verdict(page: tuple[Browser, str, dict[str, str]]) -> None:
    browser, url, verdicts = page
    assert {"runs", "falls_back"} <= set(verdicts.values())
    browser.call("Page.navigate", url=url)
    note = "(document.getElementById('studio-note') || {}).textContent"
    _until(browser, note, "All 4 nodes of this graph are coloured.")
    drawn = json.loads(str(browser.value(_CLASSES)))
    assert {name: classes for name, classes, _ in drawn} == {n: [verdicts[n]] for n in ("a", "b", "c", "y")}
    assert all(title.startswith(f"{_TARGET}: ") or f"\n{_TARGET}: " in title for *_, title in drawn)
    rows = browser.value("document.getElementById('studio-legend').innerText")
    assert f"runs {list(verdicts.values()).count('runs')}" in str(rows)

    browser.value(
        "[...document.querySelectorAll('.node-item-type text')].filter(t => t.textContent === '+')[0]"
        ".parentNode.dispatchEvent(new MouseEvent('click', {bubbles: true}))"
    )
    _until(browser, note, "All 5 nodes of this graph are coloured.")  # the body is open in place

    asked = browser.value("JSON.stringify(performance.getEntriesByType('resource').map(e => e.name))")
    assert all(name.startswith(url) for name in json.loads(str(asked)))
    assert browser.value("document.body.classList.contains('default')")  # no dialog in the way
