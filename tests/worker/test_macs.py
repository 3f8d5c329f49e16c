"""MACs against torch's own counter, in every format it writes, and by definition where it has none."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode

from studio.graph import node_costs, open_graph


class Wrapped(nn.Module):
    """A function of tensors as a module."""

    def __init__(self, function: Callable[..., torch.Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        return self.function(*inputs)


def tensors(*shapes: tuple[int, ...]) -> tuple[torch.Tensor, ...]:
    return tuple(torch.randn(shape) for shape in shapes)


CASES: dict[str, tuple[nn.Module, tuple[torch.Tensor, ...]]] = {
    "grouped convolution": (nn.Conv2d(4, 6, 3, stride=2, groups=2, dilation=2), tensors((2, 4, 9, 9))),
    "transposed convolution": (nn.ConvTranspose2d(4, 6, 3, stride=2, groups=2), tensors((2, 4, 5, 5))),
    "one-dimensional": (nn.Conv1d(3, 5, 4, padding=2), tensors((2, 3, 10))),
    "three-dimensional": (nn.Conv3d(2, 3, 2), tensors((1, 2, 4, 5, 6))),
    "linear of a sequence": (nn.Linear(6, 5), tensors((2, 3, 6))),
    "broadcast matmul": (Wrapped(torch.matmul), tensors((5, 1, 3, 4), (6, 4, 2))),
    "vector times batch": (Wrapped(torch.matmul), tensors((4,), (6, 4, 2))),
    "baddbmm": (Wrapped(torch.baddbmm), tensors((2, 3, 5), (2, 3, 4), (2, 4, 5))),
    "addmm": (Wrapped(torch.addmm), tensors((5,), (3, 4), (4, 5))),
    "einsum": (Wrapped(lambda a, b: torch.einsum("bhqd,bhkd->bhqk", a, b)),
               tensors((2, 3, 4, 5), (2, 3, 6, 5))),
    "einsum with an ellipsis": (Wrapped(lambda a, b: torch.einsum("...ij,jk->...ik", a, b)),
                                tensors((2, 3, 4, 5), (5, 6))),
    "einsum that is element-wise": (Wrapped(lambda a, b: torch.einsum("bi,bi->bi", a, b)),
                                    tensors((2, 3), (2, 3))),
    "einsum with an implied result": (Wrapped(lambda a, b: torch.einsum("ij,jk", a, b)),
                                      tensors((2, 3), (3, 4))),
    "attention": (Wrapped(F.scaled_dot_product_attention),
                  tensors((2, 4, 6, 8), (2, 4, 5, 8), (2, 4, 5, 10))),
    "encoder layer": (nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), tensors((2, 5, 8))),
}  # fmt: skip


def written(module: nn.Module, inputs: tuple[torch.Tensor, ...], folder: Path, kind: str) -> Path:
    """The module as a file of one format."""
    path = folder / f"m.{kind}"
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        if kind == "pt":
            torch.jit.trace(module, inputs, check_trace=False).save(str(path))
        elif kind == "pt2":
            torch.export.save(torch.export.export(module, inputs), str(path))
        else:
            torch.onnx.export(module, inputs, str(path), dynamo=True, external_data=False, verbose=False)
    return path


@pytest.mark.parametrize("kind", ["pt", "pt2", "onnx"])
@pytest.mark.parametrize("name", CASES)
def test_macs_are_those_of_torchs_counter(tmp_path: Path, name: str, kind: str) -> None:
    module, inputs = CASES[name]
    module.train(name == "encoder layer")  # in eval mode torch may run a fused kernel it does not count
    counter = FlopCounterMode(display=False)
    with counter, torch.no_grad():
        module(*inputs)
    costs = node_costs(open_graph(written(module.eval(), inputs, tmp_path, kind)))
    fused = kind == "pt" and name == "encoder layer"  # traced as one operator, whose inside is not known
    assert costs.unknown_macs == int(fused)
    assert fused or costs.total_macs == int(counter.get_total_flops()) // 2


class Cell(nn.Module):
    """An LSTM cell that takes its two states one by one."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(5, 7)

    def forward(self, x: torch.Tensor, h: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
        return torch.cat(self.cell(x, (h, c)))


DEFINED: dict[str, tuple[nn.Module, tuple[torch.Tensor, ...], int]] = {
    # what the counter does not see: aten::mv and kernels that run a layer as one
    "batch times vector": (Wrapped(torch.matmul), tensors((6, 3, 4), (4,)), 6 * 3 * 4),
    "bilinear": (nn.Bilinear(3, 4, 5), tensors((2, 3), (2, 4)), 2 * (5 * 3 * 4 + 5 * 4)),
    # steps × batch × Σ over layers and directions of gates × hidden × (what comes in + hidden)
    "lstm": (nn.LSTM(5, 7, num_layers=2), tensors((3, 2, 5)), 6 * 4 * 7 * (5 + 7 + 7 + 7)),
    "gru": (nn.GRU(5, 7, batch_first=True), tensors((2, 3, 5)), 6 * 3 * 7 * (5 + 7)),
    "rnn": (nn.RNN(5, 7, bidirectional=True), tensors((3, 2, 5), (2, 2, 7)), 6 * 2 * 7 * (5 + 7)),
    "cell": (Cell(), tensors((2, 5), (2, 7), (2, 7)), 2 * 4 * 7 * (5 + 7)),
    "gru cell": (nn.GRUCell(5, 7), tensors((2, 5), (2, 7)), 2 * 3 * 7 * (5 + 7)),
}


@pytest.mark.parametrize("kind", ["pt", "pt2", "onnx"])
@pytest.mark.parametrize("name", DEFINED)
def test_macs_follow_the_definition(tmp_path: Path, name: str, kind: str) -> None:
    module, inputs, macs = DEFINED[name]
    costs = node_costs(open_graph(written(module.eval(), inputs, tmp_path, kind)))
    assert (costs.total_macs, costs.unknown_macs) == (macs, 0)


def test_a_projected_lstm_counts_its_projection(tmp_path: Path) -> None:
    module = nn.LSTM(5, 8, proj_size=3).eval()
    costs = node_costs(open_graph(written(module, tensors((4, 1, 5)), tmp_path, "pt2")))
    assert (costs.total_macs, costs.unknown_macs) == (4 * (32 * 5 + 32 * 3 + 3 * 8), 0)


def test_a_loop_of_unknown_length_has_unknown_macs(tmp_path: Path) -> None:
    class Loop(nn.Module):
        def forward(self, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
            while bool(x.sum() < 10):
                x = x @ w
            return x

    torch.jit.script(Loop()).save(str(tmp_path / "l.pt"))
    graph = open_graph(tmp_path / "l.pt", input_shapes={"x": (3, 3), "w": (3, 3)})
    loop = graph.node_op.index("prim::Loop")
    assert node_costs(graph).macs[loop] == -1
