r"""None: keep training one network, do nothing against forgetting.

    L = - mean_i log softmax(f(x_i))_{y_i},   softmax over the classes met so far.

The lower bound of every comparison. Joint, the upper bound, is the same learner given all
classes as one task.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from cilbook.benchmarks.spec import Spec
from cilbook.methods.base import Learner, Settings
from cilbook.nets.initialise import build
from cilbook.random import stream

_ROWS = 500  # scored at once


@dataclass(frozen=True)
class NetworkSettings(Settings):
    """Settings of a network trained by Adam."""

    learning_rate: float = 1e-3
    batch: int = 32


class FineTuning(Learner):
    """A softmax network with an expanding head, trained on whatever comes."""

    title = "None"
    settings_type = NetworkSettings
    needs_boundaries = False

    def __init__(
        self,
        spec: Spec,
        settings: NetworkSettings,
        seed: int,
        device: torch.device | str,
    ):
        super().__init__(spec, settings, seed, device)
        self.net = build(spec.classifier, stream(seed, "classifier")).to(self.device)
        self.adam = torch.optim.Adam(
            self.net.parameters(), lr=settings.learning_rate, fused=True
        )
        self.active: list[int] = []

    def start_task(self, classes: Sequence[int]) -> None:
        """The head expands by the task's classes."""
        self._activate(classes)

    def _activate(self, classes: Sequence[int]) -> None:
        self.active = sorted({*self.active, *classes})

    def observe(self, x: Tensor, y: Tensor) -> None:
        """One Adam step on the loss."""
        self._activate(y.tolist())
        self.train_mode()
        self.step(self.loss(x, y))

    def train_mode(self) -> None:
        """Prepare the network's layers for a step."""
        self.net.train()

    def step(self, loss: Tensor) -> None:
        """One Adam step; the gradients stay where they are until the next one."""
        self.adam.zero_grad()
        loss.backward()
        self.adam.step()

    def loss(self, x: Tensor, y: Tensor) -> Tensor:
        """Cross-entropy over the active classes."""
        active = torch.tensor(self.active, device=x.device)
        return F.cross_entropy(self.net(x)[:, active], torch.searchsorted(active, y))

    @torch.no_grad()
    def scores(self, x: Tensor) -> Tensor:
        """The logits of all classes, computed in blocks of rows."""
        net = self.net.eval()
        return torch.cat([net(rows) for rows in x.split(_ROWS)])

    @property
    def trainable(self) -> int:
        """Weights of the network."""
        return sum(p.numel() for p in self.net.parameters())

    def state_dict(self) -> dict[str, Tensor]:
        """The network, Adam's moments, and the classes met."""
        state = {f"net.{k}": v for k, v in self.net.state_dict().items()}
        for i, moments in self.adam.state_dict()["state"].items():
            state |= {f"adam.{i}.{k}": v for k, v in moments.items()}
        state["active"] = torch.tensor(self.active, dtype=torch.int64)
        return state

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Continue from what `state_dict` gave."""
        net = {k[4:]: v for k, v in state.items() if k.startswith("net.")}
        self.net.load_state_dict(net)
        moments: dict[int, dict[str, Tensor]] = {}
        for key, value in state.items():
            if key.startswith("adam."):
                _, i, name = key.split(".")
                moments.setdefault(int(i), {})[name] = value
        groups = self.adam.state_dict()["param_groups"]
        self.adam.load_state_dict({"state": moments, "param_groups": groups})
        self.active = state["active"].tolist()


class Joint(FineTuning):
    """The same network trained on all classes at once: the upper bound."""

    title = "Joint"
    one_task = True
