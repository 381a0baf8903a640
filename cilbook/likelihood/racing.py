r"""Racing: importance sampling that spends its samples where the decision is open.

All classes of an image start with a few samples. After each round the chance r_c that class
c is really ahead of the leader is computed from the measured spread of the weights
(`decision.py`). A class drops out while its chance is negligible, and the race is over when
all chances together are below 1 - confidence, or at the largest S. So an easy image costs a
few samples per class, and a close call as many as it needs.

The noise belongs to a class and a sample number and is shared by all images: no image's
estimate is worse for it, and it is drawn once.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from cilbook.bank import VAEBank
from cilbook.likelihood import gram
from cilbook.likelihood.decision import Likelihoods, risks
from cilbook.likelihood.importance_sampling import (
    MEMORY_MB,
    images_at_once,
    numbers_per_sample,
    observer,
    weigh,
)
from cilbook.likelihood.weights import WeightSums
from cilbook.nets.vae import Observation
from cilbook.random import normal

START, GROWTH = 16, 4  # samples of a class after the first round; the factor per round
_ROWS = 16  # images at once, at least


@torch.no_grad()
def racing(
    bank: VAEBank,
    x: Tensor,
    most: int,
    *,
    observation: Observation,
    seed: int = 0,
    log_prior: Tensor | None = None,
    confidence: float = 0.99,
    memory_mb: float = MEMORY_MB,
) -> Likelihoods:
    """log p(x|y) with at most `most` samples per class, precise where a class can win.

    A class wins by log p(x|y) + log p(y), the prior [classes] being uniform unless given.
    One that dropped out keeps the estimate it had.
    """
    if most < 1:
        raise ValueError(f"the number of samples must be at least 1, got {most}")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, got {confidence}")
    inner_products = gram.applies(bank.template, observation)
    width = numbers_per_sample(bank, x, inner_products)
    at_once = images_at_once(width, x.element_size(), memory_mb)
    vaes = [bank[label] for label in bank.classes]
    sums = WeightSums.empty(x.new_empty(len(x), len(vaes)))
    in_race = torch.ones_like(sums.first, dtype=torch.bool)
    for drawn, stop in rounds(most):
        for column, (label, vae) in enumerate(zip(bank.classes, vaes, strict=True)):
            rows = in_race[:, column].nonzero()[:, 0]
            if not len(rows):
                continue
            observe = observer(vae, observation, inner_products)
            eps = normal((stop - drawn, 1, vae.latent), seed, "racing", label, drawn).to(x)
            for some in rows.split(max(_ROWS, at_once // len(eps))):
                mine = sums[some, column]
                posterior, observed = vae.encode(x[some]), observe(x[some])
                for part in eps.split(max(1, at_once // len(some))):
                    mine.add(weigh(posterior, observed, part))
                sums[some, column] = mine
        ranking = sums.estimate if log_prior is None else sums.estimate + log_prior
        in_race = still_open(ranking, sums.standard_error, 1 - confidence)
        if not in_race.any():
            break
    passes = sums.samples.sum(1)
    return Likelihoods(sums.estimate, sums.standard_error, passes, bank.classes)


def rounds(most: int) -> Iterator[tuple[int, int]]:
    """The samples drawn before and after each round.

    >>> list(rounds(100))
    [(0, 16), (16, 64), (64, 100)]
    """
    drawn, stop = 0, START
    while drawn < most:
        yield drawn, min(stop, most)
        drawn, stop = stop, stop * GROWTH


def still_open(ranking: Tensor, error: Tensor, tolerance: float) -> Tensor:
    """Which classes of which images go on: [n, classes], none of an image that is settled.

    A chance below tolerance / classes is negligible: all of them together are tolerable.
    """
    chances = risks(ranking, error)
    racing = chances > tolerance / ranking.shape[1]
    racing = racing.scatter(1, ranking.argmax(1, keepdim=True), True)  # the leader
    return racing & (chances.sum(1, keepdim=True) > tolerance)
