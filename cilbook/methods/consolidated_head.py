"""An output layer whose rows are stored class by class, out of reach of later tasks.

While a task is learned the network has a temporary output layer; afterwards the rows of the
task's classes are copied into the stored layer, and that one is put in place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor, nn

_STATE = ("weight", "bias")


class ConsolidatedHead:
    """The stored rows of a network's output layer, at first all zero."""

    def __init__(self, layer: nn.Linear):
        self.layer = layer
        self.weight = torch.zeros_like(layer.weight).detach()
        self.bias = torch.zeros_like(layer.bias).detach()

    @torch.no_grad()
    def randomise(self, rng: np.random.Generator) -> None:
        """Put a random temporary layer in place, U(+-1/sqrt(fan_in)), for all classes."""
        bound = self.layer.in_features**-0.5
        for tensor in (self.layer.weight, self.layer.bias):
            values = rng.uniform(-bound, bound, tuple(tensor.shape))
            tensor.copy_(torch.from_numpy(values))

    @torch.no_grad()
    def zero(self) -> None:
        """Put a temporary layer of zeros in place."""
        self.layer.weight.zero_()
        self.layer.bias.zero_()

    @torch.no_grad()
    def store(self, classes: Sequence[int]) -> None:
        """Copy the rows of these classes from the temporary layer."""
        for name in _STATE:
            getattr(self, name)[classes] = getattr(self.layer, name)[classes]

    @torch.no_grad()
    def shift(self, classes: Sequence[int], seen: Sequence[int]) -> None:
        """Subtract from these rows the mean over the stored rows of all classes seen."""
        for name in _STATE:
            stored = getattr(self, name)
            stored[classes] -= stored[seen].mean()

    @torch.no_grad()
    def put_in_place(self) -> None:
        """Let the network classify with the stored rows."""
        self.layer.weight.copy_(self.weight)
        self.layer.bias.copy_(self.bias)

    def state_dict(self) -> dict[str, Tensor]:
        """The stored rows."""
        return {name: getattr(self, name) for name in _STATE}

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Continue from what `state_dict` gave."""
        for name in _STATE:
            setattr(self, name, state[name].to(self.layer.weight.device, copy=True))
