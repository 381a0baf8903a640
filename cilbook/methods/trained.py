"""A network and its Adam, which keeps its moments for as long as the network lives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Generic, TypeVar

import torch
from torch import Tensor, nn

from cilbook.storage import named, part

Net = TypeVar("Net", bound=nn.Module)
_ROWS = 500


class Trained(Generic[Net]):
    """A network that takes Adam steps; its state holds weights, buffers and moments.

    >>> student = Trained(nn.Linear(2, 1), learning_rate=0.1)
    >>> student.step(student.net(torch.ones(1, 2)).sum())
    >>> sorted(student.state_dict())[:2]
    ['adam.0.exp_avg', 'adam.0.exp_avg_sq']
    """

    def __init__(self, net: Net, learning_rate: float):
        self.net = net
        self.adam = torch.optim.Adam(net.parameters(), lr=learning_rate, fused=True)
        self.steps = 0

    def step(self, loss: Tensor) -> None:
        """One Adam step; the gradients stay where they are until the next one."""
        self.adam.zero_grad()
        loss.backward()
        self.adam.step()
        self.steps += 1

    @property
    def size(self) -> int:
        """How many weights it has."""
        return sum(p.numel() for p in self.net.parameters())

    def state_dict(self) -> dict[str, Tensor]:
        """The network, Adam's moments, and the number of steps."""
        state = named("net.", self.net.state_dict())
        for i, moments in self.adam.state_dict()["state"].items():
            state |= named(f"adam.{i}.", moments)
        return state | {"steps": torch.tensor(self.steps)}

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Continue from what `state_dict` gave; other names are passed over."""
        self.net.load_state_dict(part(state, "net."))
        moments: dict[int, dict[str, Tensor]] = {}
        for key, value in part(state, "adam.").items():
            i, name = key.split(".")
            moments.setdefault(int(i), {})[name] = value
        groups = self.adam.state_dict()["param_groups"]
        self.adam.load_state_dict({"state": moments, "param_groups": groups})
        self.steps = state["steps"].item()


@torch.no_grad()
def in_blocks(function: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """The function's values, computed some rows at a time: memory does not grow.

    >>> in_blocks(lambda rows: rows.sum(1), torch.ones(1200, 3)).shape
    torch.Size([1200])
    """
    return torch.cat([function(rows) for rows in x.split(_ROWS)])


def frozen(net: Net) -> Net:
    """A copy as it is now, in eval mode, that never learns again.

    >>> net = nn.Linear(1, 1)
    >>> copy, before = frozen(net), net.weight.item()
    >>> net.weight.data += 1
    >>> copy.weight.item() == before, copy.weight.requires_grad, copy.training
    (True, False, False)
    """
    return deepcopy(net).requires_grad_(False).eval()
