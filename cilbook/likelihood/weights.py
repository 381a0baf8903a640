r"""Importance weights in log space: their mean, its error, and how many of them count.

    log p(x) ~ log 1/S sum_s w_s
    ESS = (sum w)^2 / sum w^2                 how many of S weights take part
    standard error of the logarithm = sqrt((1/ESS - 1/S) / (1 - 1/ESS))

The error is the delta method's, the relative standard deviation of the mean of the weights,
with a sample variance's n - 1: where a single weight outweighs all others, nothing is known
of their spread. Two running sums, of w and of w^2, are all that is kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import torch
from torch import Tensor

Index = tuple[Tensor | slice | int, ...]


@dataclass
class WeightSums:
    """log sum w and log sum w^2 of some images, and how many weights went in.

    >>> sums = WeightSums.empty(torch.zeros(1))
    >>> sums.add(torch.tensor([[0.0], [0.0], [0.0], [0.0]]))
    >>> sums.effective_size.item(), sums.standard_error.item()
    (4.0, 0.0)
    """

    first: Tensor  # log sum w, [...]
    second: Tensor  # log sum w^2, [...]
    samples: Tensor  # S, [...]

    @classmethod
    def empty(cls, like: Tensor) -> WeightSums:
        """No weights yet, for estimates of this shape."""
        nothing = torch.full_like(like, -torch.inf)
        return cls(nothing, nothing.clone(), torch.zeros_like(like))

    def add(self, a: Tensor) -> None:
        """Add log weights, [samples, ...]."""
        largest = a.amax(0)
        w = (a - largest).exp()
        self.first = torch.logaddexp(self.first, w.sum(0).log() + largest)
        self.second = torch.logaddexp(self.second, w.square().sum(0).log() + 2 * largest)
        self.samples = self.samples + len(a)

    def __getitem__(self, index: Index) -> WeightSums:
        """The sums of some entries."""
        return WeightSums(self.first[index], self.second[index], self.samples[index])

    def __setitem__(self, index: Index, other: WeightSums) -> None:
        self.first[index] = other.first
        self.second[index] = other.second
        self.samples[index] = other.samples

    @property
    def estimate(self) -> Tensor:
        """log p(x), too low on average, and less so the more samples there are."""
        return self.first - self.samples.double().log().to(self.first)

    @property
    def effective_size(self) -> Tensor:
        """ESS, between 1 and S."""
        return (2 * self.first - self.second).exp()

    @property
    def standard_error(self) -> Tensor:
        """Of the estimate, in nats; infinite where one weight is all there is."""
        size = self.effective_size
        variance = (1 / size - 1 / self.samples).clamp(min=0) / (1 - 1 / size).clamp(min=0)
        return torch.where(size * self.samples > 1, variance, torch.inf).sqrt()


def effective_size(a: Tensor) -> Tensor:
    """ESS of log weights [samples, ...].

    >>> effective_size(torch.tensor([0.0, 0.0, -torch.inf]))
    tensor(2.)
    """
    return 1 / a.softmax(0).square().sum(0)


def bias_with_samples(a: Tensor, sizes: list[int]) -> dict[int, Tensor]:
    """How much too low the estimate is on average at each S, {S: [...]}.

    The log weights [samples, ...] are cut into groups of S; the mean of the groups'
    estimates is compared with the estimate from all of them.
    """
    whole = a.logsumexp(0) - log(len(a))
    bias = {}
    for size in sizes:
        groups = a[: len(a) // size * size].unflatten(0, (-1, size))
        bias[size] = (groups.logsumexp(1) - log(size)).mean(0) - whole
    return bias
