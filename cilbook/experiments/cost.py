"""What a training iteration of a method costs.

A method is brought into its second task, where penalties and replay are at work, and is fed
as a run feeds it: a mini-batch of the task for most, one for each class of the task for a
bank of VAEs. All methods are timed in one process on the same threads, in alternating
blocks, because machines are noisy. What a method does at a boundary is timed once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from statistics import median
from time import perf_counter

import torch
from torch import Tensor
from tqdm.auto import tqdm

from cilbook.benchmarks import Images
from cilbook.experiments.request import Plan, Request
from cilbook.experiments.run import load, task_stream

BLOCKS, WARM_UP = 7, 20
Batches = Iterator[tuple[Tensor, Tensor]]


@dataclass(frozen=True)
class Cost:
    """What an iteration of a method takes."""

    seconds: float  # the median over blocks
    images: int  # in an iteration
    boundary: float  # seconds at the end of the first task


def iteration_costs(
    benchmark: str,
    methods: Sequence[str],
    *,
    device: torch.device | str = "cpu",
    data_dir: Path | None = None,
    iterations: int = 50,
    progress: bool = False,
) -> dict[str, Cost]:
    """The cost of an iteration, {method: cost}, from blocks of so many `iterations`.

    >>> costs = iteration_costs("digits", ["none", "gc"], iterations=1)
    >>> {method: cost.images for method, cost in costs.items()}
    {'none': 32, 'gc': 64}
    """
    where = torch.device(device)
    learners = {m: _Learning(benchmark, m, where, data_dir) for m in methods}
    blocks: dict[str, list[float]] = {method: [] for method in methods}
    for _ in tqdm(range(BLOCKS), desc="blocks", disable=not progress):
        for method, learner in learners.items():
            blocks[method].append(learner.seconds(iterations) / iterations)
    return {
        method: Cost(median(blocks[method]), learner.images, learner.boundary)
        for method, learner in learners.items()
    }


class _Learning:
    """A learner in its second task, and the task's mini-batches."""

    def __init__(
        self, benchmark: str, method: str, device: torch.device, data_dir: Path | None
    ) -> None:
        plan = replace(Request(benchmark, method).resolve(), iterations=10**6)
        data = load(plan, data_dir, device).train
        first, second = (data.of_classes(classes) for classes in plan.tasks[:2])
        spec, self.device = plan.spec.prepared(data_dir), device
        self.learner = plan.learner_type(spec, plan.settings, plan.seed, device)
        self.learner.start_task(plan.tasks[0])
        self.batches = task_stream(plan, first, 0)
        self.seconds(WARM_UP)
        start = self._now()
        self.learner.end_task(first)
        self.boundary = self._now() - start
        self.learner.start_task(plan.tasks[1])
        self.batches = _endless(plan, second)
        self.images = len(next(self.batches)[1])
        self.seconds(WARM_UP)

    def seconds(self, iterations: int) -> float:
        """The time that so many iterations take."""
        start = self._now()
        for x, y in islice(self.batches, iterations):
            self.learner.observe(x, y)
        return self._now() - start

    def _now(self) -> float:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
        return perf_counter()


def _endless(plan: Plan, data: Images) -> Batches:
    """The second task's mini-batches; a single pass is begun again at its end."""
    while True:
        for x, y in task_stream(plan, data, 1):
            if len(y) >= plan.settings.batch:  # whole ones only, to compare like with like
                yield x, y
