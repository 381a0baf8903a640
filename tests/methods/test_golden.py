"""Golden numbers: a change of any method's arithmetic shows here.

After a change that was meant, `python tests/methods/test_golden.py` writes them anew.
"""

import json
import sys
from pathlib import Path
from statistics import mean, stdev

import pytest
import torch

from cilbook.benchmarks import BENCHMARKS, Images
from cilbook.experiments.request import Request
from cilbook.experiments.run import run
from cilbook.methods import METHODS

FILE = Path(__file__).with_name("golden.json")
SPEC = BENCHMARKS["digits"]
SEEDS = range(11, 21)


def first_losses(name: str) -> list[float]:
    """The first five losses in float64: three of task 1, two of task 2."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        student = METHODS[name](SPEC, METHODS[name].settings_type(), 0, "cpu")
        train, losses = in_float64(SPEC.load(None).train), []
        for classes, steps in (([0, 1], 3), ([2, 3], 2)):
            data = train.of_classes(classes)
            student.start_task(classes)
            for i in range(steps):
                x, y = data.batch(torch.arange(16 * i, 16 * i + 16))
                loss = student.observe(x, y)
                if loss is None:  # SLDA has none: its mean score stands in
                    loss = student.scores(train.x[:50])[:, :2]
                losses.append(loss.mean().item())
            student.end_task(data)
    finally:
        torch.set_default_dtype(before)
    return losses


def in_float64(data: Images) -> Images:
    return Images(data.stored, data.y, lambda stored: data.to_input(stored).double())


def final_accuracy(name: str, seed: int) -> float:
    """The accuracy of a short run."""
    samples = 30 if name == "gc" else None
    few = {} if METHODS[name].view == "single_pass" else {"iterations": 100}
    return run(Request("digits", name, seed, samples=samples, changes=few))["accuracy"]


@pytest.mark.parametrize("name", METHODS)
def test_the_first_five_losses_are_the_golden_ones(name):
    golden = json.loads(FILE.read_text())[name]["losses"]
    assert first_losses(name) == pytest.approx(golden, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("name", METHODS)
def test_the_final_accuracy_is_within_four_deviations_of_ten_seeds(name):
    golden = json.loads(FILE.read_text())[name]["accuracy"]
    margin = 4 * stdev(golden)
    assert final_accuracy(name, SEEDS[0]) == pytest.approx(mean(golden), abs=margin)


def write(names: list[str]) -> None:
    """Measure these methods anew."""
    golden = json.loads(FILE.read_text()) if FILE.exists() else {}
    for name in names:
        accuracy = [round(final_accuracy(name, seed), 4) for seed in SEEDS]
        golden[name] = {"losses": first_losses(name), "accuracy": accuracy}
        print(name, mean(accuracy), stdev(accuracy), flush=True)
        FILE.write_text(json.dumps(golden, indent=1) + "\n")


if __name__ == "__main__":
    write(sys.argv[1:] or [*METHODS])
