"""What a training iteration of each method costs beside None's.

Every method is brought into its second task, where penalties and replay are at work, and
is fed as a run feeds it: a mini-batch of the task for most, one for each class of the task
for a bank of VAEs. All are timed in one process on the same threads, in alternating blocks,
because machines are noisy.

    python benchmarks/methods.py [--benchmark mnist] [--threads 1] [--iterations 50]

The last line is one JSON object: seconds per 1000 iterations.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from statistics import median
from time import perf_counter

import torch
from torch import Tensor
from tqdm import tqdm

from cilbook.experiments import paper
from cilbook.experiments.request import Plan, Request
from cilbook.experiments.run import load, task_stream
from cilbook.methods import METHODS, Learner

BLOCKS, WARM_UP = 7, 20
Batches = Iterator[tuple[Tensor, Tensor]]


def main() -> None:
    """Time every method that the benchmark defines."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--benchmark", default="mnist")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--iterations", type=int, default=50, help="in a block")
    parser.add_argument("--data-dir", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    names = [m for m in METHODS if not paper.leaves_out(options.benchmark, m)]
    names = [m for m in names if not METHODS[m].one_task]  # the same steps as another's
    students = {m: in_second_task(options.benchmark, m, options.data_dir) for m in names}
    blocks: dict[str, list[float]] = {name: [] for name in names}
    for _ in tqdm(range(BLOCKS), desc="blocks"):
        for name, (student, batches) in students.items():
            blocks[name].append(timed(student, batches, options.iterations))
    seconds = {name: 1000 * median(times) for name, times in blocks.items()}
    print(f"{options.benchmark}, {options.threads} threads, s per 1000 iterations")
    for name, value in seconds.items():
        print(f"{name:>14} {value:8.2f} {value / seconds['none']:6.2f} x none")
    print(json.dumps(seconds))


def in_second_task(
    benchmark: str, method: str, data_dir: Path | None
) -> tuple[Learner, Batches]:
    """A learner that has seen a little of the first task, and batches of the second."""
    plan = replace(Request(benchmark, method).resolve(), iterations=10**6)
    data = load(plan, data_dir, torch.device("cpu")).train
    spec = plan.spec.prepared(data_dir)
    student = plan.learner_type(spec, plan.settings, plan.seed, "cpu")
    first, second = (data.of_classes(classes) for classes in plan.tasks[:2])
    student.start_task(plan.tasks[0])
    for x, y in islice(task_stream(plan, first, 0), WARM_UP):
        student.observe(x, y)
    student.end_task(first)
    student.start_task(plan.tasks[1])
    batches = endless(plan, second)
    timed(student, batches, WARM_UP)
    return student, batches


def endless(plan: Plan, data) -> Batches:
    """The task's mini-batches; a single pass is begun again at its end."""
    while True:
        for x, y in task_stream(plan, data, 1):
            if len(y) >= plan.settings.batch:  # whole ones only, to compare like with like
                yield x, y


def timed(student: Learner, batches: Batches, n: int) -> float:
    """Seconds per iteration."""
    start = perf_counter()
    for x, y in islice(batches, n):
        student.observe(x, y)
    return (perf_counter() - start) / n


if __name__ == "__main__":
    main()
