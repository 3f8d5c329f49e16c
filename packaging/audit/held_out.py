"""Networks that no rule was corrected on: the audit's held-out architectures, randomly initialised."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class MBConv(nn.Module):
    """EfficientNet's block with a 5 × 5 depthwise kernel, a stride and squeeze-excite by 1 × 1 means."""

    def __init__(self, into: int, out: int, stride: int, act: type[nn.Module], gate: nn.Module) -> None:
        super().__init__()
        wide = into * 4
        self.expand = nn.Sequential(nn.Conv2d(into, wide, 1, bias=False), nn.BatchNorm2d(wide, 1e-3), act())
        self.depth = nn.Sequential(
            nn.Conv2d(wide, wide, 5, stride, 2, groups=wide, bias=False), nn.BatchNorm2d(wide, 1e-3), act()
        )
        self.down, self.up, self.gate = nn.Conv2d(wide, into, 1), nn.Conv2d(into, wide, 1), gate
        self.project = nn.Sequential(nn.Conv2d(wide, out, 1, bias=False), nn.BatchNorm2d(out, 1e-3))
        self.adds = stride == 1 and into == out

    def forward(self, x: Tensor) -> Tensor:
        y = self.depth(self.expand(x))
        y = y * self.gate(self.up(F.relu(self.down(y.mean((2, 3), keepdim=True)))))
        y = self.project(y)
        return x + y if self.adds else y


def efficientnet() -> nn.Module:
    def block(a: int, b: int, s: int) -> MBConv:
        return MBConv(a, b, s, nn.SiLU, nn.Sigmoid())

    return nn.Sequential(
        nn.ZeroPad2d((0, 1, 0, 1)), nn.Conv2d(3, 8, 3, 2, bias=False), nn.BatchNorm2d(8), nn.SiLU(),
        block(8, 8, 1), block(8, 16, 2), block(16, 16, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        nn.Linear(16, 10),
    )  # fmt: skip


def mobilenet_v3() -> nn.Module:
    def block(a: int, b: int, s: int) -> MBConv:
        return MBConv(a, b, s, nn.Hardswish, nn.Hardsigmoid())

    return nn.Sequential(
        nn.Conv2d(3, 8, 3, 2, 1, bias=False), nn.BatchNorm2d(8), nn.Hardswish(), block(8, 8, 1),
        block(8, 12, 2), nn.AvgPool2d(8), nn.Conv2d(12, 24, 1), nn.Hardswish(), nn.Flatten(),
        nn.Linear(24, 10), nn.LogSoftmax(1),
    )  # fmt: skip


class ConvNext(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 4, 4)
        self.depth = nn.Conv2d(16, 16, 7, padding=3, groups=16)
        self.norm = nn.LayerNorm(16, eps=1e-6)
        self.up, self.down = nn.Linear(16, 64), nn.Linear(64, 16)
        self.scale = nn.Parameter(torch.full((16,), 1e-2))
        self.head = nn.Linear(16, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x)
        y = self.norm(self.depth(x).permute(0, 2, 3, 1))
        y = self.scale * self.down(F.gelu(self.up(y)))
        x = x + y.permute(0, 3, 1, 2)
        return self.head(self.norm(x.mean([-2, -1])))


class Swin(nn.Module):
    """Shifted-window attention with a relative position bias and the mask of the shift."""

    def __init__(self, width: int = 16, window: int = 4, heads: int = 2) -> None:
        super().__init__()
        self.window, self.heads = window, heads
        self.patch = nn.Conv2d(3, width, 4, 4)
        self.norm, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
        self.bias = nn.Parameter(torch.randn(heads, window**2, window**2))
        mask = torch.zeros(4, 1, window**2, window**2)
        mask[-1, :, :8, 8:] = -100.0
        self.register_buffer("mask", mask)

    def forward(self, x: Tensor) -> Tensor:
        x = self.patch(x).permute(0, 2, 3, 1)
        b, h, w, c = x.shape
        k = self.window
        y = torch.roll(self.norm(x), (-2, -2), (1, 2))
        y = y.view(b, h // k, k, w // k, k, c).transpose(2, 3).reshape(-1, k * k, c)
        q, key, v = self.qkv(y).reshape(-1, k * k, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        scores = (q * 0.35) @ key.transpose(-2, -1) + self.bias.unsqueeze(0) + self.mask
        y = (scores.softmax(-1) @ v).transpose(1, 2).reshape(-1, k * k, c)
        y = self.out(y).view(b, h // k, w // k, k, k, c).permute(0, 1, 3, 2, 4, 5).reshape(b, h, w, c)
        x = x + torch.roll(y, (2, 2), (1, 2))
        return x + self.mlp(self.norm2(x))


class Gru(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.rnn = nn.GRU(8, 12, num_layers=2, bidirectional=True, batch_first=True)
        self.out = nn.Linear(24, 4)

    def forward(self, x: Tensor) -> Tensor:
        y, state = self.rnn(x)
        return F.softmax(self.out(y.max(1)[0] + state[-1].sum(-1, keepdim=True)), -1)


class WaveNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv1d(4, 12, 1)
        self.gates = nn.ModuleList(nn.Conv1d(12, 24, 2, dilation=d) for d in (1, 2, 4))
        self.skips = nn.ModuleList(nn.Conv1d(12, 12, 1) for _ in range(3))
        self.last = nn.Conv1d(12, 8, 1)

    def forward(self, x: Tensor) -> Tensor:
        x = self.first(x)
        total = torch.zeros_like(x)
        for gate, skip in zip(self.gates, self.skips):
            a, b = gate(F.pad(x, (gate.dilation[0], 0))).chunk(2, 1)
            y = skip(torch.tanh(a) * torch.sigmoid(b))
            total, x = total + y, x + y
        return self.last(F.relu(total))


class DeepLab(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 12, 3, 2, 1), nn.BatchNorm2d(12), nn.ReLU6())
        self.branches = nn.ModuleList(
            nn.Conv2d(12, 8, 3, padding=d, dilation=d, bias=False) for d in (2, 4, 6)
        )
        self.pooled = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(12, 8, 1), nn.ReLU())
        self.join = nn.Sequential(nn.Conv2d(32, 5, 1), nn.BatchNorm2d(5), nn.ReLU())

    def forward(self, x: Tensor) -> Tensor:
        y = self.stem(x)
        pooled = F.interpolate(self.pooled(y), y.shape[2:], mode="bilinear", align_corners=False)
        y = self.join(torch.cat([*(b(y) for b in self.branches), pooled], 1))
        return F.interpolate(y, x.shape[2:], mode="bilinear", align_corners=False).argmax(1)


class YoloDfl(nn.Module):
    """A head as YOLOv8's: distribution focal loss, anchors, boxes and scores in one tensor."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.SiLU(), nn.MaxPool2d(5, 1, 2))
        self.down = nn.Sequential(nn.Conv2d(16, 16, 3, 2, 1, groups=2), nn.SiLU())
        self.box, self.score = nn.Conv2d(16, 32, 1), nn.Conv2d(16, 6, 1)
        self.register_buffer("bins", torch.arange(8.0).view(1, 8, 1, 1))
        self.register_buffer("anchors", torch.rand(1, 2, 320))
        self.register_buffer("strides", torch.ones(1, 1, 320))

    def forward(self, x: Tensor) -> Tensor:
        first = self.stem(x)
        levels = [first, self.down(first)]
        y = torch.cat([torch.cat((self.box(f), self.score(f)), 1).view(1, 38, -1) for f in levels], 2)
        box, score = y.split((32, 6), 1)
        box = box.view(1, 4, 8, -1).transpose(2, 1).softmax(1)
        left, right = F.conv2d(box, self.bins).view(1, 4, -1).chunk(2, 1)
        a, b = self.anchors - left, self.anchors + right
        return torch.cat((torch.cat(((a + b) / 2, b - a), 1) * self.strides, score.sigmoid()), 1)


class Shuffle(nn.Module):
    """ShuffleNet's channel shuffle, pixel unshuffle and shuffle."""

    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Conv2d(12, 16, 3, padding=1, groups=4)
        self.b = nn.Conv2d(16, 12, 1, groups=2)
        self.act = nn.PReLU(16)

    def forward(self, x: Tensor) -> Tensor:
        y = self.act(self.a(F.pixel_unshuffle(x, 2)))
        n, c, h, w = y.shape
        y = y.view(n, 4, c // 4, h, w).transpose(1, 2).contiguous().view(n, c, h, w)
        return x + F.pixel_shuffle(self.b(y), 2)


def generator() -> nn.Module:
    return nn.Sequential(
        nn.ConvTranspose2d(16, 12, 4), nn.InstanceNorm2d(12), nn.LeakyReLU(0.2),
        nn.Upsample(scale_factor=2), nn.Conv2d(12, 8, 3, padding=1, padding_mode="reflect"), nn.ReLU(True),
        nn.ConvTranspose2d(8, 8, 3, 2, 1, output_padding=1, groups=2), nn.ELU(),
        nn.ConvTranspose2d(8, 3, 3, dilation=2), nn.Tanh(),
    )  # fmt: skip


class Rope(nn.Module):
    """A decoder layer: RMSNorm, rotary positions, grouped heads, a causal −inf mask, SwiGLU."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(50, 32)
        self.q, self.kv, self.o = nn.Linear(32, 32, False), nn.Linear(32, 32, False), nn.Linear(32, 32, False)
        self.up, self.gate, self.down = nn.Linear(32, 64), nn.Linear(32, 64), nn.Linear(64, 32)
        self.scale = nn.Parameter(torch.ones(32))
        turns = torch.outer(torch.arange(12.0), 1 / 100 ** (torch.arange(0, 8, 2) / 8)).repeat(1, 2)
        self.register_buffer("cos", turns.cos())
        self.register_buffer("sin", turns.sin())
        self.register_buffer("mask", torch.full((12, 12), float("-inf")).triu(1))

    def norm(self, x: Tensor) -> Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.scale

    def turn(self, x: Tensor) -> Tensor:
        a, b = x[..., :4], x[..., 4:]
        return x * self.cos + torch.cat((-b, a), -1) * self.sin

    def forward(self, ids: Tensor) -> Tensor:
        x = self.words(ids)
        y = self.norm(x)
        q = self.turn(self.q(y).view(1, 12, 4, 8).transpose(1, 2))
        k, v = self.kv(y).view(1, 12, 2, 2, 8).unbind(2)
        k = self.turn(k.transpose(1, 2)).repeat_interleave(2, 1)
        v = v.transpose(1, 2)[:, :, None].expand(1, 2, 2, 12, 8).reshape(1, 4, 12, 8)
        scores = torch.softmax(torch.matmul(q, k.transpose(2, 3)) / 2.83 + self.mask, -1)
        x = x + self.o(torch.matmul(scores, v).transpose(1, 2).reshape(1, 12, 32))
        y = self.norm(x)
        x = x + self.down(F.silu(self.gate(y)) * self.up(y))
        return x @ self.words.weight.T


class Diffusion(nn.Module):
    """A UNet with GroupNorm, SiLU, a time embedding, self-attention in the middle and a skip."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.down = nn.Conv2d(3, 16, 3, padding=1), nn.Conv2d(16, 16, 3, 2, 1)
        self.norm, self.norm2 = nn.GroupNorm(4, 16), nn.GroupNorm(8, 32)
        self.time = nn.Sequential(nn.Linear(8, 16), nn.SiLU(), nn.Linear(16, 16))
        self.attention = nn.MultiheadAttention(16, 2, batch_first=True)
        self.last = nn.Conv2d(32, 3, 3, padding=1)

    def forward(self, x: Tensor, t: Tensor) -> Tensor:
        angles = t[:, None] * torch.tensor([1.0, 0.5, 0.25, 0.125])
        emb = self.time(torch.cat((angles.sin(), angles.cos()), -1))[:, :, None, None]
        a = self.first(x)
        b = self.down(F.silu(self.norm(a))) + emb
        n, c, h, w = b.shape
        flat = b.flatten(2).transpose(1, 2)
        flat = flat + self.attention(flat, flat, flat, need_weights=False)[0]
        b = F.interpolate(flat.transpose(1, 2).reshape(n, c, h, w), scale_factor=2, mode="nearest")
        return self.last(F.silu(self.norm2(torch.cat((a, b), 1))))


class Retrieval(nn.Module):
    """Two towers: L2 norms, an einsum, a learned temperature, gathered rows."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Linear(20, 12), nn.Linear(16, 12)
        self.temperature = nn.Parameter(torch.tensor(2.6))

    def forward(self, x: Tensor, y: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
        a = F.normalize(self.a(x), dim=-1)
        b = F.normalize(F.softplus(self.b(y)), dim=-1)
        scores = torch.einsum("bi,ci->bc", a, b) * self.temperature.exp()
        return scores.clamp(max=100), torch.index_select(scores, 0, rows).cumsum(-1)


def _image(size: int = 32) -> Callable[[], tuple[Tensor, ...]]:
    return lambda: (torch.randn(1, 3, size, size),)


ARCHITECTURES: dict[str, tuple[Callable[[], nn.Module], Callable[[], tuple[Tensor, ...]]]] = {
    "held_efficientnet": (efficientnet, _image()),
    "held_mobilenet_v3": (mobilenet_v3, _image()),
    "held_convnext": (ConvNext, _image()),
    "held_swin": (Swin, _image()),
    "held_gru": (Gru, lambda: (torch.randn(1, 5, 8),)),
    "held_wavenet": (WaveNet, lambda: (torch.randn(1, 4, 24),)),
    "held_deeplab": (DeepLab, _image()),
    "held_yolo_dfl": (YoloDfl, _image()),
    "held_shuffle": (Shuffle, _image(16)),
    "held_generator": (generator, lambda: (torch.randn(1, 16, 2, 2),)),
    "held_rope": (Rope, lambda: (torch.randint(0, 50, (1, 12)),)),
    "held_diffusion": (Diffusion, lambda: (torch.randn(1, 3, 16, 16), torch.rand(1))),
    "held_retrieval": (
        Retrieval,
        lambda: (torch.randn(6, 20), torch.randn(5, 16), torch.tensor([3, 0])),
    ),
}
