"""Random torch operators, a dozen to a program: for ExecuTorch's partitioners and the NNAPI serializer."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

PER_PROGRAM = 12


def _shape(rng: random.Random, low: int = 1, high: int = 5) -> list[int]:
    return [rng.choice((1, 2, 3, 4, 6, 8)) for _ in range(rng.randint(low, high))]


def _image(rng: random.Random, dims: int) -> Tensor:
    size = [rng.randint(7, 11) for _ in range(dims)]
    return torch.randn(rng.choice((1, 1, 1, 2)), rng.choice((2, 4, 8)), *size)


Draw = tuple[nn.Module | Callable[..., Any], tuple[Tensor, ...]]


def _conv(rng: random.Random) -> Draw:
    dims = rng.choice((1, 2, 2, 2, 3))
    x = _image(rng, dims)
    c = x.shape[1]
    group = rng.choice((1, 1, 2, c))
    kernel, stride = rng.choice((1, 2, 3)), rng.choice((1, 2))
    if rng.random() < 0.35:
        kind = (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)[dims - 1]
        extra = rng.choice((0, stride - 1))
        dilation = rng.choice((1, 1, 2)) if not extra else 1
        return kind(c, group * 2, kernel, stride, rng.choice((0, kernel // 2)), extra, group,
                    rng.random() < 0.7, dilation), (x,)  # fmt: skip
    kind = (nn.Conv1d, nn.Conv2d, nn.Conv3d)[dims - 1]
    return kind(c, group * rng.choice((1, 2, 3)), kernel, stride, rng.choice((0, 1, 2)),
                rng.choice((1, 1, 2)), group, rng.random() < 0.7), (x,)  # fmt: skip


def _pool(rng: random.Random) -> Draw:
    x = _image(rng, rng.choice((1, 2, 2, 2)))
    one = x.ndim == 3
    kernel, stride, pad = rng.choice((2, 3)), rng.choice((1, 2)), rng.choice((0, 1))
    up = rng.random() < 0.3
    if rng.random() < 0.5:
        return (nn.MaxPool1d if one else nn.MaxPool2d)(
            kernel, stride, pad, rng.choice((1, 1, 2)), False, up
        ), (x,)
    return (nn.AvgPool1d if one else nn.AvgPool2d)(kernel, stride, pad, up, rng.random() < 0.5), (x,)


UNARY: list[Callable[[Tensor], Tensor]] = [
    torch.relu, torch.sigmoid, torch.tanh, torch.abs, torch.neg, torch.exp, torch.log, torch.sqrt,
    torch.rsqrt, torch.floor, torch.ceil, torch.sin, torch.cos, torch.square, torch.round, torch.erf,
    F.silu, F.gelu, F.hardswish, F.hardsigmoid, F.relu6, F.elu, F.leaky_relu, F.softplus, F.mish,
    torch.reciprocal, torch.sign, torch.trunc, F.hardtanh, torch.isnan,
]  # fmt: skip


def _unary(rng: random.Random) -> Draw:
    x = torch.randn(_shape(rng))
    kind = rng.choice((torch.float32,) * 5 + (torch.float16, torch.int32))
    return rng.choice(UNARY), ((x * 3).to(kind) if kind is torch.int32 else x.to(kind),)


def _binary(rng: random.Random) -> Draw:
    shape = _shape(rng)
    other = [s if rng.random() < 0.7 else 1 for s in shape][rng.choice((0, 0, 1)) :]
    dtype = rng.choice((torch.float32,) * 4 + (torch.int32, torch.int64))
    a, b = (torch.randn(shape) * 4).to(dtype), (torch.randn(other) * 4).to(dtype) + 1
    if rng.random() < 0.3:
        constant = rng.choice((2, 0.5)) if dtype.is_floating_point else 3
        chosen = rng.choice((torch.add, torch.sub, torch.mul, torch.div, torch.pow))
        return (lambda x: chosen(x, constant)), (a,)
    chosen = rng.choice(
        (
            torch.add,
            torch.sub,
            torch.mul,
            torch.div,
            torch.maximum,
            torch.minimum,
            torch.eq,
            torch.gt,
            torch.pow,
        )
    )
    return chosen, (a, b)


def _matrix(rng: random.Random) -> Draw:
    rank = rng.choice((2, 2, 3, 4))
    x = torch.randn([*_shape(rng, rank - 2, rank - 2), 3, 4])
    pick = rng.random()
    if pick < 0.5:
        return nn.Linear(4, rng.choice((1, 5)), rng.random() < 0.7), (x,)
    if pick < 0.7:
        return torch.matmul, (x, torch.randn(*x.shape[:-2], 4, 2))
    return (lambda v: v @ torch.ones(4, 3)), (x,)


def _reduce(rng: random.Random) -> Draw:
    shape = _shape(rng)
    dims = sorted(rng.sample(range(len(shape)), rng.randint(1, len(shape))))
    keep = rng.random() < 0.5
    chosen = rng.choice(
        (torch.mean, torch.sum, torch.amax, torch.amin, torch.argmax, torch.cumsum, torch.var)
    )
    if chosen in (torch.argmax,):
        return (lambda x: chosen(x, dims[0], keep)), (torch.randn(shape),)
    if chosen is torch.cumsum:
        return (lambda x: chosen(x, dims[0])), (torch.randn(shape),)
    return (lambda x: chosen(x, dims, keepdim=keep)), (torch.randn(shape),)


def _move(rng: random.Random) -> Draw:
    shape = _shape(rng, 2, 5)
    x = torch.randn(shape) if rng.random() < 0.8 else torch.ones(shape, dtype=torch.int64)
    axis, rank = rng.randint(-len(shape), len(shape) - 1), len(shape)
    order = rng.sample(range(rank), rank)
    step, count, pads = (
        rng.choice((1, 2)),
        rng.randint(1, 6),
        [rng.choice((0, 1)) for _ in range(2 * min(2, rank))],
    )
    chosen = rng.randrange(11)
    ways: list[Callable[[Tensor], Any]] = [
        lambda v: v.permute(order), lambda v: v.reshape(-1), lambda v: torch.cat([v] * count, axis),
        lambda v: v.flatten(1) * 1, lambda v: v.unsqueeze(0), lambda v: v.transpose(0, axis),
        lambda v: F.pad(v, pads), lambda v: v.narrow(axis, 0, 1), lambda v: v[::step],
        lambda v: torch.stack([v, v], axis), lambda v: v.repeat([2] * rank),
    ]  # fmt: skip
    return ways[chosen], (x,)


def _image_op(rng: random.Random) -> Draw:
    x = _image(rng, 2)
    c = x.shape[1]
    factor = rng.choice((2, 1.5, 0.5))
    corners = rng.random() < 0.5
    ways: list[Any] = [
        lambda v: F.interpolate(v, scale_factor=factor, mode="nearest"),
        lambda v: F.interpolate(v, scale_factor=factor, mode="bilinear", align_corners=corners),
        lambda v: F.interpolate(v, scale_factor=2, mode="bicubic"),
        nn.BatchNorm2d(c), nn.GroupNorm(2, c), nn.InstanceNorm2d(c, affine=True),
        nn.PReLU(rng.choice((1, c))),
        nn.AdaptiveAvgPool2d(rng.choice((1, 2))), nn.Softmax(rng.randint(-4, 3)),
        nn.LayerNorm(list(x.shape[-1:])),
        nn.LogSoftmax(rng.choice((1, -1))), nn.ReflectionPad2d(1), nn.Hardtanh(-1, rng.choice((1, 2))),
        lambda v: v.clamp(rng.choice((0, -1)), None), nn.ChannelShuffle(2), nn.Dropout2d(),
    ]  # fmt: skip
    if c % 4 == 0:
        ways.append(nn.PixelShuffle(2))
    return rng.choice(ways), (x,)


FAMILIES = (_conv, _conv, _pool, _unary, _binary, _matrix, _reduce, _move, _image_op, _image_op)


class Wrapped(nn.Module):
    """One drawn operator, or several side by side on inputs of their own."""

    def __init__(self, draws: list[Draw]) -> None:
        super().__init__()
        self.kept = nn.ModuleList(f for f, _ in draws if isinstance(f, nn.Module))
        self.ways = [f for f, _ in draws]
        self.counts = [len(inputs) for _, inputs in draws]

    def forward(self, *inputs: Tensor) -> tuple[Any, ...]:
        results, at = [], 0
        for way, count in zip(self.ways, self.counts):
            results.append(way(*inputs[at : at + count]))
            at += count
        return tuple(results) if len(results) > 1 else results[0]


def write_programs(out: Path, seed: int, count: int) -> None:
    """COUNT programs of a dozen operators each, as .pt2."""
    rng = random.Random(seed)
    torch.manual_seed(seed)
    for number in range(count):
        draws: list[Draw] = []
        while len(draws) < PER_PROGRAM:
            way, inputs = rng.choice(FAMILIES)(rng)
            try:
                with torch.no_grad():
                    way(*inputs)
                torch.export.export(Wrapped([(way, inputs)]).eval(), inputs)
            except Exception:  # a shape or dtype that the operator does not take
                continue
            draws.append((way, inputs))
        everything = tuple(t for _, inputs in draws for t in inputs)
        program = torch.export.export(Wrapped(draws).eval(), everything)
        torch.export.save(program, str(out / f"t{seed}_{number:03d}.pt2"))
