"""How a task's data reach a learner: three views of the same seeded data.

`iterations`  mini-batches reshuffled until a count is reached, full batches only;
`single_pass` every sample once, in random order;
`per_class`   as `iterations`, for each class on its own: every class present gives one
              batch, and the batches stand one after another.

Every permutation belongs to an address (seed, task or class, epoch), so a stream can be
entered at any position without replaying what came before.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import torch
from torch import Tensor

from cilbook.benchmarks.spec import Images
from cilbook.random import stream

View = Literal["iterations", "single_pass", "per_class"]
Batch = tuple[Tensor, Tensor]


def iterations(
    data: Images, batch: int, count: int, *, seed: int, task: int
) -> Iterator[Batch]:
    """`count` mini-batches of `batch` rows (or of all rows, if there are fewer)."""
    for rows in _shuffled_rows(len(data), batch, count, seed, "task", task):
        yield data.batch(rows.to(data.y.device))


def single_pass(data: Images, batch: int, *, seed: int, task: int) -> Iterator[Batch]:
    """Each row once, the last batch as small as it comes."""
    order = torch.from_numpy(stream(seed, "task", task, 0).permutation(len(data)))
    for rows in order.split(batch):
        yield data.batch(rows.to(data.y.device))


def per_class(data: Images, batch: int, count: int, *, seed: int) -> Iterator[Batch]:
    """`count` mini-batches with `batch` rows of every class, grouped by class."""
    own_rows = {c: torch.where(data.y == c)[0] for c in data.y.unique().tolist()}
    smallest = min(len(rows) for rows in own_rows.values())
    draws = [
        _shuffled_rows(len(rows), min(batch, smallest), count, seed, "class", label)
        for label, rows in own_rows.items()
    ]
    for picks in zip(*draws, strict=True):
        chosen = [
            rows[pick.to(rows.device)]
            for rows, pick in zip(own_rows.values(), picks, strict=True)
        ]
        yield data.batch(torch.cat(chosen))


def _shuffled_rows(
    n: int, batch: int, count: int, seed: int, *address: int | str
) -> Iterator[Tensor]:
    """`count` full batches of row numbers, a new permutation whenever one is used up."""
    batch = min(batch, n)
    per_epoch = n // batch
    for i in range(count):
        epoch, place = divmod(i, per_epoch)
        if place == 0:
            order = torch.from_numpy(stream(seed, *address, epoch).permutation(n))
        yield order[place * batch : (place + 1) * batch]
