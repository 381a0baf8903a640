"""Random numbers by address: every place that needs noise names itself.

A stream is a function of the seed and of where its numbers are used, never of what was
drawn before. So work can be split, reordered, killed and resumed, moved to another
device, and still see the same numbers; and no global generator is ever touched.
"""

from __future__ import annotations

from collections.abc import Iterator
from zlib import crc32

import numpy as np
import torch
from torch import Tensor
from torch.quasirandom import SobolEngine

BLOCK = 512


def stream(seed: int, *address: int | str) -> np.random.Generator:
    """The random stream that belongs to one address.

    >>> a = stream(0, "batches", 3).integers(100, size=4)
    >>> b = stream(0, "batches", 3).integers(100, size=4)
    >>> bool((a == b).all())
    True
    """
    words = tuple(crc32(a.encode()) if isinstance(a, str) else a for a in address)
    sequence = np.random.SeedSequence(seed, spawn_key=words)
    return np.random.Generator(np.random.SFC64(sequence))


def normal(shape: tuple[int, ...], seed: int, *address: int | str) -> Tensor:
    """Standard normal numbers (float32, CPU) that belong to one address."""
    noise = stream(seed, *address).standard_normal(shape, dtype=np.float32)
    return torch.from_numpy(noise)


def even_normal(k: int, seed: int, *address: int | str) -> Iterator[Tensor]:
    """Standard normal points that fill their k dimensions evenly, one block after another.

    A scrambled Sobol sequence (Owen, 1995), through the normal's quantiles: every point is
    distributed as an independent one would be, but together they leave no gaps. Blocks are
    of BLOCK points, float32, on the CPU.

    >>> points = next(even_normal(3, 0, "example"))
    >>> points.shape, bool(points.mean(0).abs().max() < 0.01)  # independent: about 0.05
    (torch.Size([512, 3]), True)
    """
    own = int(stream(seed, *address).integers(2**31))
    sequence = SobolEngine(k, scramble=True, seed=own)
    while True:
        uniform = sequence.draw(BLOCK, dtype=torch.float64)
        tiny = torch.finfo(torch.float64).eps
        yield torch.special.ndtri(uniform.clamp(tiny, 1 - tiny)).float()
