"""An output layer whose rows are stored class by class, out of reach of later tasks.

While a task is learned the network has a temporary output layer; afterwards the rows of the
task's classes are copied into the stored layer, and that one is put in place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor, nn

_ROWS = ("weight", "bias")


class ConsolidatedHead:
    """The stored rows of a network's output layer, at first all zero.

    >>> head = ConsolidatedHead(nn.Linear(1, 3))
    >>> head.start_zero([0, 1])
    >>> head.layer.bias.data = torch.tensor([2.0, 4.0, 9.0])  # what the task learned
    >>> head.store_centred(seen=[0, 1])
    >>> head.layer.bias.tolist()
    [-1.0, 1.0, 0.0]
    """

    def __init__(self, layer: nn.Linear):
        self.layer = layer
        self.weight = torch.zeros_like(layer.weight).detach()
        self.bias = torch.zeros_like(layer.bias).detach()
        self.current: list[int] = []  # the classes of the task at hand

    @torch.no_grad()
    def start_random(self, classes: Sequence[int], rng: np.random.Generator) -> None:
        """Begin a task with random rows for all classes, U(+-1/sqrt(fan_in))."""
        self.current = sorted(classes)
        bound = self.layer.in_features**-0.5
        for tensor in (self.layer.weight, self.layer.bias):
            values = rng.uniform(-bound, bound, tuple(tensor.shape))
            tensor.copy_(torch.from_numpy(values))

    @torch.no_grad()
    def start_zero(self, classes: Sequence[int]) -> None:
        """Begin a task with a layer of zeros."""
        self.current = sorted(classes)
        self.layer.weight.zero_()
        self.layer.bias.zero_()

    @torch.no_grad()
    def store(self) -> None:
        """End the task: copy the rows of its classes, and classify with all stored ones."""
        for name in _ROWS:
            getattr(self, name)[self.current] = getattr(self.layer, name)[self.current]
        self._put_in_place()

    @torch.no_grad()
    def store_centred(self, seen: Sequence[int]) -> None:
        """As `store`, less the mean over the rows of all classes seen, these among them."""
        self.store()
        for name in _ROWS:
            stored = getattr(self, name)
            stored[self.current] -= stored[seen].mean()
        self._put_in_place()

    def _put_in_place(self) -> None:
        self.layer.weight.copy_(self.weight)
        self.layer.bias.copy_(self.bias)

    def state_dict(self) -> dict[str, Tensor]:
        """The stored rows, and the classes at hand."""
        current = torch.tensor(self.current, dtype=torch.int64)
        return {name: getattr(self, name) for name in _ROWS} | {"current": current}

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Continue from what `state_dict` gave."""
        for name in _ROWS:
            setattr(self, name, state[name].to(self.layer.weight.device, copy=True))
        self.current = state["current"].tolist()
