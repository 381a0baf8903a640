"""Where to draw the codes from: what S samples of each proposal are worth.

For test images and the VAE of their own class, log p(x|y) is estimated several times with
S samples, and compared with a long run. Squared errors fall as 1 / S, so the ratio of two
ways' squared errors, times the ratio of their seconds, says how many times more samples
per second one of them is worth. The encoder's own proposal is worth 1.

    encoder     q(z|x), the paper's
    widened     q(z|x) with its variance doubled
    prior       p(z), decoded once for all images
    even        the same, from Sobol points instead of independent ones

    python benchmarks/proposals.py [--benchmarks mnist cifar10] [--samples 10000]

The last line is one JSON object: worth of each way.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from itertools import islice
from math import log
from pathlib import Path
from time import perf_counter

import torch
from torch import Tensor

from cilbook.benchmarks import BENCHMARKS
from cilbook.experiments.obtain import committed_bank
from cilbook.likelihood.importance_sampling import observer, weigh
from cilbook.likelihood.prior_samples import _log_weights
from cilbook.nets.vae import VAE
from cilbook.random import BLOCK, even_normal, normal

Noise = Callable[[int], Tensor]  # from a seed to eps, [S, k]
LONG = 16  # times S, the long run; four times that of the prior, which costs little
CLASSES, IMAGES, REPEATS = 3, 20, 8
ROWS = 128  # samples decoded at once


def main() -> None:
    """Measure the committed banks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--benchmarks", nargs="+", default=["mnist", "cifar10"])
    parser.add_argument("--samples", type=int, default=10_000)
    parser.add_argument("--data-dir", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    figures: dict[str, float] = {}
    for name in options.benchmarks:
        found = worths(name, options.samples, options.data_dir)
        figures |= {f"{name}_{way}": round(worth, 3) for way, worth in found.items()}
    print(json.dumps(figures))


@torch.no_grad()
def worths(name: str, samples: int, data_dir: Path | None) -> dict[str, float]:
    """What a second of each way is worth, in the encoder's samples."""
    bank, test = committed_bank(name), BENCHMARKS[name].load(data_dir).test
    errors: dict[str, float] = {}
    seconds: dict[str, float] = {}
    for label in bank.classes[:CLASSES]:
        vae, x = bank[label], test.of_classes([label]).x[:IMAGES]
        truth = long_run(vae, x, samples, label)
        for way, estimate in ways(vae, samples, label).items():
            start = perf_counter()
            found = torch.stack([estimate(x, seed) for seed in range(REPEATS)])
            seconds[way] = seconds.get(way, 0) + perf_counter() - start
            error = (found - truth).square().mean().item()
            errors[way] = errors.get(way, 0) + error / CLASSES
    print(f"{name}, S = {samples}: error in nats, seconds, worth")
    worth = {
        way: errors["encoder"] / errors[way] * seconds["encoder"] / seconds[way]
        for way in errors
    }
    for way in errors:
        print(f"{way:>10} {errors[way] ** 0.5:8.3f} {seconds[way]:8.2f} {worth[way]:8.2f}")
    return worth


def long_run(vae: VAE, x: Tensor, samples: int, label: int) -> Tensor:
    """log p(x) nearly without error, from the proposal that suits these VAEs.

    Estimates are too low on average: of two, the one that is higher on average.
    """
    encoder = from_encoder(vae, x, independent(vae, LONG * samples, label)(10**6))
    prior = from_prior(vae, x, even(vae, 4 * LONG * samples, label)(10**6))
    return max(encoder, prior, key=Tensor.mean)


def ways(vae: VAE, samples: int, label: int) -> dict[str, Callable[[Tensor, int], Tensor]]:
    """From images and a seed to log p(x|y), [n]."""
    drawn, evenly = independent(vae, samples, label), even(vae, samples, label)
    return {
        "encoder": lambda x, seed: from_encoder(vae, x, drawn(seed)),
        "widened": lambda x, seed: from_encoder(vae, x, drawn(seed), widened=2.0),
        "prior": lambda x, seed: from_prior(vae, x, drawn(seed)),
        "even": lambda x, seed: from_prior(vae, x, evenly(seed)),
    }


def independent(vae: VAE, samples: int, label: int) -> Noise:
    """Independent standard normal numbers."""
    return lambda seed: normal((samples, vae.latent), seed, "proposals", label)


def even(vae: VAE, samples: int, label: int) -> Noise:
    """Sobol points."""
    blocks = -(-samples // BLOCK)

    def draw(seed: int) -> Tensor:
        points = even_normal(vae.latent, seed, "proposals", label)
        return torch.cat([*islice(points, blocks)])[:samples]

    return draw


def from_encoder(vae: VAE, x: Tensor, eps: Tensor, widened: float = 1.0) -> Tensor:
    """log p(x) with codes from q(z|x), its variance times `widened`."""
    mean, log_variance = vae.encode(x)
    posterior = mean, log_variance + log(widened)
    observed = observer(vae, "gaussian", gram=False)(x)
    a = [weigh(posterior, observed, part) for part in eps[:, None].split(ROWS)]
    return torch.cat(a).logsumexp(0) - log(len(eps))


def from_prior(vae: VAE, x: Tensor, z: Tensor) -> Tensor:
    """log p(x) with codes from p(z)."""
    flat = x.flatten(1)
    parts = [_log_weights(flat, vae.decode(part).flatten(1)) for part in z.split(ROWS)]
    return torch.cat(parts).logsumexp(0) - log(len(z))


if __name__ == "__main__":
    main()
