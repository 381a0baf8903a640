"""Building a network without the global random generator."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
import torch
from torch import nn

Net = TypeVar("Net", bound=nn.Module)
_WEIGHTED = (nn.Linear, nn.Conv2d, nn.ConvTranspose2d)


def build(architecture: Callable[[], Net], rng: np.random.Generator) -> Net:
    """The network on the CPU, its weights those of `fill`."""
    with torch.device("meta"):
        net = architecture()
    return fill(net.to_empty(device="cpu"), rng)


def fill(net: Net, rng: np.random.Generator) -> Net:
    """Draw the weights of a network anew, from `rng` by PyTorch's usual law; the network.

    Weights and biases are uniform on +-1/sqrt(fan_in), which for all three layer kinds is
    the number of weights behind `weight[0]`; batch-norm starts at scale 1 and shift 0. A
    module with a law of its own has a method `initialise(rng)`, which comes last.

    >>> one, other = (fill(nn.Linear(4, 2), np.random.default_rng(0)) for _ in range(2))
    >>> torch.equal(one.weight, other.weight), bool(one.weight.abs().max() < 0.5)
    (True, True)
    """
    for layer in net.modules():
        if isinstance(layer, _WEIGHTED):
            bound = layer.weight[0].numel() ** -0.5
            _fill_uniform(layer.weight, bound, rng)
            if layer.bias is not None:
                _fill_uniform(layer.bias, bound, rng)
        elif isinstance(layer, nn.BatchNorm2d):
            layer.reset_parameters()
    for layer in net.modules():
        if hasattr(layer, "initialise"):
            layer.initialise(rng)
    return net


def _fill_uniform(parameter: nn.Parameter, bound: float, rng: np.random.Generator):
    values = rng.uniform(-bound, bound, tuple(parameter.shape)).astype(np.float32)
    parameter.data.copy_(torch.from_numpy(values))
