r"""Elastic weight consolidation (Kirkpatrick et al., 2017), one quadratic term per task.

    L = CE + lambda/2 sum_{k<t} sum_i F_i^(k) (theta_i - theta_i^(k))^2

The Fisher information F^(k) says how much the predictions depend on each weight
(`fisher.py`); it is estimated after each task from 1000 of its samples, in eval mode.

A sum of parabolas is a parabola: with A = sum_k F^(k) and m = sum_k F^(k) theta^(k) / A,

    sum_k F^(k) (theta - theta^(k))^2 = A (theta - m)^2 + constant,

so neither memory nor time grows with the number of tasks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.utils import parameters_to_vector

from cilbook.benchmarks.spec import Images
from cilbook.methods.fisher import diagonal_fisher
from cilbook.methods.none import FineTuning, NetworkSettings
from cilbook.random import stream

_STATE = ("curvature", "anchor", "constant", "tasks")


@dataclass(frozen=True)
class EWCSettings(NetworkSettings):
    """Settings of EWC."""

    strength: float = 1e4  # lambda
    fisher_samples: int = 1000  # of the finished task


class EWC(FineTuning):
    """A network whose important weights are held where the tasks left them.

    A term with F = 1 around 0 and one with F = 3 around 1 pull like one with 4 around 3/4:

    >>> from cilbook.benchmarks import BENCHMARKS
    >>> student = EWC(BENCHMARKS["digits"], EWCSettings(), 0, "cpu")
    >>> one = torch.ones_like(student.anchor)
    >>> student.add_term(fisher=one, theta=0 * one)
    >>> student.add_term(fisher=3 * one, theta=one)
    >>> student.curvature[0].item(), student.anchor[0].item()
    (4.0, 0.75)
    """

    title = "EWC"
    settings_type = EWCSettings
    needs_boundaries = True
    why_boundaries = "at a boundary it estimates the Fisher information of the task"
    looks_again = True

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.anchor = parameters_to_vector(self.net.parameters()).detach().clone()  # m
        self.curvature = torch.zeros_like(self.anchor)  # A
        self.constant = self.anchor.new_zeros(())
        self.tasks = torch.tensor(0)  # finished

    def loss(self, x: Tensor, y: Tensor) -> Tensor:
        """Cross-entropy and the pull towards the anchors."""
        return super().loss(x, y) + self.settings.strength * self.penalty()

    def penalty(self) -> Tensor:
        """1/2 sum_k sum_i F_i (theta_i - theta_i^(k))^2."""
        theta = parameters_to_vector(self.net.parameters())
        return ((self.curvature * (theta - self.anchor).square()).sum() + self.constant) / 2

    def end_task(self, data: Images) -> None:
        """Look at the task's data once more, for the Fisher information."""
        rng = stream(self.seed, "fisher", int(self.tasks))
        chosen = rng.permutation(len(data))[: self.settings.fisher_samples]
        x, _ = data.batch(torch.from_numpy(chosen).to(self.device))
        fisher = parameters_to_vector(diagonal_fisher(self.net, x, self.active))
        self.add_term(fisher, parameters_to_vector(self.net.parameters()).detach())
        self.tasks += 1

    def add_term(self, fisher: Tensor, theta: Tensor) -> None:
        """Add F (theta - theta_k)^2 to the parabola: a new curvature, and a new anchor."""
        curvature = self.curvature + fisher
        share = torch.where(curvature > 0, fisher / curvature, 1.0)
        move = theta - self.anchor
        self.constant = self.constant + (self.curvature * share * move.square()).sum()
        self.anchor = self.anchor + share * move
        self.curvature = curvature

    def state_dict(self) -> dict[str, Tensor]:
        """The network and the parabola."""
        return super().state_dict() | {name: getattr(self, name) for name in _STATE}

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Continue from what `state_dict` gave."""
        super().load_state_dict(state)
        for name in _STATE:
            own = getattr(self, name)
            setattr(self, name, state[name].to(own.device, copy=True))
