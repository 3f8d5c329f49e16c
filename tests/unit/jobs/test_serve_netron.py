"""The Netron page as it is served: what is changed in it, what colours it, and who may read what."""

from __future__ import annotations

import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
import pytest

from studio.graph.builder import GraphBuilder
from studio.graph.graph import Graph
from studio.graph.store import save_graph
from studio.jobs.netron_verdicts import PageData, page_data, plain_operator
from studio.jobs.serve_netron import NetronServer, open_server, start_page
from studio.support import VERDICTS, Reason, TargetVerdicts, Verdict

_PAGE = (
    '<html><head>\n<meta http-equiv="Content-Security-Policy" content="script-src">\n'
    '<meta name="version" content="9.3.3">\n<meta name="date" content="2026-10-23 19:50:08">\n</head></html>'
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    package = tmp_path / "netron"
    package.mkdir()
    (package / "index.html").write_text(_PAGE)
    (package / "view.js").write_text("// view")
    return package


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "models" / "net & <b>.onnx"
    path.parent.mkdir()
    path.write_bytes(b"model")
    (path.parent / "net.bin").write_bytes(b"weights")
    (path.parent / "secret.txt").write_text("no")
    (tmp_path / "outside.bin").write_bytes(b"no")
    return path


@pytest.fixture
def server(folder: Path, model: Path) -> Iterator[NetronServer]:
    yield from _serving(open_server(model, folder))


@pytest.fixture
def colored(folder: Path, model: Path) -> Iterator[NetronServer]:
    yield from _serving(open_server(model, folder, b'{"nodes": []}'))


def _serving(server: NetronServer) -> Iterator[NetronServer]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def _get(url: str, **headers: str) -> tuple[int, bytes, dict[str, str]]:
    request = urllib.request.Request(url, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, answer.read(), dict(answer.headers)
    except urllib.error.HTTPError as error:
        return error.code, error.read(), dict(error.headers)


def test_the_page_has_no_expiry_no_consent_and_opens_the_model() -> None:
    page = start_page(_PAGE, 'a "b".onnx')
    assert '<meta name="version" content="0.0.0">' in page
    assert 'name="date"' not in page
    assert '<meta name="file" content="data/a%20%22b%22.onnx">' in page
    assert "verdicts.js" not in page
    assert 'src="studio/verdicts.js"' in start_page(_PAGE, "a.onnx", is_colored=True)


def test_page_model_and_its_data_are_served_and_nothing_else(server: NetronServer, model: Path) -> None:
    status, body, headers = _get(server.url)
    assert status == 200
    assert b"net%20%26%20%3Cb%3E.onnx" in body
    assert "connect-src 'self'" in headers["Content-Security-Policy"]
    assert headers["Set-Cookie"].startswith("consent=")
    assert _get(f"{server.url}data/net%20%26%20%3Cb%3E.onnx")[1] == b"model"
    assert _get(f"{server.url}data/net.bin")[1] == b"weights"
    assert _get(f"{server.url}view.js")[1] == b"// view"
    for name in ("data/secret.txt", "data/../outside.bin", "data/%2e%2e/outside.bin", "../outside.bin",
                 "missing.js", "studio/verdicts.json", "studio/verdicts.js"):  # fmt: skip
        assert _get(f"{server.url}{name}")[0] == 404, name


def test_another_host_name_and_a_guessed_path_are_refused(server: NetronServer) -> None:
    assert _get(server.url, Host="evil.example")[0] == 403
    assert _get(f"http://127.0.0.1:{server.port}/")[0] == 404
    assert _get(f"http://127.0.0.1:{server.port}/guess/")[0] == 404


def test_a_head_request_has_no_body(server: NetronServer) -> None:
    request = urllib.request.Request(f"{server.url}data/net.bin", method="HEAD")
    with urllib.request.urlopen(request, timeout=10) as answer:
        assert answer.headers["Content-Length"] == "7"
        assert answer.read() == b""


def test_verdicts_and_their_script_are_served_where_there_are_some(colored: NetronServer) -> None:
    assert b"studio/verdicts.js" in _get(colored.url)[1]
    assert _get(f"{colored.url}studio/verdicts.json")[1] == b'{"nodes": []}'
    status, script, headers = _get(f"{colored.url}studio/verdicts.js")
    assert status == 200
    assert headers["Content-Type"] == "text/javascript"
    assert b"verdicts.json" in script


def _graph() -> Graph:
    builder = GraphBuilder("onnx")
    x, y, z = (builder.tensor(name, "float32", (1, 4)) for name in ("x", "y", "z"))
    builder.node("Relu", [x], [y], name="first")
    builder.node("CONV_2D", [y], [z], name="second")
    return builder.finish()


def test_the_data_are_the_verdicts_as_they_stand(tmp_path: Path) -> None:
    save_graph(_graph(), tmp_path / "graph")
    verdicts = TargetVerdicts(
        target_id="ort/nnapi",
        codes=np.array([VERDICTS.index(Verdict.RUNS), VERDICTS.index(Verdict.FAILS)], np.uint8),
        reason_of=np.array([1, 0], np.int32),
        reasons=(Reason(text="no <such> thing", source="a"), Reason(text="yes", source="b")),
    )
    verdicts.save(tmp_path / "verdicts")
    raw = page_data(tmp_path / "graph", {"ort/nnapi": str(tmp_path / "verdicts")})
    data = msgspec.json.decode(raw, type=PageData)
    assert [(n.output, n.name, n.op, n.main) for n in data.nodes] == [
        ("y", "first", "relu", True),
        ("z", "second", "conv2d", True),
    ]
    said = data.targets["ort/nnapi"]
    assert [data.verdicts[code].key for code in said.codes] == ["runs", "fails"]
    assert [said.reasons[i] for i in said.reason_of] == ["yes", "no <such> thing"]
    assert said.counts["runs"] == said.counts["fails"] == 1
    assert all(f".studio-{verdict}.node-item-type" in data.style for verdict in VERDICTS)


@pytest.mark.parametrize(
    ("op", "plain"),
    [
        ("aten.exp.default", "exp"),
        ("aten::exp", "exp"),
        ("CONV_2D", "conv2d"),
        ("Conv2D", "conv2d"),
        ("If", "if"),
    ],
)
def test_operators_are_compared_plainly(op: str, plain: str) -> None:
    assert plain_operator(op) == plain
