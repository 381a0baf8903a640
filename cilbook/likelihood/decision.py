r"""What an estimator returns: log p(x|y), how precise it is, and what it cost.

An error of a class's estimate matters only if it can change the winner. Let L be the
leader, l_c the estimates and e_c their standard errors. The chance that class c is really
ahead is about

    r_c = Phi( -(l_L - l_c) / sqrt(e_L^2 + e_c^2) ),

and the decision's risk is at most the sum of the r_c. Nothing in it is a margin fixed
beforehand: the errors are measured.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Likelihoods:
    """log p(x|y) of n images and a bank's classes.

    >>> log_p, exact = torch.tensor([[1.0, 5.0, 2.0]]), torch.zeros(1, 3)
    >>> found = Likelihoods(log_p, exact, passes=torch.zeros(1), classes=[4, 6, 9])
    >>> found.winner, found.risk
    (tensor([6]), tensor([0.]))
    """

    log_p: Tensor  # [n, classes]
    standard_error: Tensor  # in nats, [n, classes]; 0 where the value is exact
    passes: Tensor  # through a decoder, for each image, [n]
    classes: list[int]  # the label of each column

    @property
    def winner(self) -> Tensor:
        """The label of the most likely class, [n]."""
        labels = torch.tensor(self.classes, device=self.log_p.device)
        return labels[self.log_p.argmax(1)]

    @property
    def risk(self) -> Tensor:
        """The chance that another class is really ahead, [n]."""
        return risks(self.log_p, self.standard_error).sum(1).clamp(max=1)


def risks(log_p: Tensor, error: Tensor) -> Tensor:
    """The chance that each class is really ahead of the leader, [n, classes]."""
    leader = log_p.argmax(1, keepdim=True)
    gap = log_p.gather(1, leader) - log_p
    spread = torch.hypot(error.gather(1, leader), error)
    chance = torch.special.ndtr(-gap / spread)
    return chance.nan_to_num(nan=0.5).scatter(1, leader, 0.0)
