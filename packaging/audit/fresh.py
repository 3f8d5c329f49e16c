"""A second set of networks that no rule was corrected on, written after the first held-out set was used."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class RepVgg(nn.Module):
    """RepVGG while training: a 3 × 3, a 1 × 1 and an identity branch, each with its own norm, summed."""

    def __init__(self, width: int = 12) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, width, 3, 2, 1, bias=False), nn.BatchNorm2d(width))
        self.wide = nn.Sequential(nn.Conv2d(width, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width))
        self.small = nn.Sequential(nn.Conv2d(width, width, 1, bias=False), nn.BatchNorm2d(width))
        self.same = nn.BatchNorm2d(width)
        self.head = nn.Linear(width, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = F.relu(self.stem(x))
        x = F.relu(self.wide(x) + self.small(x) + self.same(x))
        return self.head(F.adaptive_avg_pool2d(x, 1).flatten(1))


class SeResNext(nn.Module):
    """Grouped bottlenecks with squeeze-excite by linear layers, a pooled shortcut and a max-mean head."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 3, 2, 1)
        self.reduce, self.grow = nn.Conv2d(16, 16, 1), nn.Conv2d(16, 32, 1)
        self.grouped = nn.Conv2d(16, 16, 3, 2, 1, groups=4)
        self.fc1, self.fc2 = nn.Linear(32, 8), nn.Linear(8, 32)
        self.short = nn.Sequential(nn.AvgPool2d(2, 2, ceil_mode=True), nn.Conv2d(16, 32, 1))
        self.norm = nn.BatchNorm2d(32)

    def forward(self, x: Tensor) -> Tensor:
        x = F.relu(self.stem(x))
        y = self.norm(self.grow(F.relu(self.grouped(F.relu(self.reduce(x))))))
        gate = torch.sigmoid(self.fc2(F.relu(self.fc1(y.mean((2, 3))))))
        y = F.relu(y * gate.unsqueeze(-1).unsqueeze(-1) + self.short(x))
        return torch.cat((y.amax((2, 3)), y.mean((2, 3))), 1)


class Depth(nn.Module):
    """A depth decoder: reassembled features, bilinear with aligned corners, a disparity that is inverted."""

    def __init__(self) -> None:
        super().__init__()
        self.e1, self.e2 = nn.Conv2d(3, 8, 3, 2, 1), nn.Conv2d(8, 16, 3, 2, 1)
        self.e3 = nn.Conv2d(16, 16, 3, 2, 1)
        self.fuse2, self.fuse1 = nn.Conv2d(16, 8, 3, padding=1), nn.Conv2d(8, 8, 3, padding=1)
        self.head = nn.Conv2d(8, 1, 1)

    def forward(self, x: Tensor) -> Tensor:
        a = F.elu(self.e1(x))
        b = F.elu(self.e2(a))
        c = F.elu(self.e3(b))
        y = F.interpolate(c, scale_factor=2, mode="bilinear", align_corners=True) + b
        y = F.interpolate(self.fuse2(F.relu(y)), size=a.shape[-2:], mode="bilinear", align_corners=True) + a
        y = F.interpolate(self.fuse1(y), scale_factor=2, mode="bilinear", align_corners=True)
        disparity = F.pad(self.head(y), (1, 1, 1, 1), mode="replicate")[:, :, 1:-1, 1:-1].sigmoid()
        return 1.0 / (0.01 + 9.99 * disparity)


class Conformer(nn.Module):
    """Half-step feed-forwards, attention, GLU and a depthwise 1-D convolution with a norm."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(5))
        self.ff1 = nn.Sequential(nn.Linear(width, 32), nn.SiLU(), nn.Linear(32, width))
        self.ff2 = nn.Sequential(nn.Linear(width, 32), nn.SiLU(), nn.Linear(32, width))
        self.attention = nn.MultiheadAttention(width, 4, batch_first=True)
        self.point1, self.point2 = nn.Conv1d(width, 2 * width, 1), nn.Conv1d(width, width, 1)
        self.depth = nn.Conv1d(width, width, 7, padding=3, groups=width)
        self.norm = nn.BatchNorm1d(width)
        self.sub = nn.Conv2d(1, 4, 3, 2)
        self.into = nn.Linear(4 * 9, width)

    def forward(self, x: Tensor) -> Tensor:
        y = F.relu(self.sub(x.unsqueeze(1)))
        n, c, t, f = y.shape
        x = self.into(y.transpose(1, 2).reshape(n, t, c * f))
        x = x + 0.5 * self.ff1(self.norms[0](x))
        y = self.norms[1](x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        y = F.glu(self.point1(self.norms[2](x).transpose(1, 2)), 1)
        x = x + self.point2(F.silu(self.norm(self.depth(y)))).transpose(1, 2)
        x = x + 0.5 * self.ff2(self.norms[3](x))
        return F.log_softmax(self.norms[4](x), -1)


class Detr(nn.Module):
    """Learned queries that attend to an image, boxes by sigmoid, classes by softmax, top scores."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, width, 8, 8)
        self.queries = nn.Parameter(torch.randn(1, 6, width))
        self.row, self.column = nn.Parameter(torch.rand(4, 8)), nn.Parameter(torch.rand(4, 8))
        layer = nn.TransformerDecoderLayer(width, 2, 32, 0.0, batch_first=True)
        self.decoder = nn.TransformerDecoder(layer, 1)
        self.box = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 4))
        self.score = nn.Linear(width, 5)

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        y = self.stem(x)
        h, w = y.shape[-2:]
        place = torch.cat(
            (self.column[:w].unsqueeze(0).repeat(h, 1, 1), self.row[:h].unsqueeze(1).repeat(1, w, 1)), -1
        )
        y = y.flatten(2).permute(0, 2, 1) + place.flatten(0, 1).unsqueeze(0)
        found = self.decoder(self.queries, y)
        centre, size = self.box(found).sigmoid().split(2, -1)
        best, label = self.score(found).softmax(-1)[..., :-1].max(-1)
        return torch.cat((centre - 0.5 * size, centre + 0.5 * size), -1), *best.topk(3), label


class Crnn(nn.Module):
    """A text recogniser: asymmetric pools, columns to a sequence, a bidirectional LSTM."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Conv2d(1, 8, 3, padding=1), nn.Conv2d(8, 8, 3, padding=1)
        self.rnn = nn.LSTM(8, 12, bidirectional=True)
        self.out = nn.Linear(24, 11)

    def forward(self, x: Tensor) -> Tensor:
        y = F.max_pool2d(F.leaky_relu(self.a(x), 0.01), 2)
        y = F.max_pool2d(F.leaky_relu(self.b(y), 0.01), (4, 1), (4, 1))
        y = self.rnn(y.squeeze(2).permute(2, 0, 1))[0]
        return self.out(y).softmax(2)


class Tcn(nn.Module):
    """Causal residual blocks with layer norm over channels, a GRU cell's gate and a strided encoder."""

    def __init__(self) -> None:
        super().__init__()
        self.encode = nn.Conv1d(1, 12, 8, 4)
        self.norm = nn.GroupNorm(1, 12)
        self.a, self.b = nn.Conv1d(12, 12, 3, dilation=2, groups=12), nn.Conv1d(12, 12, 1)
        self.act = nn.PReLU()
        self.rnn = nn.GRU(12, 12, batch_first=True)
        self.decode = nn.ConvTranspose1d(12, 1, 8, 4)

    def forward(self, x: Tensor) -> Tensor:
        y = F.relu(self.encode(x))
        z = self.b(self.act(self.a(F.pad(self.norm(y), (4, 0)))))
        mask = torch.sigmoid(self.rnn((y + z).transpose(1, 2))[0].transpose(1, 2))
        return self.decode(y * mask)


class Ghost(nn.Module):
    """Ghost modules, a parameter-free attention, coordinate attention and hard activations."""

    def __init__(self) -> None:
        super().__init__()
        self.primary, self.cheap = nn.Conv2d(3, 8, 1), nn.Conv2d(8, 8, 3, padding=1, groups=8)
        self.squeeze = nn.Conv2d(16, 4, 1)
        self.rows, self.columns = nn.Conv2d(4, 16, 1), nn.Conv2d(4, 16, 1)
        self.down = nn.Conv2d(16, 16, 5, 2, 2, groups=16)

    def forward(self, x: Tensor) -> Tensor:
        y = F.relu6(self.primary(x))
        y = torch.cat((y, F.relu6(self.cheap(y))), 1)
        _, _, h, w = y.shape
        both = torch.cat((y.mean(3, keepdim=True), y.mean(2, keepdim=True).permute(0, 1, 3, 2)), 2)
        rows, columns = F.hardswish(self.squeeze(both)).split([h, w], 2)
        y = y * self.rows(rows).sigmoid() * self.columns(columns.permute(0, 1, 3, 2)).sigmoid()
        centred = (y - y.mean((2, 3), keepdim=True)).pow(2)
        energy = centred / (4 * (centred.sum((2, 3), keepdim=True) / (h * w - 1) + 1e-4)) + 0.5
        return F.hardtanh(self.down(y * energy.sigmoid()), -2, 2)


class NafNet(nn.Module):
    """Image restoration: channel-wise LayerNorm, halves that gate each other, pixel shuffle."""

    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.first, self.last = nn.Conv2d(3, width, 3, padding=1), nn.Conv2d(width, 3 * 4, 3, padding=1)
        self.weight, self.bias = nn.Parameter(torch.ones(width)), nn.Parameter(torch.zeros(width))
        self.grow, self.shrink = nn.Conv2d(width, 2 * width, 1), nn.Conv2d(width, width, 1)
        self.depth = nn.Conv2d(2 * width, 2 * width, 3, padding=1, groups=2 * width)
        self.attend = nn.Conv2d(width, width, 1)

    def norm(self, x: Tensor) -> Tensor:
        mean = x.mean(1, keepdim=True)
        spread = (x - mean).pow(2).mean(1, keepdim=True)
        return self.weight.view(1, -1, 1, 1) * (x - mean) / (spread + 1e-6).sqrt() + self.bias.view(
            1, -1, 1, 1
        )

    def forward(self, x: Tensor) -> Tensor:
        y = self.first(x)
        a, b = self.depth(self.grow(self.norm(y))).chunk(2, 1)
        z = a * b
        y = y + self.shrink(z * self.attend(F.adaptive_avg_pool2d(z, 1)))
        return F.pixel_shuffle(self.last(y), 2) + F.interpolate(x, scale_factor=2, mode="bicubic")


class PointNet(nn.Module):
    """Points: shared 1-D convolutions, a learned 3 × 3 transform, a maximum over the points."""

    def __init__(self) -> None:
        super().__init__()
        self.t1, self.t2 = nn.Conv1d(3, 16, 1), nn.Linear(16, 9)
        self.a, self.b = nn.Conv1d(3, 16, 1), nn.Conv1d(16, 24, 1)
        self.na, self.nb = nn.BatchNorm1d(16), nn.BatchNorm1d(24)
        self.head = nn.Sequential(nn.Linear(24, 12), nn.BatchNorm1d(12), nn.ReLU(), nn.Linear(12, 5))
        self.register_buffer("eye", torch.eye(3).view(1, 9))

    def forward(self, x: Tensor) -> Tensor:
        turn = self.t2(F.relu(self.t1(x)).max(2)[0]) + self.eye
        x = torch.bmm(x.transpose(1, 2), turn.view(-1, 3, 3)).transpose(1, 2)
        y = self.nb(self.b(F.relu(self.na(self.a(x)))))
        return self.head(torch.max(y, 2, keepdim=True)[0].view(-1, 24))


class Mixer(nn.Module):
    """MLP-Mixer: one linear over tokens, one over channels."""

    def __init__(self) -> None:
        super().__init__()
        self.patch = nn.Conv2d(3, 16, 8, 8)
        self.n1, self.n2 = nn.LayerNorm(16), nn.LayerNorm(16, elementwise_affine=False)
        self.tokens = nn.Sequential(nn.Linear(16, 8), nn.GELU("tanh"), nn.Linear(8, 16))
        self.channels = nn.Sequential(nn.Linear(16, 32), nn.Mish(), nn.Linear(32, 16))

    def forward(self, x: Tensor) -> Tensor:
        x = self.patch(x).flatten(2).mT
        x = x + self.tokens(self.n1(x).mT).mT
        x = x + self.channels(self.n2(x))
        return x.std(1) / math.sqrt(2)


class Whisper(nn.Module):
    """An encoder of sound and a decoder step with a cache: two 1-D strides, cross attention, tied words."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.c1, self.c2 = nn.Conv1d(8, width, 3, padding=1), nn.Conv1d(width, width, 3, 2, 1)
        self.register_buffer("place", torch.rand(10, width))
        self.q, self.k, self.v = (nn.Linear(width, width, b) for b in (True, False, True))
        self.out, self.norm = nn.Linear(width, width), nn.LayerNorm(width)
        self.words = nn.Embedding(20, width)

    def forward(self, sound: Tensor, ids: Tensor, past: Tensor) -> tuple[Tensor, Tensor]:
        y = F.gelu(self.c2(F.gelu(self.c1(sound)))).permute(0, 2, 1) + self.place
        x = torch.cat((past, self.words(ids)), 1)
        n, t, c = x.shape
        q, k, v = (
            f(z).view(n, -1, 2, c // 2).transpose(1, 2) for f, z in ((self.q, x), (self.k, y), (self.v, y))
        )
        z = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(n, t, c)
        x = self.norm(x + self.out(z))
        return F.linear(x, self.words.weight), x


class Pan(nn.Module):
    """A feature pyramid both ways: nearest upsampling, strided downsampling, weighted fusion, anchors."""

    def __init__(self) -> None:
        super().__init__()
        self.c1, self.c2 = nn.Conv2d(3, 8, 3, 2, 1), nn.Conv2d(8, 8, 3, 2, 1)
        self.lateral, self.down = nn.Conv2d(8, 8, 1), nn.Conv2d(8, 8, 3, 2, 1)
        self.weights = nn.Parameter(torch.ones(2))
        self.head = nn.Conv2d(8, 2 * 7, 1)
        self.register_buffer("anchors", torch.tensor([[1.0, 2.0], [3.0, 1.0]]).view(1, 2, 1, 1, 2))

    def forward(self, x: Tensor) -> Tensor:
        a = F.mish(self.c1(x))
        b = F.mish(self.c2(a))
        w = F.relu(self.weights)
        w = w / (w.sum() + 1e-4)
        top = w[0] * a + w[1] * F.interpolate(self.lateral(b), scale_factor=2.0, mode="nearest")
        y = self.head(self.down(top) + b)
        n, _, h, width = y.shape
        y = y.view(n, 2, 7, h, width).permute(0, 1, 3, 4, 2).contiguous()
        rows, columns = torch.meshgrid(torch.arange(h), torch.arange(width), indexing="ij")
        grid = torch.stack((columns, rows), 2).view(1, 1, h, width, 2).float()
        places = (y[..., 0:2].sigmoid() * 2 - 0.5 + grid) * 4
        sizes = (y[..., 2:4].sigmoid() * 2) ** 2 * self.anchors
        return torch.cat((places, sizes, y[..., 4:].sigmoid()), -1).view(n, -1, 7)


def _image(size: int = 32) -> Callable[[], tuple[Tensor, ...]]:
    return lambda: (torch.randn(1, 3, size, size),)


ARCHITECTURES: dict[str, tuple[Callable[[], nn.Module], Callable[[], tuple[Tensor, ...]]]] = {
    "fresh_repvgg": (RepVgg, _image()),
    "fresh_se_resnext": (SeResNext, _image()),
    "fresh_depth": (Depth, _image()),
    "fresh_conformer": (Conformer, lambda: (torch.randn(1, 21, 20),)),
    "fresh_detr": (Detr, _image()),
    "fresh_crnn": (Crnn, lambda: (torch.randn(1, 1, 8, 24),)),
    "fresh_tcn": (Tcn, lambda: (torch.randn(1, 1, 64),)),
    "fresh_ghost": (Ghost, _image(16)),
    "fresh_nafnet": (NafNet, _image(16)),
    "fresh_pointnet": (PointNet, lambda: (torch.randn(1, 3, 32),)),
    "fresh_mixer": (Mixer, _image()),
    "fresh_whisper": (
        Whisper,
        lambda: (torch.randn(1, 8, 20), torch.randint(0, 20, (1, 1)), torch.randn(1, 3, 16)),
    ),
    "fresh_pan": (Pan, _image()),
}
