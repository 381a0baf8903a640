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

import torch
from torch import Tensor

from cilbook.bank import VAEBank
from cilbook.likelihood.gram import GramDecoder
from cilbook.likelihood.weights import WeightSums
from cilbook.nets.vae import VAE, Observation
from cilbook.random import normal

Posterior = tuple[Tensor, Tensor]  # mean and log-variance of q(z|x), each [n, k]
LogObservation = Callable[[Tensor], Tensor]  # z [samples, n, k] to log p(x|z) [samples, n]
ROWS, SAMPLES = 64, 16  # one tile of noise
MEMORY_MB = 4.0  # temporaries that stay in a CPU's cache: 3x faster than 64 MB


@dataclass
class Partial:
    """Likelihoods on their way, filled block after block."""

    scores: dict[int, Tensor]  # {S: [n, bank's classes]}
    error: Tensor  # standard error of those with the largest S
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
    width = numbers_per_sample(bank, x, gram)
    row_chunk, sample_chunk = chunk_shape(width, x.element_size(), grid[-1], memory_mb)
    starts = range(0, len(x), row_chunk)
    if partial is None:
        scores = {s: x.new_empty(len(x), len(bank.classes)) for s in grid}
        error = torch.empty_like(scores[grid[-1]])
        partial = Partial(scores, error, done=0, total=len(bank.classes) * len(starts))
    yield partial
    for column, label in enumerate(bank.classes):
        vae = bank[label]
        observe = observer(vae, observation, gram)
        for start in starts[max(0, partial.done - column * len(starts)) :]:
            rows = slice(start, start + row_chunk)
            posterior, observed = vae.encode(x[rows]), observe(x[rows])
            address = seed, label, start
            estimates = _running_estimates(posterior, observed, grid, sample_chunk, address)
            for s, sums in estimates:
                partial.scores[s][rows, column] = sums.estimate
            partial.error[rows, column] = sums.standard_error
            partial.done += 1
            yield partial


@torch.no_grad()
def _running_estimates(
    posterior: Posterior,
    observed: LogObservation,
    grid: Sequence[int],
    sample_chunk: int,
    address: tuple[int, int, int],
) -> Iterator[tuple[int, WeightSums]]:
    """(S, sums over the first S weights of n images) for each S of the grid."""
    mean, _ = posterior
    n, latent = mean.shape
    sums = WeightSums.empty(mean[:, 0])
    drawn = 0
    for s in grid:
        while drawn < s:
            stop = min(s, drawn // sample_chunk * sample_chunk + sample_chunk)
            eps = noise(*address, n, drawn, stop, latent).to(mean.device)
            sums.add(weigh(posterior, observed, eps))
            drawn = stop
        yield s, sums


def log_weights(
    vae: VAE, x: Tensor, posterior: Posterior, eps: Tensor, observation: Observation
) -> Tensor:
    """The log weights a_s, [samples, n], for eps [samples, n, k]."""
    return weigh(posterior, observer(vae, observation, gram=False)(x), eps)


def observer(
    vae: VAE, observation: Observation, gram: bool
) -> Callable[[Tensor], LogObservation]:
    """From images to log p(x|z), by decoding z or from inner products."""
    if gram:
        return GramDecoder(vae).observe
    return lambda x: partial_call(vae.log_observation, x, observation=observation)


def weigh(posterior: Posterior, observed: LogObservation, eps: Tensor) -> Tensor:
    """The log weights a_s, [samples, n], once log p(x|z) is a function of z."""
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
    """(rows, samples) per chunk, whole tiles, so that temporaries stay within memory."""
    images = images_at_once(width, bytes_each, memory_mb)
    sample_tiles = -(-samples // SAMPLES)
    sample_chunk = SAMPLES * max(1, min(sample_tiles, images // (ROWS * SAMPLES)))
    row_chunk = ROWS * max(1, images // (ROWS * min(sample_chunk, samples)))
    return row_chunk, sample_chunk


def numbers_per_sample(bank: VAEBank, x: Tensor, gram: bool) -> int:
    """How wide a decoded sample is: an image, or from inner products a hidden layer."""
    return bank.template.decoder[-1].in_features if gram else x[0].numel()


def images_at_once(width: int, bytes_each: int, memory_mb: float) -> int:
    """How many samples fit into memory.

    About four tensors of `width` numbers per sample, the decoded images, live at once.
    """
    return int(memory_mb * 2**20 / (4 * width * bytes_each))
