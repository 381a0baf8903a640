r"""What methods with generated replay share: copies of their networks, and weights.

    L = 1/t L_current + (1 - 1/t) L_replayed       in task t = 1, 2, ...

Every task weighs the same, and in the first there is nothing to replay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from cilbook.methods.trained import frozen
from cilbook.storage import named, part


class Past:
    """Networks as the last finished task left them, and the classes they knew then.

    >>> net = nn.Linear(2, 2)
    >>> past = Past({"net": net})
    >>> past.keep([0, 1])
    >>> past["net"].weight.requires_grad, past.tasks
    (False, 1)
    """

    def __init__(self, nets: Mapping[str, nn.Module]):
        self._nets = dict(nets)
        self._copies = {name: frozen(net) for name, net in nets.items()}
        self.classes: list[int] = []
        self.tasks = 0  # finished

    def __getitem__(self, name: str) -> nn.Module:
        return self._copies[name]

    def keep(self, classes: Sequence[int]) -> None:
        """A task is over: copy the networks; they know these classes."""
        self._copies = {name: frozen(net) for name, net in self._nets.items()}
        self.classes = list(classes)
        self.tasks += 1

    def balance(self, current: Tensor, replayed: Tensor | None) -> Tensor:
        """The weighted loss; `replayed` is None in the first task."""
        if replayed is None:
            return current
        share = 1 / (self.tasks + 1)
        return share * current + (1 - share) * replayed

    def state_dict(self) -> dict[str, Tensor]:
        """The copies, their classes and the number of tasks."""
        state = {"tasks": torch.tensor(self.tasks)}
        state["classes"] = torch.tensor(self.classes, dtype=torch.int64)
        for name, net in self._copies.items():
            state |= named(f"{name}.", net.state_dict())
        return state

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Continue from what `state_dict` gave."""
        for name, net in self._copies.items():
            net.load_state_dict(part(state, f"{name}."))
        self.classes, self.tasks = state["classes"].tolist(), state["tasks"].item()
