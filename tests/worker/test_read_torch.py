"""Files that torch and ExecuTorch write: one network in every format, read alike."""

from __future__ import annotations

import io
import os
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from torch._export.serde.serialize import serialize
from torch.utils.flop_counter import FlopCounterMode

from studio.errors import InputError
from studio.graph import SubgraphRef, node_costs, open_graph
from studio.graph.graph import Graph
from studio.graph.weights import read_tensor


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(4, 4, 3, padding=1, groups=2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.conv(x)) + x


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 4, 3, stride=2)
        self.blocks = nn.Sequential(Block(), Block())
        self.up = nn.ConvTranspose2d(4, 2, 2, stride=2)
        self.head = nn.Linear(2, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.up(self.blocks(self.stem(x))).mean((2, 3))
        scores = self.head(y)
        return torch.softmax(scores @ scores.transpose(0, 1), -1)


X = torch.zeros(2, 3, 17, 17)


@pytest.fixture(scope="module")
def net() -> Net:
    torch.manual_seed(0)
    return Net().eval()


@pytest.fixture(scope="module")
def macs(net: Net) -> int:
    counter = FlopCounterMode(display=False)
    with counter, torch.no_grad():
        net(X)
    return int(counter.get_total_flops()) // 2


@pytest.fixture(scope="module")
def files(net: Net, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("files")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        traced = torch.jit.trace(net, X)
        traced.save(str(folder / "net.pt"))
        traced._save_for_lite_interpreter(str(folder / "net.ptl"))
        torch.jit.script(net).save(str(folder / "scripted.pt"))
        program = torch.export.export(net, (X,))
        torch.export.save(program, str(folder / "net.pt2"))
        torch.onnx.export(
            net, (X,), str(folder / "net.onnx"), dynamo=True, external_data=False, verbose=False
        )
        torch.save(net.state_dict(), str(folder / "weights.pt"))
    return {path.name: path for path in folder.iterdir()}


def modules_of(graph: Graph) -> set[str]:
    return {p.module for p in graph.node_provenance.values() if p.module}


@pytest.mark.parametrize("name", ["net.pt", "net.ptl", "net.pt2", "net.onnx"])
def test_macs_agree_with_torchs_own_counter(files: dict[str, Path], macs: int, name: str) -> None:
    costs = node_costs(open_graph(files[name]))
    assert (costs.total_macs, costs.unknown_macs) == (macs, 0)


@pytest.mark.parametrize("name", ["net.pt", "net.ptl", "scripted.pt", "net.pt2", "net.onnx"])
def test_modules_are_scopes_and_nodes_know_their_line(files: dict[str, Path], name: str) -> None:
    graph = open_graph(files[name])
    assert {"stem", "blocks.0.conv", "blocks.1", "head"} <= modules_of(graph)
    paths = {graph.scope_path(int(s)) for s in graph.node_scope}
    assert "blocks/0/conv" in paths
    lines = {Path(p.file).name for p in graph.node_provenance.values() if p.file}
    assert "test_read_torch.py" in lines


@pytest.mark.parametrize("name", ["net.pt", "net.ptl", "net.pt2"])
def test_weights_are_read_on_demand(files: dict[str, Path], net: Net, name: str) -> None:
    graph = open_graph(files[name])
    for key in ("stem.weight", "head.bias"):
        expected = net.state_dict()[key].numpy()
        np.testing.assert_array_equal(read_tensor(graph, graph.tensor_name.index(key)), expected)


def test_a_scripted_network_takes_the_shapes_it_is_told(files: dict[str, Path]) -> None:
    unknown = open_graph(files["scripted.pt"])
    assert unknown.tensor_shape[unknown.main_inputs()[0]] is None
    graph = open_graph(files["scripted.pt"], input_shapes={"x": (2, 3, 17, 17)})
    convolution = next(i for i, op in enumerate(graph.node_op) if op.startswith("aten::conv2d"))
    assert graph.tensor_shape[int(graph.outputs_of(convolution)[0])] == (2, 4, 8, 8)


def test_a_state_dict_is_not_a_graph(files: dict[str, Path]) -> None:
    with pytest.raises(InputError, match="weights"):
        open_graph(files["weights.pt"])


def test_branches_and_symbolic_dims_of_an_exported_program(tmp_path: Path) -> None:
    class Choose(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.cond(x.sum() > 0, lambda t: t.sin(), lambda t: t.cos(), (x,))

    program = torch.export.export(Choose(), (torch.ones(3, 4),), dynamic_shapes=({0: torch.export.Dim("n")},))
    torch.export.save(program, str(tmp_path / "c.pt2"))
    graph = open_graph(tmp_path / "c.pt2")
    references = [v for a in graph.node_attributes for v in a.values() if isinstance(v, SubgraphRef)]
    assert len(references) == 2
    bodies = [{graph.node_op[i] for i in graph.nodes_in(r.subgraph)} for r in references]
    assert {"aten.sin.default"} in bodies and {"aten.cos.default"} in bodies
    shape = graph.tensor_shape[graph.main_inputs()[0]]
    assert shape is not None and isinstance(shape[0], str) and shape[1] == 4


def test_executorch_delegates_open(net: Net, macs: int, tmp_path: Path) -> None:
    pytest.importorskip("executorch.exir")
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.exir import to_edge, to_edge_transform_and_lower

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.export.export(net, (X,))
        lowered = to_edge_transform_and_lower(program, partitioner=[XnnpackPartitioner()]).to_executorch()
        portable = to_edge(torch.export.export(net, (X,))).to_executorch()
    (tmp_path / "x.pte").write_bytes(lowered.buffer)
    (tmp_path / "p.pte").write_bytes(portable.buffer)
    graph = open_graph(tmp_path / "x.pte")
    delegates = [i for i in graph.nodes_in(0) if graph.node_op[i] == "XnnpackBackend"]
    assert delegates
    inside = [graph.node_op[i] for i, s in enumerate(graph.node_subgraph) if s > 0]
    assert "XNNConv2d" in inside and all(op.startswith("XNN") for op in inside)
    assert node_costs(graph).total_macs == macs
    plain = open_graph(tmp_path / "p.pte")
    assert node_costs(plain).total_macs == macs
    convolution = plain.node_op.index("aten.convolution.out")
    assert plain.node_attributes[convolution]["stride"] == [2, 2]
    plan = portable.executorch_program.execution_plan[0]
    assert plain.node_count == len(plan.chains[0].instructions)


def test_an_archive_whose_code_writes_files_is_not_loaded(tmp_path: Path) -> None:
    target = tmp_path / "written"
    source = (
        "def __setstate__(self, state: str) -> None:\n"
        f"  torch.save(state, {str(target)!r})\n"
        "  self.training = False\n"
    )
    module = torch.jit.script(nn.Identity())
    module.define(source)
    module.define('def __getstate__(self) -> str:\n  return "state"\n')
    path = tmp_path / "w.pt"
    module.save(str(path))
    assert not target.exists()
    with pytest.raises(InputError, match="reaches files"):
        open_graph(path)
    assert not target.exists()
    torch.jit.load(str(path))
    assert target.exists()  # what torch alone would have done: the guard is no superstition


def test_strided_and_shared_weights_are_read_as_torch_sees_them(tmp_path: Path) -> None:
    class Shared(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            base = torch.arange(24.0).reshape(4, 6)
            self.turned = nn.Parameter(base.t())
            self.tied = self.turned
            self.register_buffer("part", base[1:3, 2:5])
            self.register_buffer("repeated", torch.ones(3, 1).expand(3, 4))
            self.register_buffer("loose", torch.ones(2), persistent=False)
            self.large = nn.Parameter(torch.arange(90_000.0).reshape(300, 300).t())

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            kept = (
                self.part.sum() + self.repeated.sum() + self.tied.sum() + self.loose.sum() + self.large.sum()
            )
            return x @ self.turned + kept

    program = torch.export.export(Shared(), (torch.zeros(2, 6),))
    wanted = {**program.state_dict, **program.constants}
    new, old = tmp_path / "new.pt2", tmp_path / "old.pt2"
    torch.export.save(program, str(new))
    parts = serialize(program)
    with zipfile.ZipFile(old, "w") as archive:  # as torch 2.7 and older wrote it
        archive.writestr("serialized_exported_program.json", parts.exported_program)
        archive.writestr("serialized_state_dict.pt", parts.state_dict)
        archive.writestr("serialized_constants.pt", parts.constants)
        archive.writestr("version", "7.3")
    for path in (new, old):
        graph = open_graph(path)
        for name, tensor in wanted.items():
            index = graph.tensor_name.index(name)
            np.testing.assert_array_equal(read_tensor(graph, index), tensor.detach().numpy(), err_msg=name)
            if path == new and tensor.numel() <= 1024:
                assert graph.tensor_value[index] == tensor.detach().reshape(-1).tolist()


def test_a_pickle_that_would_call_something_is_refused(tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.system, ("touch pwned",)

    program = torch.export.export(nn.Linear(2, 2), (torch.zeros(1, 2),))
    parts = serialize(program)
    path = tmp_path / "evil.pt2"
    state = io.BytesIO()
    torch.save({"weight": Evil()}, state)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("serialized_exported_program.json", parts.exported_program)
        archive.writestr("serialized_state_dict.pt", state.getvalue())
    graph = open_graph(path)
    with pytest.raises(InputError, match="torch does not load its pickle"):
        read_tensor(graph, graph.tensor_name.index("weight"))
    assert not Path("pwned").exists()
