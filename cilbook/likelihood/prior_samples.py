r"""Class likelihoods from samples of the prior, shared by all images.

    z_s ~ N(0, I),   log p(x) ~ logsumexp_s log p(x | z_s) - log S

The codes of a class are drawn and decoded once; all images are then compared with the same
decoded ones, which for a Gaussian is one matrix product. With few latent dimensions and a
flat likelihood this beats the encoder's proposal, at a tiny fraction of its cost; with many
dimensions hardly a sample falls near an image, and it does not.

The codes are Sobol points: spread evenly, 10 000 of them are worth more than 20 000
independent ones on MNIST (`benchmarks/proposals.py`), and the gain grows with S. The
standard error is that of independent codes, so it is on the safe side.
"""

from __future__ import annotations

import torch
from torch import Tensor

from cilbook.bank import VAEBank
from cilbook.likelihood.decision import Likelihoods
from cilbook.likelihood.weights import WeightSums
from cilbook.nets.vae import VAE
from cilbook.random import BLOCK, even_normal

FEW_LATENTS = 8  # up to here the prior is a good proposal
_ROWS = 2000  # images compared with them at once


@torch.no_grad()
def prior_samples(bank: VAEBank, x: Tensor, samples: int, *, seed: int = 0) -> Likelihoods:
    """log p(x|y) under a unit Gaussian for every class of the bank."""
    if samples < 1:
        raise ValueError(f"the number of samples must be at least 1, got {samples}")
    columns = [_one_class(bank[c], x, samples, (seed, c)) for c in bank.classes]
    log_p = torch.stack([sums.estimate for sums in columns], 1)
    error = torch.stack([sums.standard_error for sums in columns], 1)
    passes = x.new_full((len(x),), samples * len(columns) / len(x))  # shared by the images
    return Likelihoods(log_p, error, passes, bank.classes)


def _one_class(vae: VAE, x: Tensor, samples: int, address: tuple[int, int]) -> WeightSums:
    """Sums over blocks of codes: memory does not grow with S."""
    seed, label = address
    sums = WeightSums.empty(x.new_empty(len(x)))
    codes = even_normal(vae.latent, seed, "prior samples", label)
    for first in range(0, samples, BLOCK):
        means = vae.decode(next(codes)[: samples - first].to(x)).flatten(1)
        for start in range(0, len(x), _ROWS):
            rows = slice(start, start + _ROWS)
            some = sums[rows,]
            some.add(_log_weights(x[rows].flatten(1), means))
            sums[rows,] = some
    return sums


def _log_weights(x: Tensor, means: Tensor) -> Tensor:
    """-1/2 |x - mean_s|^2, [samples, n]."""
    inner = means @ x.T - means.square().sum(1, keepdim=True) / 2
    return inner - x.square().sum(1) / 2
