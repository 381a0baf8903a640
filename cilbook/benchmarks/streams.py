"""How data reach a learner: three views of a task, and streams without tasks.

`iterations`  mini-batches reshuffled until a count is reached, full batches only;
`single_pass` every sample once, in random order;
`per_class`   as `iterations`, for each class on its own: every class present gives one
              batch, and the batches stand one after another;
`task_free`   every sample once in an order of one's own, with no boundary: `iid`,
              `class_by_class`, `blurred`, or any other order of the rows.

Every permutation belongs to an address (seed, task or class, epoch), so a stream can be
entered at mini-batch `start` without replaying what came before.
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
    data: Images, batch: int, count: int, *, seed: int, task: int, start: int = 0
) -> Iterator[Batch]:
    """`count` mini-batches of `batch` rows (or of all rows, if there are fewer)."""
    for rows in _shuffled_rows(len(data), batch, start, count, seed, "task", task):
        yield data.batch(rows.to(data.y.device))


def single_pass(
    data: Images, batch: int, *, seed: int, task: int, start: int = 0
) -> Iterator[Batch]:
    """Each row once, the last batch as small as it comes."""
    order = torch.from_numpy(stream(seed, "task", task, 0).permutation(len(data)))
    return task_free(data, batch, order, start=start)


def per_class(
    data: Images, batch: int, count: int, *, seed: int, start: int = 0
) -> Iterator[Batch]:
    """`count` mini-batches with `batch` rows of every class, grouped by class."""
    own_rows = {c: torch.where(data.y == c)[0] for c in data.y.unique().tolist()}
    smallest = min(len(rows) for rows in own_rows.values())
    draws = [
        _shuffled_rows(len(rows), min(batch, smallest), start, count, seed, "class", label)
        for label, rows in own_rows.items()
    ]
    for picks in zip(*draws, strict=True):
        chosen = [
            rows[pick.to(rows.device)]
            for rows, pick in zip(own_rows.values(), picks, strict=True)
        ]
        yield data.batch(torch.cat(chosen))


def task_free(
    data: Images, batch: int, order: Tensor, *, start: int = 0
) -> Iterator[Batch]:
    """The rows in this order, the last batch as small as it comes.

    >>> data = Images(torch.rand(5, 2), torch.tensor([1, 0, 1, 0, 1]), lambda x: x)
    >>> [y.tolist() for _, y in task_free(data, 2, torch.tensor([1, 3, 0, 2, 4]))]
    [[0, 0], [1, 1], [1]]
    """
    for first in range(start * batch, len(order), batch):
        yield data.batch(order[first : first + batch].to(data.y.device))


def iid(y: Tensor, *, seed: int) -> Tensor:
    """An order of the rows without any structure."""
    return torch.from_numpy(stream(seed, "task-free").permutation(len(y)))


def class_by_class(y: Tensor, *, seed: int) -> Tensor:
    """An order of the rows in which each class comes at once, the classes at random."""
    labels = y.cpu().unique()
    rank = torch.from_numpy(stream(seed, "task-free classes").permutation(len(labels)))
    mixed = iid(y, seed=seed)
    place = rank[torch.searchsorted(labels, y.cpu()[mixed])]
    return mixed[place.argsort(stable=True)]


def blurred(y: Tensor, width: float, *, seed: int) -> Tensor:
    """`class_by_class`, each class giving way to the next over `width` samples.

    Every row moves by up to width / 2 places, uniformly at random: across a boundary the
    share of the new class rises in a straight line, from `class_by_class` at width 0
    towards `iid` as the width grows.

    >>> y = torch.tensor([0, 1]).repeat_interleave(50)
    >>> early = y[blurred(y, 40, seed=0)][:20]  # more than half a width before the boundary
    >>> len(early.unique())
    1
    """
    if width < 0:
        raise ValueError(f"the width must be 0 or larger, got {width}")
    order = class_by_class(y, seed=seed)
    shift = torch.from_numpy(stream(seed, "task-free blur").random(len(y))) - 0.5
    return order[(torch.arange(len(y)) + width * shift).argsort(stable=True)]


def _shuffled_rows(
    n: int, batch: int, start: int, count: int, seed: int, *address: int | str
) -> Iterator[Tensor]:
    """Full batches start...count of row numbers, a new permutation for every epoch."""
    batch = min(batch, n)
    per_epoch = n // batch
    for i in range(start, count):
        epoch, place = divmod(i, per_epoch)
        if place == 0 or i == start:
            order = torch.from_numpy(stream(seed, *address, epoch).permutation(n))
        yield order[place * batch : (place + 1) * batch]
