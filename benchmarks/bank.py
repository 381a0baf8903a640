"""How to train a bank of VAEs fastest: all classes batched, or one after another.

Both ways take the same steps on the same mini-batches, in one process, in alternating
blocks, because machines are noisy. With --compile the batched loss is also compiled, and
the time that this takes is given beside what it wins.

    python benchmarks/bank.py [--benchmarks mnist cifar10] [--threads 1 2] [--compile]

The last line is one JSON object: milliseconds per step of one class.
"""

from __future__ import annotations

import argparse
import json
from itertools import islice
from pathlib import Path
from statistics import median
from time import perf_counter

import torch
from tqdm import tqdm

from cilbook.bank import VAEBank
from cilbook.benchmarks.streams import per_class
from cilbook.experiments.request import Request
from cilbook.experiments.run import load
from cilbook.methods.generative_classifier import new_bank

BLOCKS, STEPS = 4, 3


def main() -> None:
    """Time every benchmark with every number of threads."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = ["mnist", "cifar10", "cifar100"]
    parser.add_argument("--benchmarks", nargs="+", default=names)
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--compile", action="store_true", help="try torch.compile too")
    parser.add_argument("--data-dir", type=Path)
    options = parser.parse_args()
    figures: dict[str, float] = {}
    for name in options.benchmarks:
        for threads in options.threads:
            torch.set_num_threads(threads)
            found = measure(name, options.data_dir, options.compile)
            figures |= {f"{name}_{threads}_{way}": ms for way, ms in found.items()}
    print(f"{'benchmark, threads, way':>32} {'ms per step':>12}")
    for what, ms in figures.items():
        print(f"{what.replace('_', ', '):>32} {ms:12.1f}")
    print(json.dumps(figures))


def measure(name: str, data_dir: Path | None, compiled: bool) -> dict[str, float]:
    """Milliseconds per class and step of each way, all classes in training."""
    plan = Request(name, "gc").resolve()
    data = load(plan, data_dir, torch.device("cpu")).train
    stream = per_class(data, plan.settings.batch, 2 * STEPS, seed=0)
    batches = list(islice(stream, STEPS))
    ways = {"batched": False, "one by one": True} | (
        {"compiled": False} if compiled else {}
    )
    banks = {}
    for way, one_by_one in ways.items():
        banks[way] = new_bank(plan.spec, plan.settings, 0, "cpu")
        banks[way].one_by_one = one_by_one
    found = {}
    if compiled:
        banks["compiled"]._losses = torch.compile(banks["compiled"]._losses)
        found["compiling"] = milliseconds(banks["compiled"], batches[:1])
    blocks: dict[str, list[float]] = {way: [] for way in ways}
    for _ in tqdm(range(BLOCKS + 1), desc=name):
        for way, bank in banks.items():
            blocks[way].append(milliseconds(bank, batches))
    return {way: median(times[1:]) for way, times in blocks.items()} | found


def milliseconds(bank: VAEBank, batches: list) -> float:
    """Per step of one class."""
    start = perf_counter()
    for x, y in batches:
        bank.learn(x, y)
    return 1000 * (perf_counter() - start) / len(batches) / len(bank.classes)


if __name__ == "__main__":
    main()
