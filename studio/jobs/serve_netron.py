"""Serves the installed Netron page with one model file, on this computer only, until it is stopped.

Netron's own server and page are not used as they are (facts measured with netron 9.3): the page locks
itself 180 days after its build date, asks for consent in a modal dialog, and reports to an analytics
service. So this server hands out the package's static files and changes the start page: version 0.0.0
and no date (no expiry), and a consent cookie (no dialog, no analytics). Where there are verdicts, a
script of ours colours the nodes with them (`netron_verdicts`). A policy header forbids the page every
outside request. Bound to 127.0.0.1, under a secret path, with the Host checked, so that
neither the network nor another web page can read the model.
"""

from __future__ import annotations

import importlib.util
import re
import secrets
import threading
import time
from html import escape
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from studio.errors import InputError, ToolError
from studio.jobs.job import Report, Serving
from studio.jobs.netron_verdicts import page_data
from studio.paths import resources
from studio.records import Record

_TYPES = {
    ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css",
    ".json": "application/json", ".png": "image/png", ".ico": "image/x-icon", ".svg": "image/svg+xml",
    ".wasm": "application/wasm",
}  # fmt: skip
_DATA = frozenset(
    {
        "", ".bin", ".data", ".onnx_data", ".weights", ".pb", ".param", ".params", ".pdiparams",
        ".caffemodel", ".prototxt", ".tnnproto", ".tnnmodel",
    }
)  # fmt: skip
"""Files beside the model that a model's second half or its weights may be."""
_POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' data: blob:; "
    "worker-src 'self' blob:; frame-src 'none'; form-action 'none'"
)


class ServeNetron(Record):
    """Which file to show. External data beside it is served too, nothing else of the folder is listed.

    `graph_path`, `verdict_paths` (target → file): the packed graph and verdicts that colour it; none = plain.
    `target`: whose verdicts are shown first.
    """

    path: str
    graph_path: str = ""
    verdict_paths: dict[str, str] = {}
    target: str = ""


def run(spec: ServeNetron, report: Report) -> None:
    """Serves until `should_stop()`; tells the address as a `Serving` event. Raises InputError, ToolError."""
    model = Path(spec.path)
    if not model.is_file():
        raise InputError(f"There is no file {model}.", hint="Check the path.")
    verdicts = b""
    if spec.verdict_paths:
        verdicts = page_data(Path(spec.graph_path), spec.verdict_paths, first=spec.target)
    server = open_server(model, netron_folder(), verdicts)
    try:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.2}, daemon=True)
        thread.start()
        report.emit(Serving(url=server.url))
        while not report.should_stop():
            time.sleep(0.1)
        server.shutdown()
    finally:
        server.server_close()


class NetronServer(ThreadingHTTPServer):
    """The static files of the page, one model and what colours it (JSON; empty = nothing). `url` opens it."""

    daemon_threads = True
    allow_reuse_address = False

    def __init__(self, model: Path, folder: Path, verdicts: bytes = b"") -> None:
        self.model = model.resolve()
        self.verdicts = verdicts
        self.folder = folder
        self.secret = secrets.token_urlsafe(12)
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    @property
    def url(self) -> str:
        """Where the page is."""
        return f"http://127.0.0.1:{self.port}/{self.secret}/"


def open_server(model: Path, folder: Path, verdicts: bytes = b"") -> NetronServer:
    """A server on a free local port. Raises ToolError when the system gives none."""
    try:
        return NetronServer(model, folder, verdicts)
    except OSError as error:
        raise ToolError(f"No local port could be opened: {error.strerror}.", hint="Try again.") from None


def start_page(html: str, model_name: str, *, is_colored: bool = False) -> str:
    """Netron's start page without expiry, consent and analytics, opening our model."""
    page = re.sub(r'<meta name="version" content="[^"]*">', '<meta name="version" content="0.0.0">', html)
    page = re.sub(r'<meta name="date" content="[^"]*">\n?', "", page)
    page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>\n?', "", page)
    name = escape(model_name, quote=True)
    meta = (
        f'<meta name="file" content="data/{quote(model_name)}">\n<meta name="identifier" content="{name}">\n'
    )
    script = '<script type="text/javascript" src="studio/verdicts.js"></script>\n' if is_colored else ""
    return page.replace("</head>", f"{meta}{script}</head>", 1)


class _Handler(BaseHTTPRequestHandler):
    server: NetronServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing: requests are nobody's news."""

    def _answer(self, *, with_body: bool) -> None:
        host = self.headers.get("Host", "")
        if host not in (f"127.0.0.1:{self.server.port}", f"localhost:{self.server.port}"):
            return self._refuse(HTTPStatus.FORBIDDEN)
        _, secret, *rest = unquote(urlsplit(self.path).path).split("/", 2)
        if not secrets.compare_digest(secret.encode(), self.server.secret.encode()):
            return self._refuse(HTTPStatus.NOT_FOUND)
        name = rest[0] if rest else ""
        if name in ("", "index.html"):
            html = (self.server.folder / "index.html").read_text(encoding="utf-8")
            page = start_page(html, self.server.model.name, is_colored=bool(self.server.verdicts))
            return self._send(page.encode(), ".html", with_body, cookie=True)
        if self.server.verdicts and name == "studio/verdicts.json":
            return self._send(self.server.verdicts, ".json", with_body)
        if self.server.verdicts and name == "studio/verdicts.js":
            return self._send_file(resources() / "netron" / "verdicts.js", with_body)
        folder, part = (
            (self.server.model.parent, name[5:]) if name.startswith("data/") else (self.server.folder, name)
        )
        path = self._allowed(folder, part, is_data=name.startswith("data/"))
        if path is None:
            return self._refuse(HTTPStatus.NOT_FOUND)
        return self._send_file(path, with_body)

    def _allowed(self, folder: Path, name: str, *, is_data: bool) -> Path | None:
        path = (folder / name).resolve()
        if not path.is_file() or not path.is_relative_to(folder.resolve()):
            return None
        if is_data and path != self.server.model:
            # Only what the model itself can ask for: data files beside or below it, no scripts.
            return path if path.suffix in _DATA else None
        return path

    def _send_file(self, path: Path, with_body: bool) -> None:
        size = path.stat().st_size
        self._head(HTTPStatus.OK, size, path.suffix)
        if with_body:
            with path.open("rb") as file:
                while chunk := file.read(1 << 20):
                    self.wfile.write(chunk)

    def _send(self, body: bytes, suffix: str, with_body: bool, *, cookie: bool = False) -> None:
        self._head(HTTPStatus.OK, len(body), suffix, cookie=cookie)
        if with_body:
            self.wfile.write(body)

    def _head(self, status: HTTPStatus, size: int, suffix: str, *, cookie: bool = False) -> None:
        self.send_response(status)
        self.send_header("Content-Type", _TYPES.get(suffix, "application/octet-stream"))
        self.send_header("Content-Length", str(size))
        self.send_header("Content-Security-Policy", _POLICY)
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        if cookie:
            now = int(time.time() * 1000)
            self.send_header("Set-Cookie", f"consent={now}; Path=/{self.server.secret}/; SameSite=Strict")
        self.end_headers()

    def _refuse(self, status: HTTPStatus) -> None:
        self._head(status, 0, "")


def netron_folder() -> Path:
    """Where the installed Netron's page is. Raises ToolError when it is not installed."""
    spec = importlib.util.find_spec("netron")
    if spec is None or spec.origin is None:
        raise ToolError("Netron is not installed.", hint="Install it with: pip install netron")
    return Path(spec.origin).parent
