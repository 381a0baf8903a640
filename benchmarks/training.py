"""What keeping the data as one tensor buys: None on MNIST, two ways to feed it.

Ours: uint8 images in one tensor, a mini-batch is one indexing operation. The usual way: the
same learner fed by a torchvision data set through a DataLoader, image by image. Both are
timed in one process on the same threads, in alternating blocks, because machines are noisy.

    python benchmarks/training.py [--threads 2] [--iterations 400]

The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from time import perf_counter

import torch
from torch import Tensor
from torch.utils.data import DataLoader
from torchvision import datasets, transforms

from cilbook.benchmarks import BENCHMARKS
from cilbook.benchmarks.files import data_folder
from cilbook.benchmarks.streams import iterations
from cilbook.methods.none import FineTuning, NetworkSettings

Batches = Iterator[tuple[Tensor, Tensor]]
BATCH, BLOCKS = 128, 8


def tensor_batches(data_dir: Path | None) -> Batches:
    """Mini-batches as the runner serves them."""
    data = BENCHMARKS["mnist"].load(data_dir).train
    return iterations(data, BATCH, 10**9, seed=0, task=0)


def loader_batches(data_dir: Path | None) -> Batches:
    """Mini-batches as most scripts read them."""
    flat = transforms.Compose([transforms.ToTensor(), torch.flatten])
    data = datasets.MNIST(data_folder(data_dir), train=True, transform=flat)
    loader = DataLoader(data, BATCH, shuffle=True, drop_last=True)
    while True:
        yield from loader


def timed(learner: FineTuning, batches: Batches, n: int) -> tuple[float, float]:
    """Seconds spent on getting n batches, and in all."""
    fetching, start = 0.0, perf_counter()
    for _ in range(n):
        before = perf_counter()
        x, y = next(batches)
        fetching += perf_counter() - before
        learner.observe(x, y)
    return fetching, perf_counter() - start


def measure(threads: int, n: int, data_dir: Path | None) -> dict[str, float]:
    """Both ways in alternating blocks, each on a learner of its own."""
    torch.set_num_threads(threads)
    spec = BENCHMARKS["mnist"]
    ways = {"tensor": tensor_batches(data_dir), "loader": loader_batches(data_dir)}
    learners = {}
    for name, batches in ways.items():
        learners[name] = FineTuning(spec, NetworkSettings(batch=BATCH), 0, "cpu")
        learners[name].start_task(range(10))
        for x, y in islice(batches, 20):
            learners[name].observe(x, y)
    seconds = {name: [0.0, 0.0] for name in ways}
    for _ in range(BLOCKS):
        for name, batches in ways.items():
            spent = timed(learners[name], batches, n // BLOCKS)
            seconds[name] = [a + b for a, b in zip(seconds[name], spent, strict=True)]
    done = n // BLOCKS * BLOCKS
    ours, theirs = seconds["tensor"], seconds["loader"]
    return {
        "threads": threads,
        "iterations_per_second": done / ours[1],
        "loader_iterations_per_second": done / theirs[1],
        "training_ratio": theirs[1] / ours[1],
        "batch_ratio": theirs[0] / ours[0],
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--iterations", type=int, default=400)
    parser.add_argument("--data-dir", type=Path)
    options = parser.parse_args()
    result = measure(options.threads, options.iterations, options.data_dir)
    print(json.dumps({name: round(value, 2) for name, value in result.items()}))
