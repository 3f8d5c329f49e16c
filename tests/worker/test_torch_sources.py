"""Torch sources through the exporters and the LiteRT and ExecuTorch tool chains, with tiny networks."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import onnx
import pytest
import torch
from safetensors.torch import save_file

from studio.errors import InputError, StudioError, ToolError, UnsupportedError
from studio.paths import artifacts_dir
from studio.recipes.check_program import check_program
from studio.recipes.recipe import (
    ConvertStep,
    Exporter,
    ExportStep,
    InputSpec,
    Preprocessing,
    QuantizeScheme,
    QuantizeStep,
    Recipe,
    Step,
    VerifyStep,
)
from studio.recipes.run import RecipeResult, run_recipe
from studio.recipes.source import DataSet, SourceModel

NETS = """
import torch
from torch import nn
from torch.nn import functional as F

class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.norm = nn.BatchNorm2d(4)
    def forward(self, image):
        return F.relu(self.norm(self.conv(image)))

class Pair(nn.Module):
    def forward(self, image, gain):
        return {"loud": image * gain, "mean": image.mean((2, 3))}

class Branch(nn.Module):
    def forward(self, image):
        if image.sum() > 0:
            return image + 1
        return image - 1

class Best(nn.Module):
    def forward(self, image):
        return torch.topk(image.flatten(1), 3)

class Upsampled(nn.Module):
    def forward(self, image):
        return nn.UpsamplingBilinear2d(scale_factor=2)(image)

small, pair, branch, best, upsampled = Small, Pair, Branch, Best, Upsampled

def fails():
    raise ValueError("seven is odd")

def text():
    return "no module"
"""

IMAGE = InputSpec(name="image", shape=(1, 3, 8, 8))


@dataclass(frozen=True)
class TorchProject:
    source: SourceModel
    recipe: Recipe = field(default_factory=Recipe)
    calibration: DataSet | None = None
    evaluation: DataSet | None = None
    preprocessing: Preprocessing = field(default_factory=Preprocessing)


class Silent:
    def progress(self, stage: str, done: int, total: int | None = None, unit: str = "") -> None: ...
    def log(self, text: str) -> None: ...


def source_of(folder: Path, factory: str, *inputs: InputSpec, weights: str = "") -> SourceModel:
    (folder / "nets.py").write_text(NETS)
    return SourceModel(path="nets.py", factory=factory, weights=weights, inputs=inputs or (IMAGE,))


def run(source: SourceModel, folder: Path, *steps: Step, trusted: bool = True) -> RecipeResult:
    return run_recipe(TorchProject(source, Recipe(steps=steps)), folder, Silent(), trusted=trusted)


EXPORT = ExportStep(id="e")


def verify(after: str) -> VerifyStep:
    return VerifyStep(id=f"verify-{after}", after=after, samples=4, min_snr_db=80.0)


def pte(target: str) -> ConvertStep:
    return ConvertStep(id="p", after="source", format="pte", target=target)


@pytest.mark.parametrize(
    ("step", "exporter", "opset"),
    [
        (EXPORT, "dynamo", 18),
        (ExportStep(id="e", opset=13), "torchscript", 13),
        (ExportStep(id="e", opset=15, exporter=Exporter.DYNAMO), "dynamo", 18),
        (ExportStep(id="e", dynamic_batch=True), "dynamo", 18),
    ],
)
def test_export_reads_the_opset_back(tmp_path: Path, step: ExportStep, exporter: str, opset: int) -> None:
    result = run(source_of(tmp_path, "small"), tmp_path, step, verify("e"))
    made = result.steps[0].artifact
    assert result.passed
    assert (made.facts["exporter"], made.facts["opset"]) == (exporter, opset)
    assert any("Asked for opset 15" in note for note in made.notes) == (step.opset == 15)
    graph = onnx.load(made.path).graph
    assert [value.name for value in graph.input] == ["image"]
    assert bool(graph.input[0].type.tensor_type.shape.dim[0].dim_param) == step.dynamic_batch


def test_exported_nodes_know_their_module_and_line_without_this_machine(tmp_path: Path) -> None:
    made = run(source_of(tmp_path, "small"), tmp_path, EXPORT).steps[0].artifact
    conv = next(n for n in onnx.load(made.path).graph.node if n.op_type == "Conv")
    kept = {entry.key: entry.value for entry in conv.metadata_props}
    assert "norm" in kept["pkg.torch.onnx.name_scopes"]  # the exporter folds the norm into the Conv
    assert 'File "nets.py"' in kept["pkg.torch.onnx.stack_trace"]
    assert str(tmp_path).encode() not in Path(made.path).read_bytes()


def test_weights_are_loaded_and_must_fit(tmp_path: Path) -> None:
    source = source_of(tmp_path, "small", weights="w.safetensors")
    conv = torch.nn.Conv2d(3, 4, 3)
    norm = torch.nn.BatchNorm2d(4)
    state = {f"conv.{k}": v for k, v in conv.state_dict().items()}
    state |= {f"norm.{k}": v for k, v in norm.state_dict().items() if k != "num_batches_tracked"}
    save_file(state, tmp_path / "w.safetensors")
    assert run(source, tmp_path, EXPORT, verify("e")).passed
    del state["conv.bias"]
    save_file(state, tmp_path / "w.safetensors")
    with pytest.raises(InputError, match=r"lacks “conv\.bias”"):
        run(source, tmp_path, EXPORT)
    (tmp_path / "w.safetensors").write_bytes(b"rubbish")
    with pytest.raises(InputError, match="not a readable weights file"):
        run(source, tmp_path, EXPORT)


def test_pickled_code_in_weights_does_not_run(tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return Path.touch, (tmp_path / "ran",)  # type: ignore[return-value]

    source = source_of(tmp_path, "small", weights="w.pt")
    torch.save({"conv.weight": Bomb()}, tmp_path / "w.pt")
    with pytest.raises(InputError, match="not a readable weights file"):
        run(source, tmp_path, EXPORT)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("factory", "says"),
    [
        ("fails", r"nets\.py:\d+: ValueError: seven is odd"),
        ("text", "returned str, not a torch"),
        ("absent", "no function “absent”"),
    ],
)
def test_faults_of_a_factory_are_named(tmp_path: Path, factory: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        run(source_of(tmp_path, factory), tmp_path, EXPORT)


def test_a_branch_on_values_is_refused_and_not_traced_away(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match=r"nets\.py:\d+.*one side of the branch"):
        run(source_of(tmp_path, "branch"), tmp_path, EXPORT)
    chosen = ExportStep(id="e", exporter=Exporter.TORCHSCRIPT)
    notes = run(source_of(tmp_path, "branch"), tmp_path, chosen).steps[0].artifact.notes
    assert any("one side of the branch" in note for note in notes)


def test_torchscript_and_programs_are_sources_too(tmp_path: Path) -> None:
    network = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU()).eval()
    example = torch.rand(1, 3, 8, 8)
    torch.jit.save(torch.jit.trace(network, example), str(tmp_path / "net.pt"))
    torch.export.save(torch.export.export(network, (example,)), tmp_path / "net.pt2")
    script = SourceModel(path="net.pt", inputs=(IMAGE,))
    program = SourceModel(path="net.pt2")
    for source in (script, program):
        assert run(source, tmp_path, EXPORT, verify("e"), trusted=False).passed
    with pytest.raises(UnsupportedError, match="is TorchScript"):
        run(script, tmp_path, ConvertStep(id="t", after="source", format="tflite"))


def test_weights_named_as_a_source_are_explained(tmp_path: Path) -> None:
    torch.save({"a": torch.zeros(2)}, tmp_path / "weights.pt")
    with pytest.raises(InputError, match="not a TorchScript program") as caught:
        run(SourceModel(path="weights.pt", inputs=(IMAGE,)), tmp_path, EXPORT)
    assert "Python file" in caught.value.hint


def _call_system(model: dict) -> None:  # type: ignore[type-arg]
    model["graph_module"]["graph"]["nodes"][0]["target"] = "torch.os.system"


def _guard(model: dict) -> None:  # type: ignore[type-arg]
    model["guards_code"] = ["__import__('os').system('true')"]


def _expression(model: dict) -> None:  # type: ignore[type-arg]
    sizes = next(iter(model["graph_module"]["graph"]["tensor_values"].values()))["sizes"]
    sizes[0] = {"as_expr": {"expr_str": "exec('1')", "hint": None}}


@pytest.mark.parametrize("spoil", [_call_system, _guard, _expression])
def test_a_program_that_could_run_code_is_refused(tmp_path: Path, spoil: Callable[[dict], None]) -> None:  # type: ignore[type-arg]
    network = torch.nn.Linear(4, 2).eval()
    good, bad = tmp_path / "good.pt2", tmp_path / "bad.pt2"
    torch.export.save(torch.export.export(network, (torch.rand(1, 4),)), good)
    check_program(good)
    with zipfile.ZipFile(good) as before, zipfile.ZipFile(bad, "w") as after:
        for name in before.namelist():
            data = before.read(name)
            if name.endswith("models/model.json"):
                model = json.loads(data)
                spoil(model)
                data = json.dumps(model).encode()
            after.writestr(name, data)
    with pytest.raises(InputError, match="could run code of its own"):
        run(SourceModel(path="bad.pt2"), tmp_path, EXPORT, trusted=False)


def test_litert_takes_several_inputs_and_named_outputs(tmp_path: Path) -> None:
    pytest.importorskip("litert_torch")
    gain = InputSpec(name="gain", shape=(1, 1, 1, 1))
    convert = ConvertStep(id="t", after="source", format="tflite")
    result = run(source_of(tmp_path, "pair", IMAGE, gain), tmp_path, convert, verify("t"))
    assert result.passed
    assert result.steps[0].artifact.facts["total_nodes"]
    assert result.steps[1].verification is not None
    assert result.steps[1].verification.target_ran == "litert/cpu"


@pytest.mark.parametrize("factory", ["best", "upsampled"])
def test_litert_files_that_were_made_can_be_loaded(tmp_path: Path, factory: str) -> None:
    """Both networks once made files that the interpreter refused (STABLEHLO_SORT, half-pixel corners)."""
    pytest.importorskip("litert_torch")
    convert = ConvertStep(id="t", after="source", format="tflite")
    try:
        result = run(source_of(tmp_path, factory), tmp_path, convert, verify("t"))
    except UnsupportedError as error:  # an older converter: refused is right, too
        assert "cannot load it" in error.message
    else:
        assert result.passed


@pytest.mark.parametrize("target", ["executorch/xnnpack", "executorch/portable"])
def test_executorch_says_what_was_delegated_and_what_ran(tmp_path: Path, target: str) -> None:
    pytest.importorskip("executorch")
    result = run(source_of(tmp_path, "small"), tmp_path, pte(target), verify("p"))
    assert result.passed
    is_delegated = target == "executorch/xnnpack"
    assert bool(result.steps[0].artifact.facts["delegated_nodes"]) == is_delegated
    assert result.steps[1].verification is not None
    assert result.steps[1].verification.target_ran == target


@pytest.mark.parametrize(
    ("steps", "kind", "says"),
    [
        (
            (ConvertStep(id="p", after="source", format="pte", target="executorch/qnn"),),
            UnsupportedError,
            "SDK",
        ),
        (
            (ConvertStep(id="p", after="source", format="pte", target="executorch/x"),),
            InputError,
            "no target",
        ),
        (
            (
                EXPORT,
                QuantizeStep(id="q", after="e", scheme=QuantizeScheme.DYNAMIC),
                ConvertStep(id="t", after="q", format="tflite"),
            ),
            UnsupportedError,
            "comes after “q”",
        ),
    ],
)
def test_ways_that_do_not_exist_are_refused(
    tmp_path: Path, steps: tuple[Step, ...], kind: type[StudioError], says: str
) -> None:
    with pytest.raises(kind, match=says):
        run(source_of(tmp_path, "small"), tmp_path, *steps)


def test_a_damaged_pte_is_an_input_error(tmp_path: Path) -> None:
    pytest.importorskip("executorch")
    from studio.backends.executorch import ExecutorchBackend

    for content in (b"", b"rubbish" * 100):
        (tmp_path / "bad.pte").write_bytes(content)
        with pytest.raises(StudioError, match=r"bad\.pte"):
            ExecutorchBackend().load(tmp_path / "bad.pte")


def test_a_damaged_tflite_is_refused(tmp_path: Path) -> None:
    from studio.backends.litert import LitertBackend

    for content in (b"", b"rubbish" * 100):
        (tmp_path / "bad.tflite").write_bytes(content)
        with pytest.raises(StudioError, match=r"bad\.tflite"):
            LitertBackend().load(tmp_path / "bad.tflite")


def test_a_killed_export_leaves_nothing_and_the_next_one_cleans_up(tmp_path: Path) -> None:
    source = source_of(tmp_path, "small")
    script = (
        "import sys, time, pathlib\n"
        "from studio.recipes.cache import cached_or_made\n"
        "def make(folder):\n"
        "    (folder / 'half.onnx').write_text('half')\n"
        "    print('half', flush=True)\n"
        "    time.sleep(60)\n"
        "cached_or_made('0' * 64, make, made_by='test')\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "half\n"
    left = [p.name for p in artifacts_dir().iterdir()]
    assert left == [f"{'0' * 64}.partial-{process.pid}"]
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    result = run(source, tmp_path, EXPORT)
    names = {p.name for p in artifacts_dir().iterdir()}
    assert names == {result.steps[0].artifact.key}


def test_an_unchanged_recipe_is_done_in_under_a_second(tmp_path: Path) -> None:
    source = source_of(tmp_path, "small")
    run(source, tmp_path, EXPORT, verify("e"))
    started = time.monotonic()
    again = run(source, tmp_path, EXPORT, verify("e"))
    assert time.monotonic() - started < 1
    assert all(step.was_cached for step in again.steps)
