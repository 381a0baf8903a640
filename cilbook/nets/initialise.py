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
    """The network on the CPU, weights drawn from `rng` by PyTorch's usual law.

    Weights and biases are uniform on +-1/sqrt(fan_in), which for all three layer kinds is
    the number of weights behind `weight[0]`; batch-norm starts at scale 1 and shift 0. A
    module with a law of its own has a method `initialise(rng)`, which comes last.
    """
    with torch.device("meta"):
        net = architecture()
    net.to_empty(device="cpu")
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
