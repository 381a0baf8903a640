"""The slim ResNet18 for 32 x 32 images, and its mirror image, which decodes.

A residual block adds what it computes to what it was given (He et al., 2016). "Slim": 20
channels where the original has 64 (Lopez-Paz and Ranzato, 2017).
"""

from __future__ import annotations

from torch import Tensor, nn

WIDTHS = (20, 40, 80, 160)  # channels of the four stages


class Block(nn.Module):
    """relu(path(x) + shortcut(x)), or the sum itself."""

    def __init__(self, path: nn.Module, shortcut: nn.Module, *, relu: bool = True):
        super().__init__()
        self.path, self.shortcut = path, shortcut
        self.activation = nn.ReLU() if relu else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        return self.activation(self.path(x) + self.shortcut(x))


def _basic_block(fan_in: int, fan_out: int, stride: int) -> Block:
    path = nn.Sequential(
        nn.Conv2d(fan_in, fan_out, 3, stride, padding=1, bias=False),
        nn.BatchNorm2d(fan_out),
        nn.ReLU(),
        nn.Conv2d(fan_out, fan_out, 3, padding=1, bias=False),
        nn.BatchNorm2d(fan_out),
    )
    if stride == 1 and fan_in == fan_out:
        return Block(path, nn.Identity())
    projection = nn.Conv2d(fan_in, fan_out, 1, stride, bias=False)
    return Block(path, nn.Sequential(projection, nn.BatchNorm2d(fan_out)))


def slim_resnet_layers() -> list[nn.Module]:
    """Stem and four stages of two blocks: [n, 3, 32, 32] to [n, 160, 4, 4]."""
    width = WIDTHS[0]
    layers = [nn.Conv2d(3, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU()]
    for fan_out in WIDTHS:
        layers += [_basic_block(width, fan_out, stride=1 if fan_out == WIDTHS[0] else 2)]
        layers += [_basic_block(fan_out, fan_out, stride=1)]
        width = fan_out
    return layers


def slim_resnet18(classes: int) -> nn.Sequential:
    """The classifier; its last layer is the softmax layer's logits.

    >>> sum(p.numel() for p in slim_resnet18(10).parameters())
    1094770
    """
    pool = [nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    head = nn.Linear(WIDTHS[-1], classes)
    return nn.Sequential(*slim_resnet_layers(), *pool, head)


def _mirror_block(fan_in: int, fan_out: int, stride: int, *, last: bool) -> Block:
    """A block of transposed convolutions; in the last stage biases, and no batch-norm."""

    def deconv(fan_in: int, kernel: int, stride: int = 1, **padding: int) -> list:
        layer = nn.ConvTranspose2d(fan_in, fan_out, kernel, stride, bias=last, **padding)
        return [layer] if last else [layer, nn.BatchNorm2d(fan_out)]

    first = deconv(fan_in, 3 if stride == 1 else 4, stride, padding=1)
    path = nn.Sequential(*first, nn.ReLU(), *deconv(fan_out, 3, padding=1))
    shortcut: nn.Module = nn.Identity()
    if stride != 1 or fan_in != fan_out:
        shortcut = nn.Sequential(*deconv(fan_in, 1, stride, output_padding=stride - 1))
    closes_the_net = last and fan_in == fan_out
    return Block(path, shortcut, relu=not closes_the_net)


def slim_resnet_mirror_layers() -> list[nn.Module]:
    """Five stages of two blocks: [n, 160, 4, 4] to [n, 3, 32, 32], the output linear."""
    layers: list[nn.Module] = []
    width = WIDTHS[-1]
    for fan_out, stride in ((80, 2), (40, 2), (20, 2), (20, 1), (3, 1)):
        last = fan_out == 3
        layers += [_mirror_block(width, fan_out, stride, last=last)]
        layers += [_mirror_block(fan_out, fan_out, 1, last=last)]
        width = fan_out
    return layers
