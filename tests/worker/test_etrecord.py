"""ETRecords: what a delegate was made from, whose module and line a node has, and records that do not fit."""

from __future__ import annotations

import json
import shutil
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from studio.cli.main import main
from studio.errors import InputError
from studio.graph import Graph, SubgraphRef, node_costs, open_graph
from studio.graph.summary import summarize
from studio.graph.weights import read_tensor

pytest.importorskip("executorch.devtools")


class Net(nn.Module):
    """A delegate, two kernels, a delegate."""

    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, width, 3, padding=1)
        self.norm = nn.BatchNorm2d(width)
        self.head = nn.Linear(width, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.cumsum(torch.relu(self.norm(self.stem(x))), 1)
        return torch.softmax(self.head(y.mean((2, 3))), -1)


def lower(folder: Path, name: str, net: nn.Module, partitioner: str = "xnnpack") -> Path:
    """`name.pte` and `name_etrecord.bin` of a network."""
    from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.exir import to_edge_transform_and_lower

    made = {"xnnpack": XnnpackPartitioner, "vulkan": VulkanPartitioner}[partitioner]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.export.export(net.eval(), (torch.zeros(1, 3, 16, 16),))
        edge = to_edge_transform_and_lower(program, partitioner=[made], generate_etrecord=True)
        lowered = edge.to_executorch()
    path = folder / f"{name}.pte"
    path.write_bytes(lowered.buffer)
    lowered.get_etrecord().save(str(folder / f"{name}_etrecord.bin"))
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("et")
    torch.manual_seed(0)
    lower(folder, "net", Net())
    lower(folder, "phone", Net(), "vulkan")
    shutil.copy(folder / "net.pte", folder / "bare.pte")
    lower(folder, "wide", nn.Sequential(nn.Conv2d(3, 4, 1), nn.ReLU()))
    return folder


def bodies(graph: Graph, attribute: str) -> list[list[str]]:
    """The operators of the bodies that hang on delegates under that attribute."""
    found = []
    for attributes in graph.node_attributes:
        value = attributes.get(attribute)
        if isinstance(value, SubgraphRef):
            found.append([graph.node_op[n] for n in graph.nodes_in(value.subgraph)])
    return found


def test_delegates_open_as_what_they_were_made_from(files: Path) -> None:
    """All edge nodes are found again, once: inside delegates, or as kernels of their own."""
    from executorch.devtools.etrecord import parse_etrecord

    graph = open_graph(files / "net.pte")
    record = parse_etrecord(str(files / "net_etrecord.bin"))
    program = record.edge_dialect_program
    program = program["forward"] if isinstance(program, dict) else program
    calls = [
        str(node.target)
        for node in program.graph.nodes
        if node.op == "call_function" and "getitem" not in str(node.target)
    ]
    inside = [op for body in bodies(graph, "edge") for op in body]
    outside = [n for p in graph.node_provenance.values() for n in p.original if n]
    assert len(bodies(graph, "edge")) == len(bodies(graph, "graph")) == 2
    assert {"aten.convolution.default", "aten._native_batch_norm_legit_no_training.default"} <= set(inside)
    assert len(inside) + sum("cumsum" in n or "mean" in n for n in outside) == len(calls)


def test_nodes_know_the_module_and_line_they_came_from(files: Path) -> None:
    graph = open_graph(files / "net.pte")
    where = {graph.node_op[n]: p for n, p in graph.node_provenance.items()}
    assert where["XNNConv2d"].module == "stem" and where["XNNConv2d"].module_type == "Conv2d"
    assert where["XNNFullyConnected"].module == "head"
    kernel = where["aten.cumsum.out"]
    assert kernel.original == ("aten_cumsum_default",)
    assert Path(kernel.file).name == "test_etrecord.py" and kernel.line > 0
    convolution = graph.node_op.index("XNNConv2d")
    assert graph.scope_path(int(graph.node_scope[convolution])) == "stem"


def test_counts_and_costs_do_not_take_the_same_work_twice(files: Path) -> None:
    with_record, without = summarize(open_graph(files / "net.pte")), summarize(open_graph(files / "bare.pte"))
    for field in ("nodes", "operators", "parameters", "weight_bytes", "macs", "macs_unknown_nodes"):
        assert getattr(with_record, field) == getattr(without, field), field


def test_a_vulkan_delegate_knows_its_macs(files: Path) -> None:
    """Vulkan's own operators are not counted; what they were made from is."""
    graph = open_graph(files / "phone.pte")
    assert any("aten.convolution.default" in body for body in bodies(graph, "edge"))
    costs = node_costs(graph)
    assert costs.unknown_macs == 0
    assert costs.total_macs == node_costs(open_graph(files / "phone_etrecord.bin")).total_macs > 0


def test_the_record_by_itself_is_the_edge_graph_with_its_weights(files: Path) -> None:
    graph = open_graph(files / "net_etrecord.bin")
    assert graph.format == "etrecord"
    assert graph.node_op[0] == "aten.convolution.default" and graph.node_op[-1] == "aten._softmax.default"
    torch.manual_seed(0)
    weight = Net().stem.weight.detach().numpy()
    np.testing.assert_array_equal(read_tensor(graph, graph.tensor_name.index("stem.weight")), weight)
    beside = open_graph(files / "net.pte")
    np.testing.assert_array_equal(read_tensor(beside, beside.tensor_name.index("stem.weight")), weight)


def test_a_record_of_another_program_is_a_note_when_found_and_refused_when_named(
    files: Path, tmp_path: Path
) -> None:
    path = tmp_path / "net.pte"
    shutil.copy(files / "net.pte", path)
    shutil.copy(files / "wide_etrecord.bin", tmp_path / "etrecord.bin")
    graph = open_graph(path)
    assert any("another program" in note for note in graph.notes) and not bodies(graph, "edge")
    with pytest.raises(InputError, match="another program"):
        open_graph(path, etrecord=files / "wide_etrecord.bin")
    with pytest.raises(InputError, match="There is no file"):
        open_graph(path, etrecord=tmp_path / "absent")
    named = open_graph(path, etrecord=files / "net_etrecord.bin")
    assert len(bodies(named, "edge")) == 2


def test_a_damaged_record_beside_a_file_is_a_note(files: Path, tmp_path: Path) -> None:
    path = tmp_path / "net.pte"
    shutil.copy(files / "net.pte", path)
    with (
        zipfile.ZipFile(files / "net_etrecord.bin") as whole,
        zipfile.ZipFile(tmp_path / "net.etrecord", "w") as cut,
    ):
        for name in whole.namelist():
            content = whole.read(name)
            cut.writestr(name, content[: len(content) // 2] if name.endswith("/forward") else content)
    graph = open_graph(path)
    assert graph.node_count == open_graph(files / "bare.pte").node_count
    assert any("not used" in note for note in graph.notes)


def test_a_record_with_odd_handles_is_still_read(files: Path, tmp_path: Path) -> None:
    path = tmp_path / "net.pte"
    shutil.copy(files / "net.pte", path)
    with (
        zipfile.ZipFile(files / "net_etrecord.bin") as whole,
        zipfile.ZipFile(tmp_path / "net.etrecord", "w") as odd,
    ):
        for name in whole.namelist():
            content = whole.read(name)
            if name == "debug_handle_map":
                content = json.dumps({"forward": {"0": [1, 999_999], "x": 3, "1": []}}).encode()
            odd.writestr(name, content)
    assert bodies(open_graph(path), "edge") == [["aten.convolution.default"]]


def test_convert_keeps_the_record_under_the_name_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DEPLOYMENT_STUDIO_CACHE", str(tmp_path / "cache"))
    program = torch.export.export(Net().eval(), (torch.zeros(1, 3, 8, 8),))
    torch.export.save(program, tmp_path / "source.pt2")
    made = tmp_path / "out" / "made.pte"
    made.parent.mkdir()
    argv = ["convert", str(tmp_path / "source.pt2"), "--out", str(made)]
    assert main(argv) == 0
    assert [p.name for p in made.parent.iterdir()] == ["made.pte"]
    plain = open_graph(made)
    assert not any("before delegation" in s.name for s in plain.subgraphs)
    assert f"Wrote {made}" in capfd.readouterr().out
    assert main([*argv, "--etrecord"]) == 0
    record = made.with_suffix(".etrecord")
    assert capfd.readouterr().out.endswith(f"\nWrote {made}\nWrote {record}\n")
    assert sorted(p.name for p in made.parent.iterdir()) == ["made.etrecord", "made.pte"]
    assert any("before delegation" in s.name for s in open_graph(made).subgraphs)
    assert main(["convert", str(tmp_path / "source.pt2"), "--out", "made.tflite", "--etrecord"]) == 2

    capfd.readouterr()
    with monkeypatch.context() as patch:
        patch.setattr("studio.cli.single_step.run_recipe", None)  # which is not reached
        assert main([*argv, "--etrecord"]) == 2
    assert f"{record} is there already." in capfd.readouterr().err
    record.unlink()
    assert main([*argv, "--etrecord", "--json"]) == 0
    answer = json.loads(capfd.readouterr().out)
    assert (answer["out"], answer["beside"]) == (str(made), [str(record)])
