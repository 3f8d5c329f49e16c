"""The window starts without tool chains in its process, and says how fast."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

HEAVY = (
    "torch", "torchao", "executorch", "onnx", "onnxruntime", "ai_edge_litert", "litert_torch",
    "pyqtgraph", "netron",
)  # fmt: skip
SCRIPT = """
import json, sys
from PySide6.QtCore import QTimer
from studio.ui import app as window_app

heavy, paths = sys.argv[1].split(","), sys.argv[2:]
app = window_app.make_application()
studio = window_app.Studio(app)
studio.start(paths)

def tell():
    opened = studio.session.opened
    loaded = [m for m in heavy if m in sys.modules]
    print(json.dumps({"heavy": loaded, "nodes": opened.graph.node_count if opened else 0}))
    studio.session.shut_down()
    app.quit()

def wait():
    done = not paths or studio.session.opened is not None
    QTimer.singleShot(300, tell) if done else QTimer.singleShot(50, wait)

QTimer.singleShot(50, wait)
app.exec()
"""


def run(*paths: str) -> dict[str, object]:
    command = [sys.executable, "-c", SCRIPT, ",".join(HEAVY), *paths]
    offscreen = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True, env=offscreen)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def test_the_empty_window_imports_no_tool_chain() -> None:
    assert run()["heavy"] == []


def test_an_open_graph_imports_none_either(tmp_path: Path) -> None:
    import onnx
    from onnx import TensorProto, helper

    node = helper.make_node("Relu", ["x"], ["y"])
    value = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 2]) for n in "xy"]
    path = tmp_path / "relu.onnx"
    onnx.save(helper.make_model(helper.make_graph([node], "g", value[:1], value[1:])), str(path))
    assert run(str(path)) == {"heavy": [], "nodes": 1}


def test_the_entry_point_knows_the_window() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "studio", "--version"], capture_output=True, text=True, timeout=60, check=True
    )
    assert "deployment-studio" in done.stdout
