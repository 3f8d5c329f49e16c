"""The sample model: a small MobileNetV2-style classifier of hand-written digits, 32×32 grey.

`build()` is the factory that the sample project names; it needs nothing but torch. Input
`[N, 1, 32, 32]`, grey values 0..1 standardised by the project's preprocessing; output `[N, 10]`, one
score per digit. Block: Sandler et al., MobileNetV2 (arXiv 1801.04381), figure 4d.
"""

import torch
from torch import nn


def conv_bn(inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1) -> list[nn.Module]:
    """A convolution without bias, followed by its batch normalisation."""
    padding = kernel // 2
    return [
        nn.Conv2d(inputs, outputs, kernel, stride, padding, groups=groups, bias=False),
        nn.BatchNorm2d(outputs),
    ]


class InvertedResidual(nn.Module):
    """1×1 widen, 3×3 depthwise, 1×1 narrow; added to its input where the shapes agree."""

    def __init__(self, inputs: int, outputs: int, stride: int, widen: int) -> None:
        super().__init__()
        hidden = inputs * widen
        self.is_residual = stride == 1 and inputs == outputs
        self.layers = nn.Sequential(
            *conv_bn(inputs, hidden, 1),
            nn.ReLU6(),
            *conv_bn(hidden, hidden, 3, stride, groups=hidden),
            nn.ReLU6(),
            *conv_bn(hidden, outputs, 1),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        made = self.layers(x)
        return x + made if self.is_residual else made


class MobileNetDigits(nn.Module):
    """Stem, seven inverted residuals, head; about 400,000 parameters, 17 million MACs."""

    def __init__(self, classes: int = 10) -> None:
        super().__init__()
        self.stem = nn.Sequential(*conv_bn(1, 24, 3), nn.ReLU6())
        self.blocks = nn.Sequential(
            InvertedResidual(24, 32, 2, 4),
            InvertedResidual(32, 32, 1, 4),
            InvertedResidual(32, 56, 2, 4),
            InvertedResidual(56, 56, 1, 5),
            InvertedResidual(56, 56, 1, 5),
            InvertedResidual(56, 120, 2, 5),
            InvertedResidual(120, 120, 1, 6),
        )
        self.head = nn.Sequential(*conv_bn(120, 480, 1), nn.ReLU6())
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(480, classes))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        features = self.head(self.blocks(self.stem(x)))
        return self.classifier(torch.flatten(self.pool(features), 1))


def build() -> nn.Module:
    """The untrained network; the project's weights file fills it."""
    return MobileNetDigits()
