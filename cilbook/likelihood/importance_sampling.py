r"""Class likelihoods by importance sampling, the encoder as the proposal.

For an image x and a class with encoder (mu, l), draw eps_s ~ N(0, I) and put

    z_s = mu + exp(l/2) * eps_s
    a_s = log p(x|z_s) + log p(z_s) - log q(z_s|x)
        = log p(x|z_s) - 1/2 |z_s|^2 + 1/2 sum_j (l_j + eps_sj^2)
    log p(x) ~ logsumexp_s a_s - log S

The sum runs in log space and in passing, so memory does not grow with S, and the estimate
at every smaller S is read off on the way. Burda et al. (2016), "Importance weighted
autoencoders"; van de Ven et al. (2021).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial as partial_call
from math import log

import torch
from torch import Tensor

from cilbook.bank import VAEBank
from cilbook.likelihood.gram import GramObservation
from cilbook.nets.vae import VAE, Observation
from cilbook.random import normal

Posterior = tuple[Tensor, Tensor]  # mean and log-variance of q(z|x), each [n, k]
LogObservation = Callable[[Tensor], Tensor]  # z [samples, n, k] to log p(x|z) [samples, n]
ROWS, SAMPLES = 64, 16  # one tile of noise
MEMORY_MB = 4.0  # temporaries that stay in a CPU's cache: 3x faster than 64 MB


@dataclass
class Partial:
    """Likelihoods on their way: {S: [n, bank's classes]}, filled block after block."""

    scores: dict[int, Tensor]
    done: int
    total: int


def importance_sampling(
    bank: VAEBank,
    x: Tensor,
    samples: Sequence[int],
    *,
    observation: Observation,
    seed: int = 0,
    memory_mb: float = MEMORY_MB,
    gram: bool = False,
) -> dict[int, Tensor]:
    """log p(x|y) at each number of samples S, {S: [n, bank's classes]}, in one pass.

    With `gram` from inner products (`gram.py`), for decoders whose last layer is linear.
    """
    how = {"observation": observation, "seed": seed, "memory_mb": memory_mb, "gram": gram}
    *_, last = block_by_block(bank, x, samples, **how)
    return last.scores


def block_by_block(
    bank: VAEBank,
    x: Tensor,
    samples: Sequence[int],
    *,
    observation: Observation,
    seed: int = 0,
    memory_mb: float = MEMORY_MB,
    gram: bool = False,
    partial: Partial | None = None,
) -> Iterator[Partial]:
    """`importance_sampling` in steps, a class and some rows at a time.

    What is yielded is one object, filled further each time; given back as `partial`, it
    is continued to the same numbers.
    """
    grid = sorted(set(samples))
    if not grid or grid[0] < 1:
        raise ValueError(f"the numbers of samples must be at least 1, got {samples}")
    width = bank.template.decoder[-1].in_features if gram else x[0].numel()
    row_chunk, sample_chunk = chunk_shape(width, x.element_size(), grid[-1], memory_mb)
    starts = range(0, len(x), row_chunk)
    if partial is None:
        scores = {s: x.new_empty(len(x), len(bank.classes)) for s in grid}
        partial = Partial(scores, done=0, total=len(bank.classes) * len(starts))
    yield partial
    for column, label in enumerate(bank.classes):
        vae = bank[label]
        for start in starts[max(0, partial.done - column * len(starts)) :]:
            rows = slice(start, start + row_chunk)
            observed = (
                GramObservation(vae, x[rows])
                if gram
                else partial_call(vae.log_observation, x[rows], observation=observation)
            )
            estimates = _running_estimates(
                vae.encode(x[rows]), observed, grid, sample_chunk, (seed, label, start)
            )
            for s, estimate in estimates:
                partial.scores[s][rows, column] = estimate
            partial.done += 1
            yield partial


@torch.no_grad()
def _running_estimates(
    posterior: Posterior,
    observed: LogObservation,
    grid: Sequence[int],
    sample_chunk: int,
    address: tuple[int, int, int],
) -> Iterator[tuple[int, Tensor]]:
    """(S, estimate [n]) for each S of the grid, from a running log-sum-exp."""
    mean, _ = posterior
    n, latent = mean.shape
    total = mean.new_full((n,), -torch.inf)
    drawn = 0
    for s in grid:
        while drawn < s:
            stop = min(s, drawn // sample_chunk * sample_chunk + sample_chunk)
            eps = noise(*address, n, drawn, stop, latent).to(mean.device)
            weights = _weigh(posterior, observed, eps)
            total = torch.logaddexp(total, weights.logsumexp(0))
            drawn = stop
        yield s, total - log(s)


def log_weights(
    vae: VAE, x: Tensor, posterior: Posterior, eps: Tensor, observation: Observation
) -> Tensor:
    """The log weights a_s, [samples, n], for eps [samples, n, k]."""
    observed = partial_call(vae.log_observation, x, observation=observation)
    return _weigh(posterior, observed, eps)


def _weigh(posterior: Posterior, observed: LogObservation, eps: Tensor) -> Tensor:
    mean, log_variance = posterior
    z = mean + (log_variance / 2).exp() * eps
    correction = (log_variance + eps.square() - z.square()).sum(-1) / 2
    return observed(z) + correction


def noise(
    seed: int, label: int, first_row: int, rows: int, start: int, stop: int, latent: int
) -> Tensor:
    """eps of samples start...stop for rows first_row..., [samples, rows, k].

    Drawn in fixed tiles addressed by (seed, class, row block, sample block), so it is a
    function of seed, class, row and sample number alone; `first_row` begins a row block.
    """
    bands = []
    for band in range(start // SAMPLES, -(-stop // SAMPLES)):
        tiles = [
            normal((SAMPLES, ROWS, latent), seed, "importance", label, block, band)
            for block in range(first_row // ROWS, -(-(first_row + rows) // ROWS))
        ]
        low, high = max(start - band * SAMPLES, 0), min(stop - band * SAMPLES, SAMPLES)
        bands.append(torch.cat(tiles, dim=1)[low:high, :rows])
    return torch.cat(bands)


def chunk_shape(
    width: int, bytes_each: int, samples: int, memory_mb: float
) -> tuple[int, int]:
    """(rows, samples) per chunk, whole tiles, so that temporaries stay within memory.

    About four tensors of `width` numbers per sample, the decoded images, live at once.
    """
    images = int(memory_mb * 2**20 / (4 * width * bytes_each))
    sample_tiles = -(-samples // SAMPLES)
    sample_chunk = SAMPLES * max(1, min(sample_tiles, images // (ROWS * SAMPLES)))
    row_chunk = ROWS * max(1, images // (ROWS * min(sample_chunk, samples)))
    return row_chunk, sample_chunk
