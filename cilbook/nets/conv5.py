"""Five convolutional layers: 32 x 32 images in colour to 1024 features.

Layers 1 to 4 are convolution, batch-norm, ReLU; the fifth is a convolution alone, so the
features are signed. All but the first halve the size. The names of the weights are those of
the published checkpoint `C3-5x16-bn-s100N`, which loads as it is.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence

import numpy as np
from torch import Tensor, nn

from cilbook.nets.mlp import mlp

CHANNELS = (3, 16, 32, 64, 128, 256)
FEATURES = 256 * 2 * 2
PARAMETERS = 393_088


class Pretrained(nn.Sequential):
    """Layers that start from given weights, whatever the rest of a network starts from."""

    start: Mapping[str, Tensor] | None = None

    def initialise(self, rng: np.random.Generator) -> None:
        """Take the given weights, if there are any."""
        if self.start is not None:
            self.load_state_dict(self.start)
            self.start = None  # copies of the network need not carry it along


def conv5(start: Mapping[str, Tensor] | None = None) -> Pretrained:
    """[n, 3, 32, 32] to [n, 1024], channel by channel; `start` holds trained weights.

    >>> sum(p.numel() for p in conv5().parameters()) == PARAMETERS
    True
    """
    layers = OrderedDict()
    for i in range(1, len(CHANNELS)):
        fan_in, fan_out = CHANNELS[i - 1 : i + 1]
        stride = 1 if i == 1 else 2
        layer = OrderedDict(conv=nn.Conv2d(fan_in, fan_out, 3, stride, padding=1))
        if fan_out != CHANNELS[-1]:
            layer |= {"bn": nn.BatchNorm2d(fan_out), "relu": nn.ReLU()}
        layers[f"convLayer{i}"] = nn.Sequential(layer)
    net = Pretrained(layers | {"flatten": nn.Flatten()})
    net.start = start
    return net


def conv5_mlp(
    hidden: Sequence[int], classes: int, start: Mapping[str, Tensor] | None = None
) -> nn.Sequential:
    """The five layers, here free to learn, under a fully connected classifier.

    >>> sum(p.numel() for p in conv5_mlp([2000, 2000], 100).parameters())
    6645188
    """
    return nn.Sequential(conv5(start), *mlp([FEATURES, *hidden, classes]))
