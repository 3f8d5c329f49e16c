"""Draws single aten operators with odd attributes, ranks and dtypes, family by family."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import torch
from fuzz_torch import FAMILIES as FIRST_FAMILIES
from fuzz_torch import Draw, _image, _shape
from torch import Tensor, nn
from torch.nn import functional as F

FLOATS = (torch.float32,) * 7 + (torch.float16,)


def _pointwise(rng: random.Random) -> Draw:
    number = rng.choice((0.0, 0.5, 1.0, 2.0))
    ways: list[Callable[[Tensor], Any]] = [
        torch.log1p, torch.expm1, torch.exp2, torch.log2, torch.log10, torch.atan, torch.asin, torch.sinh,
        torch.cosh, torch.tan, torch.erfc, torch.frac, torch.isinf, torch.isfinite, torch.nan_to_num,
        torch.logical_not, torch.positive, torch.deg2rad, torch.signbit, torch.sgn, torch.relu_,
        F.celu, F.selu, F.softsign, F.tanhshrink, F.softshrink, F.hardshrink, F.logsigmoid,
        lambda x: F.threshold(x, 0.1, number), lambda x: F.gelu(x, approximate="tanh"),
        lambda x: F.elu(x, number), lambda x: F.leaky_relu(x, -number), lambda x: F.leaky_relu(x, 0.0),
        lambda x: F.hardtanh(x, -number - 1, number), lambda x: F.softplus(x, 2.0, 5.0),
        lambda x: x.clamp(min=number), lambda x: x.clamp(max=number),
        lambda x: x.clamp(-number, number + 1),
        lambda x: x.clamp(torch.zeros_like(x), torch.ones_like(x)), lambda x: x**number,
        lambda x: number**x,
        lambda x: number - x, lambda x: number / (x.abs() + 1), lambda x: torch.add(x, x, alpha=2),
        lambda x: torch.sub(x, 1, alpha=3), lambda x: torch.rsub(x, 2, alpha=2),
        lambda x: x.to(torch.float16),
        lambda x: x.to(torch.int32), lambda x: x.double(), lambda x: x.bool(), lambda x: x.float(),
        lambda x: torch.round(x, decimals=1), lambda x: x.masked_fill(x > 0, number), lambda x: x.clone(),
        lambda x: torch.full_like(x, number), lambda x: torch.zeros_like(x), lambda x: x.contiguous() * 1,
        lambda x: torch.where(x > number, x, -x), lambda x: torch.where(x > 0, number, 1.0),
        lambda x: x.fill_diagonal_(1.0) if x.ndim == 2 else x * 2, lambda x: x.type_as(torch.zeros(1)),
        lambda x: torch.square(x) + 1, lambda x: x.relu().sigmoid(), lambda x: F.dropout(x, 0.5, False),
    ]  # fmt: skip
    return rng.choice(ways), (torch.rand(_shape(rng, 0, 6)).to(rng.choice(FLOATS)),)


def _pairs(rng: random.Random) -> Draw:
    shape = _shape(rng, 1, 5)
    other = [s if rng.random() < 0.7 else 1 for s in shape][rng.choice((0, 0, 1)) :]
    kinds = (torch.float32, torch.float32, torch.float32, torch.int32, torch.int64, torch.bool, torch.uint8)
    one, two = rng.choice(kinds), rng.choice(kinds)
    a, b = (torch.rand(shape) * 4 + 1).to(one), (torch.rand(other) * 4 + 1).to(rng.choice((one, one, two)))
    ways: list[Callable[[Tensor, Tensor], Any]] = [
        torch.remainder, torch.fmod, torch.floor_divide, torch.atan2, torch.hypot, torch.logical_and,
        torch.logical_or, torch.logical_xor, torch.bitwise_and, torch.bitwise_or, torch.ne, torch.le,
        torch.lt, torch.ge, torch.fmax, torch.fmin, torch.copysign, torch.true_divide, torch.add, torch.mul,
        torch.sub, torch.minimum, torch.maximum, torch.eq, torch.pow, torch.div,
        lambda x, y: torch.div(x, y, rounding_mode="floor"),
        lambda x, y: torch.div(x, y, rounding_mode="trunc"),
        lambda x, y: torch.add(x, y, alpha=2), lambda x, y: torch.sub(x, y, alpha=3),
        lambda x, y: torch.lerp(x, y, 0.3), lambda x, y: torch.addcmul(x, x, y, value=2),
        lambda x, y: torch.addcdiv(x, x, y), lambda x, y: torch.where(x > y, x, y),
        lambda x, y: x.expand_as(x) + y,
        lambda x, y: F.cosine_similarity(x, y, -1), lambda x, y: F.mse_loss(x, y.expand_as(x)),
        lambda x, y: F.prelu(x, y.flatten()[:1]), lambda x, y: torch.floor_divide(x, 2),
        lambda x, y: x.mul_(y),
        lambda x, y: torch.cat([x, x + y]), lambda x, y: x > 2, lambda x, y: x % 2, lambda x, y: x // 2,
    ]  # fmt: skip
    return rng.choice(ways), (a, b)


def _window(rng: random.Random) -> Draw:
    dims = rng.choice((1, 2, 2, 2, 3))
    x = _image(rng, dims).to(rng.choice(FLOATS[1:] if rng.random() < 0.2 else FLOATS[:1]))
    c, pick = x.shape[1], rng.choice
    if rng.random() < 0.55:
        conv = (nn.Conv1d, nn.Conv2d, nn.Conv3d)[dims - 1]
        kernel = tuple(pick((1, 2, 3, 5)) for _ in range(dims))
        groups = pick([g for g in (1, 1, 2, c) if c % g == 0])
        if rng.random() < 0.3:
            mode = pick(("zeros", "zeros", "reflect", "replicate", "circular"))
            made = conv(c, groups * 2, kernel, 1, "same", pick((1, 2)), groups, padding_mode=mode)
        elif rng.random() < 0.35:
            back = (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)[dims - 1]
            stride = tuple(pick((1, 2, 3)) for _ in range(dims))
            extra = tuple(pick((0, s - 1)) for s in stride)
            made = back(
                c, groups * pick((1, 2)), kernel, stride, pick((0, 1)), extra, groups, pick((True, False))
            )
        else:
            stride, dilation = (tuple(pick((1, 2)) for _ in range(dims)) for _ in range(2))
            padding = tuple(pick((0, 1, 2)) for _ in range(dims))
            made = conv(
                c, groups * pick((1, 2, 3)), kernel, stride, padding, dilation, groups, pick((True, False))
            )
        return made.to(x.dtype), (x,)
    kernel = tuple(pick((2, 3)) for _ in range(dims))
    stride, pad = tuple(pick((1, 2, 3)) for _ in range(dims)), tuple(pick((0, 0, 1)) for _ in range(dims))

    def flag() -> bool:
        return pick((False, True))

    ways: list[Any] = [
        (nn.MaxPool1d, nn.MaxPool2d, nn.MaxPool3d)[dims - 1](kernel, stride, pad, 1, flag(), flag()),
        (nn.AvgPool1d, nn.AvgPool2d, nn.AvgPool3d)[dims - 1](kernel, stride, pad, flag(), flag()),
        (nn.AdaptiveAvgPool1d, nn.AdaptiveAvgPool2d, nn.AdaptiveAvgPool3d)[dims - 1](pick((1, 2, 3))),
        (nn.AdaptiveMaxPool1d, nn.AdaptiveMaxPool2d, nn.AdaptiveMaxPool3d)[dims - 1](pick((1, 2))),
    ]  # fmt: skip
    if dims == 2:
        ways += [
            nn.AvgPool2d(3, 2, divisor_override=2), nn.LPPool2d(2, 2), nn.Unfold(2, 1, 0, 2),
            nn.MaxPool2d(2, return_indices=True), nn.AdaptiveAvgPool2d((1, pick((2, 3)))),
            nn.AdaptiveAvgPool2d((None, 1)), nn.PixelUnshuffle(pick((2, 3))), nn.Upsample((13, 5)),
            nn.Upsample((13, 5), mode="bilinear", align_corners=pick((True, False))),
            nn.Upsample(scale_factor=(2, 3), mode=pick(("nearest", "nearest-exact"))),
            nn.Upsample(scale_factor=2, mode="bicubic", align_corners=True), nn.ZeroPad2d((1, 0, 2, -1)),
            nn.ReplicationPad2d((1, 2, 0, 1)), nn.CircularPad2d(1), nn.ConstantPad2d(1, 3.5),
            lambda v: F.grid_sample(v, torch.zeros(v.shape[0], 3, 3, 2), align_corners=False),
            lambda v: F.interpolate(v, scale_factor=0.5, mode="area"), lambda v: v[:, :, ::2, 1:],
            lambda v: F.interpolate(v, scale_factor=1.7, mode="bilinear", recompute_scale_factor=True),
        ]  # fmt: skip
    return rng.choice(ways), (x,)


def _norm(rng: random.Random) -> Draw:
    dims = rng.choice((0, 1, 2, 2, 3))
    x = _image(rng, dims) if dims else torch.randn(3, rng.choice((4, 8)))
    c, last = x.shape[1], x.shape[-1]
    ways: list[Any] = [
        (nn.BatchNorm1d, nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)[dims](c, affine=rng.random() < 0.7),
        nn.LayerNorm([last], elementwise_affine=rng.random() < 0.6), nn.LayerNorm(list(x.shape[1:])),
        nn.LayerNorm(last, bias=False), nn.RMSNorm(last), nn.GroupNorm(1, c),
        nn.GroupNorm(2, c, affine=False),
        nn.LocalResponseNorm(3), lambda v: F.normalize(v, 2.0, rng.choice((1, -1))),
        nn.Softmax(rng.choice((0, 1, -1))),
        nn.Softmin(-1), nn.LogSoftmax(0), nn.Softmax(-1), nn.GLU(1) if c % 2 == 0 else nn.Softmax(1),
        lambda v: v.norm(dim=-1, keepdim=True), lambda v: torch.linalg.vector_norm(v, 1, (1,)),
        lambda v: v.std(-1), lambda v: v.var(1, correction=0, keepdim=True), lambda v: torch.var_mean(v, 0),
    ]  # fmt: skip
    if dims:
        ways.append((nn.InstanceNorm1d, nn.InstanceNorm2d, nn.InstanceNorm3d)[dims - 1](c))
    return rng.choice(ways), (x,)


def _reduced(rng: random.Random) -> Draw:
    shape = _shape(rng, 1, 5)
    dim, keep = rng.randint(-len(shape), len(shape) - 1), rng.random() < 0.5
    pair = tuple(rng.sample(range(len(shape)), min(2, len(shape))))
    tail = tuple(range(-min(2, len(shape)), 0))
    ways: list[Callable[[Tensor], Any]] = [
        lambda x: x.mean(), lambda x: x.sum(), lambda x: x.max(), lambda x: x.mean(pair, keep),
        lambda x: x.mean(tail, True), lambda x: x.mean(tail), lambda x: x.sum(dim, keep),
        lambda x: x.amax(pair, keep),
        lambda x: x.amin(dim, True), lambda x: x.max(dim, keep)[0], lambda x: x.min(dim, keep),
        lambda x: x.prod(dim),
        lambda x: x.argmin(dim, keep), lambda x: x.argmax(), lambda x: (x > 0).any(dim),
        lambda x: (x > 0).all(),
        lambda x: x.logsumexp(dim), lambda x: x.median(dim)[0], lambda x: x.sort(dim)[0],
        lambda x: x.argsort(dim),
        lambda x: x.topk(1, dim), lambda x: x.cumprod(dim), lambda x: x.cumsum(dim),
        lambda x: x.mean(dim, dtype=torch.float64),
        lambda x: x.sum(dtype=torch.float16), lambda x: x.nansum(dim), lambda x: x.count_nonzero(dim),
        lambda x: x.diff(dim=dim),
    ]  # fmt: skip
    return rng.choice(ways), (torch.randn(shape).to(rng.choice(FLOATS)),)


def _moved(rng: random.Random) -> Draw:
    shape = _shape(rng, 2, 6)
    rank, kind = len(shape), rng.choice((torch.float32,) * 5 + (torch.int64, torch.float16, torch.bool))
    axis = rng.randint(-rank, rank - 1)
    size = shape[axis]
    index = torch.zeros(rng.choice((1, 2, 3)), dtype=torch.int64)
    ways: list[Callable[[Tensor], Any]] = [
        lambda v: v.roll(1, axis), lambda v: v.flip(axis), lambda v: v.rot90(1, (0, 1)),
        lambda v: v.tril(), lambda v: v.triu(1),
        lambda v: v.unsqueeze(axis).expand(*v.unsqueeze(axis).shape),
        lambda v: v[:1].expand(4, *v.shape[1:]),
        lambda v: v.expand(2, *v.shape), lambda v: v.split(1, axis), lambda v: v.split([1, size - 1], axis),
        lambda v: v.chunk(2, axis), lambda v: v.unbind(axis), lambda v: v.tile(2),
        lambda v: v.repeat(2, *[1] * rank),
        lambda v: v.repeat_interleave(2, axis), lambda v: v.movedim(0, -1), lambda v: v.squeeze(),
        lambda v: v.squeeze(axis),
        lambda v: v.unsqueeze(axis), lambda v: torch.stack([v, v, v], axis),
        lambda v: torch.hstack([v, v]), lambda v: v.T if v.ndim == 2 else v.mT,
        lambda v: v.index_select(axis, index), lambda v: v[index], lambda v: v[:, index],
        lambda v: v.gather(axis, torch.zeros_like(v, dtype=torch.int64)),
        lambda v: v.scatter(axis, torch.zeros_like(v, dtype=torch.int64), v),
        lambda v: torch.cat([v] * 3, axis), lambda v: torch.cat([v] * 6, axis),
        lambda v: v[..., ::2], lambda v: v[..., :-1] if v.shape[-1] > 1 else v[0],
        lambda v: v.select(axis, 0), lambda v: v.narrow(axis, 0, 1),
        lambda v: v.diagonal(), lambda v: v.view(-1), lambda v: v.reshape(1, -1),
        lambda v: v.flatten(0, 1), lambda v: v.unflatten(0, (1, -1)),
        lambda v: v.permute(*reversed(range(rank))), lambda v: v.permute(0, *range(2, rank), 1),
        lambda v: v.transpose(-1, -2), lambda v: v.swapaxes(0, axis),
        lambda v: F.pad(v, (1, 2)), lambda v: F.pad(v, (1, 0, 0, 1)), lambda v: F.pad(v, (-1, 1)),
        lambda v: F.pad(v, (1, 1), value=2),
        lambda v: v.masked_fill(v > 0, 1), lambda v: v.index_add(0, torch.tensor([0]), v[:1]),
        lambda v: torch.meshgrid(v[0].flatten(), v[0].flatten()),
        lambda v: torch.block_diag(v, v), lambda v: v.new_zeros(2, 3) + 1,
        lambda v: v * torch.arange(v.shape[-1]), lambda v: v.unfold(axis, 1, 1),
    ]  # fmt: skip
    return rng.choice(ways), ((torch.randn(shape) * 3).to(kind),)


def _products(rng: random.Random) -> Draw:
    pick = rng.choice
    batch = _shape(rng, 0, 2)
    x, y = torch.randn(*batch, 3, 4), torch.randn(*batch, 4, 5)
    square, row, weight = torch.randn(4, 4), torch.randn(4), torch.randn(5, 4)
    mask = torch.ones(3, 3).tril().bool()
    ways: list[tuple[Any, tuple[Tensor, ...]]] = [
        (torch.matmul, (x, y)), (torch.matmul, (x, row)), (torch.mv, (square, row)),
        (torch.dot, (row, row)),
        (torch.outer, (row, row)), (torch.mm, (square, square)),
        (lambda a: torch.mm(a, square), (torch.randn(2, 4),)),
        (lambda a: torch.addmm(row, a, square, beta=pick((1, 2)), alpha=pick((1, 0.5))), (x.reshape(-1, 4),)),
        (torch.addmm, (row, torch.randn(2, 4), square)),
        (torch.bmm, (torch.randn(2, 3, 4), torch.randn(2, 4, 5))),
        (lambda a: torch.bmm(a, torch.ones(2, 4, 3)), (torch.randn(2, 3, 4),)),
        (torch.baddbmm, (torch.randn(2, 3, 5), torch.randn(2, 3, 4), torch.randn(2, 4, 5))),
        (F.linear, (x, weight)), (F.linear, (x, weight, torch.randn(5))),
        (nn.Linear(4, pick((1, 6)), pick((True, False))), (x,)),
        (nn.Linear(4, 3).half(), (x.half(),)),
        (nn.Bilinear(4, 5, 2), (torch.randn(2, 4), torch.randn(2, 5))),
        (lambda a, b: torch.einsum("ij,jk->ik", a, b), (torch.randn(3, 4), torch.randn(4, 5))),
        (lambda a, b: torch.einsum("bij,bkj->bik", a, b), (torch.randn(2, 3, 4), torch.randn(2, 5, 4))),
        (lambda a: F.scaled_dot_product_attention(a, a, a), (torch.randn(1, 2, 3, 4),)),
        (lambda a: F.scaled_dot_product_attention(a, a, a, is_causal=True), (torch.randn(1, 2, 3, 4),)),
        (lambda a: F.scaled_dot_product_attention(a, a, a, mask), (torch.randn(1, 2, 3, 4),)),
        (nn.Embedding(7, 3), (torch.randint(0, 7, (2, 3)),)),
        (nn.Embedding(7, 3, 0), (torch.randint(0, 7, (4,)),)),
        (nn.EmbeddingBag(7, 3), (torch.randint(0, 7, (2, 3)),)), (nn.LSTM(3, 4), (torch.randn(2, 1, 3),)),
        (nn.GRU(3, 4, batch_first=True), (torch.randn(1, 2, 3),)),
        (nn.LSTMCell(3, 4), (torch.randn(2, 3),)),
        (nn.MultiheadAttention(4, 2), (torch.randn(3, 1, 4),) * 3),
        (torch.cdist, (torch.randn(3, 4), torch.randn(2, 4))),
        (lambda a: a @ a.mT, (x,)), (lambda a: a.mT @ torch.ones(3, 2), (x,)),
        (torch.cross, (torch.randn(2, 3), torch.randn(2, 3))),
        (lambda a: F.one_hot(a, 5), (torch.tensor([1, 2]),)), (torch.kron, (row, row)),
        (torch.trapezoid, (row,)),
    ]  # fmt: skip
    way, inputs = pick(ways)
    return way, tuple(t.clone() for t in inputs)


FAMILIES = (
    _pointwise, _pairs, _window, _window, _norm, _reduced, _moved, _products,
    *(pick for pick in set(FIRST_FAMILIES)),
)  # fmt: skip
