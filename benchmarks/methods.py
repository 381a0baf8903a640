"""What a training iteration of each method costs beside None's.

How it is measured stands in `cilbook/experiments/cost.py`. Joint takes None's steps; the
net on samples is left out, as it trains at the end, with Joint's steps.

    python benchmarks/methods.py [--benchmark mnist] [--threads 1] [--iterations 50]

The last line is one JSON object: seconds per 1000 iterations.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import torch

from cilbook.experiments import paper
from cilbook.experiments.cost import iteration_costs
from cilbook.methods import METHODS


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
    costs = iteration_costs(
        options.benchmark,
        [name for name in names if not METHODS[name].one_task],
        data_dir=options.data_dir,
        iterations=options.iterations,
        progress=True,
    )
    print(f"{options.benchmark}, {options.threads} threads")
    heads = "method", "s per 1000 iterations", "x none", "s at a boundary"
    print("{:>14} {:>22} {:>7} {:>16}".format(*heads))
    for name, cost in costs.items():
        ratio = cost.seconds / costs["none"].seconds
        print(f"{name:>14} {1000 * cost.seconds:22.2f} {ratio:7.2f} {cost.boundary:16.3f}")
    print(json.dumps({name: 1000 * cost.seconds for name, cost in costs.items()}))


if __name__ == "__main__":
    main()
