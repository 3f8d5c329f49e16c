"""Small networks of the families that people deploy, randomly initialised: the audit's corpus."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Inverted(nn.Module):
    """MobileNetV2/V3 block: expand, depthwise, (squeeze-excite), project."""

    def __init__(self, channels: int, wide: int, act: type[nn.Module], excite: bool) -> None:
        super().__init__()
        self.expand = nn.Sequential(nn.Conv2d(channels, wide, 1, bias=False), nn.BatchNorm2d(wide), act())
        self.depth = nn.Sequential(
            nn.Conv2d(wide, wide, 3, padding=1, groups=wide, bias=False), nn.BatchNorm2d(wide), act()
        )
        self.excite = (
            nn.Sequential(
                nn.AdaptiveAvgPool2d(1),
                nn.Conv2d(wide, 8, 1),
                nn.ReLU(),
                nn.Conv2d(8, wide, 1),
                nn.Hardsigmoid(),
            )
            if excite
            else None
        )
        self.project = nn.Sequential(nn.Conv2d(wide, channels, 1, bias=False), nn.BatchNorm2d(channels))

    def forward(self, x: Tensor) -> Tensor:
        y = self.depth(self.expand(x))
        if self.excite is not None:
            y = y * self.excite(y)
        return x + self.project(y)


def mobilenet(act: type[nn.Module], excite: bool) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 16, 3, stride=2, padding=1), nn.BatchNorm2d(16), act(),
        Inverted(16, 48, act, excite), Inverted(16, 48, act, excite),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.2), nn.Linear(16, 10),
    )  # fmt: skip


class Residual(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.a = nn.Sequential(
            nn.Conv2d(channels, channels, 3, padding=1), nn.BatchNorm2d(channels), nn.ReLU()
        )
        self.b = nn.Sequential(nn.Conv2d(channels, channels, 3, padding=1), nn.BatchNorm2d(channels))

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(x + self.b(self.a(x)))


def resnet() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 16, 7, stride=2, padding=3), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(3, 2, 1),
        Residual(16), Residual(16), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10), nn.Softmax(-1),
    )  # fmt: skip


class UNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.down1 = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU())
        self.down2 = nn.Sequential(nn.MaxPool2d(2), nn.Conv2d(8, 16, 3, padding=1), nn.ReLU())
        self.up = nn.ConvTranspose2d(16, 8, 2, stride=2)
        self.out = nn.Conv2d(16, 2, 1)

    def forward(self, x: Tensor) -> Tensor:
        a = self.down1(x)
        return torch.sigmoid(self.out(torch.cat([self.up(self.down2(a)), a], 1)))


class YoloHead(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 16, 3, stride=4, padding=1), nn.SiLU())
        self.up = nn.Upsample(scale_factor=2, mode="nearest")
        self.box = nn.Conv2d(16, 8, 1)
        self.score = nn.Conv2d(16, 6, 1)

    def forward(self, x: Tensor) -> Tensor:
        y = self.up(self.stem(x))
        boxes = self.box(y).flatten(2).transpose(1, 2)
        scores = torch.sigmoid(self.score(y).flatten(2).transpose(1, 2))
        first, second = boxes.chunk(2, -1)
        return torch.cat([first - second, first + second, scores], -1)


class Attention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        q, k, v = (
            self.qkv(x)
            .view(batch, length, 3, self.heads, width // self.heads)
            .permute(2, 0, 3, 1, 4)
            .unbind(0)
        )
        scores = torch.softmax(q @ k.transpose(-2, -1) * (width // self.heads) ** -0.5, -1)
        return self.out((scores @ v).transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self, width: int, fused: bool) -> None:
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, 4)
        self.fused = fused
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x: Tensor) -> Tensor:
        y = self.n1(x)
        x = x + (F.scaled_dot_product_attention(y, y, y) if self.fused else self.attention(y))
        return x + self.mlp(self.n2(x))


class ViT(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.patch = nn.Conv2d(3, 32, 8, stride=8)
        self.position = nn.Parameter(torch.zeros(1, 16, 32))
        self.blocks = nn.Sequential(Block(32, False), Block(32, False))
        self.head = nn.Linear(32, 10)

    def forward(self, x: Tensor) -> Tensor:
        y = self.patch(x).flatten(2).transpose(1, 2) + self.position
        return self.head(self.blocks(y).mean(1))


class Bert(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(100, 32)
        self.blocks = nn.Sequential(Block(32, True), Block(32, False))
        self.pool = nn.Linear(32, 8)

    def forward(self, ids: Tensor) -> Tensor:
        return torch.tanh(self.pool(self.blocks(self.words(ids))[:, 0]))


class Lstm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.rnn = nn.LSTM(8, 16, batch_first=True)
        self.out = nn.Linear(16, 4)

    def forward(self, x: Tensor) -> Tensor:
        return self.out(self.rnn(x)[0][:, -1])


class Tcn(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Conv1d(8, 16, 3, padding=2, dilation=2)
        self.b = nn.Conv1d(16, 16, 3, padding=4, dilation=4)
        self.out = nn.Linear(16, 4)

    def forward(self, x: Tensor) -> Tensor:
        return self.out(F.leaky_relu(self.b(F.relu(self.a(x))), 0.1).mean(-1))


def super_resolution() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 16, 5, padding=2),
        nn.Tanh(),
        nn.Conv2d(16, 12, 3, padding=1),
        nn.PixelShuffle(2),
        nn.Sigmoid(),
    )


def gan() -> nn.Module:
    return nn.Sequential(
        nn.Linear(16, 4 * 4 * 16), nn.Unflatten(1, (16, 4, 4)), nn.BatchNorm2d(16), nn.ReLU(),
        nn.ConvTranspose2d(16, 8, 4, stride=2, padding=1), nn.BatchNorm2d(8), nn.ReLU(),
        nn.ConvTranspose2d(8, 3, 4, stride=2, padding=1), nn.Tanh(),
    )  # fmt: skip


class Odds(nn.Module):
    """One of each operator that is often refused somewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.prelu = nn.PReLU(8)
        self.norm = nn.GroupNorm(2, 8)
        self.instance = nn.InstanceNorm2d(8, affine=True)

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        y = self.prelu(self.conv(x))
        z = F.elu(self.norm(y)) + self.instance(y)
        up = F.interpolate(z, scale_factor=2.0, mode="bilinear", align_corners=True)
        down = F.avg_pool2d(z, 3, 2, 1) + F.avg_pool2d(z, 3, 2, 1, count_include_pad=False)
        pooled = F.max_pool2d(F.pad(z, (1, 1, 1, 1)), 3, 2, ceil_mode=True)
        flat = z.mean((2, 3))
        best, index = flat.max(-1)
        top = torch.topk(flat, 3)[0]
        powers = flat**2 + flat.abs().sqrt() + torch.exp(-flat.abs()) + flat.pow(3)
        chosen = torch.where(flat > 0, flat, flat.neg()) + flat.clamp(-1, 1) + torch.rsqrt(flat.abs() + 1)
        sine = (
            torch.sin(flat) * torch.cos(flat)
            + torch.log(flat.abs() + 1)
            + torch.floor(flat) / torch.ceil(flat + 2)
        )
        logs = torch.log_softmax(flat, -1) + torch.softmax(flat.unsqueeze(-1), 1).squeeze(-1)
        extremes = torch.maximum(flat, flat.sum(-1, keepdim=True)) + torch.minimum(
            flat, flat.amax(-1, keepdim=True)
        )
        return (
            up,
            down,
            pooled,
            best,
            index,
            top,
            powers,
            chosen,
            sine,
            logs,
            extremes,
            (flat @ flat.T),
            y[:, 1:5, ::2],
        )


ARCHITECTURES: dict[str, tuple[Callable[[], nn.Module], Callable[[], tuple[Tensor, ...]]]] = {
    "mobilenet_v2": (lambda: mobilenet(nn.ReLU6, False), lambda: (torch.randn(1, 3, 32, 32),)),
    "mobilenet_v3": (lambda: mobilenet(nn.Hardswish, True), lambda: (torch.randn(1, 3, 32, 32),)),
    "efficientnet_like": (lambda: mobilenet(nn.SiLU, True), lambda: (torch.randn(1, 3, 32, 32),)),
    "resnet": (resnet, lambda: (torch.randn(1, 3, 32, 32),)),
    "unet": (UNet, lambda: (torch.randn(1, 3, 32, 32),)),
    "yolo_like": (YoloHead, lambda: (torch.randn(1, 3, 32, 32),)),
    "vit": (ViT, lambda: (torch.randn(1, 3, 32, 32),)),
    "bert_like": (Bert, lambda: (torch.randint(0, 100, (1, 12)),)),
    "lstm": (Lstm, lambda: (torch.randn(1, 6, 8),)),
    "tcn": (Tcn, lambda: (torch.randn(1, 8, 20),)),
    "super_resolution": (super_resolution, lambda: (torch.randn(1, 3, 16, 16),)),
    "gan": (gan, lambda: (torch.randn(1, 16),)),
    "odds": (Odds, lambda: (torch.randn(1, 3, 15, 15),)),
}
