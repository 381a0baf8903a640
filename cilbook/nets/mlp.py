"""Fully connected networks."""

from __future__ import annotations

from collections.abc import Sequence

from torch import nn


def relu_layers(widths: Sequence[int]) -> list[nn.Module]:
    """Linear layers of these widths, a ReLU after each.

    >>> [type(layer).__name__ for layer in relu_layers([8, 4, 2])]
    ['Linear', 'ReLU', 'Linear', 'ReLU']
    """
    layers: list[nn.Module] = []
    for fan_in, fan_out in zip(widths[:-1], widths[1:], strict=True):
        layers += [nn.Linear(fan_in, fan_out), nn.ReLU()]
    return layers


def mlp(widths: Sequence[int]) -> nn.Sequential:
    """A ReLU network whose last layer is linear.

    >>> sum(p.numel() for p in mlp([784, 400, 400, 10]).parameters())
    478410
    """
    return nn.Sequential(*relu_layers(widths[:-1]), nn.Linear(widths[-2], widths[-1]))
