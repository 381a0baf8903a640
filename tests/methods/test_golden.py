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
from cilbook.methods.gen_samples import GenSamples

FILE = Path(__file__).with_name("golden.json")
SPEC = BENCHMARKS["digits"]
SEEDS = range(11, 21)
GOLDEN = json.loads(FILE.read_text()) if FILE.exists() else {}
STRONG = {  # strengths that show after a single step
    "si": {"strength": 1e5},
    "bir-si": {"strength": 1e5},
    "ar1": {"strength": 1e5},
}


def first_losses(name: str, **changes: float) -> list[float]:
    """The first five losses in float64: three of task 1, two of task 2."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        settings = METHODS[name].settings_type(**STRONG.get(name, {}) | changes)
        student = METHODS[name](SPEC, settings, 0, "cpu")
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
        return losses if name != "gen-samples" else on_samples(student)
    finally:
        torch.set_default_dtype(before)


def on_samples(student: GenSamples) -> list[float]:
    """The losses of the network's next five steps, which are on samples."""
    losses, step = [], student.trained.step

    def recorded(loss: torch.Tensor) -> None:
        losses.append(loss.item())
        step(loss)

    student.trained.step = recorded
    student.bank.steps[0] += 5
    student.end_task(SPEC.load(None).train)
    return losses


def in_float64(data: Images) -> Images:
    return Images(data.stored, data.y, lambda stored: data.to_input(stored).double())


def final_accuracies(name: str, seed: int) -> list[float]:
    """Of a short run: the accuracy, and the mean over tasks choosing within the task."""
    samples = 30 if name == "gc" else None
    few = {} if METHODS[name].view == "single_pass" else {"iterations": 100}
    result = run(Request("digits", name, seed, samples=samples, changes=few))
    return [result["accuracy"], mean(result["accuracy_matrix_within_task"][-1])]


@pytest.mark.parametrize("name", METHODS)
def test_the_first_five_losses_are_the_golden_ones(name):
    assert first_losses(name) == pytest.approx(GOLDEN[name]["losses"], rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("name", METHODS)
def test_the_final_accuracies_are_within_four_deviations_of_ten_seeds(name):
    found = final_accuracies(name, SEEDS[0])
    for i, value in enumerate(found):
        golden = [accuracies[i] for accuracies in GOLDEN[name]["accuracies"]]
        assert value == pytest.approx(mean(golden), abs=4 * stdev(golden))


@pytest.mark.parametrize("name", ["si", "ewc", "bir-si", "ar1"])
def test_the_golden_losses_can_tell_a_penalty_from_its_absence(name):
    golden, without = GOLDEN[name]["losses"], first_losses(name, strength=0.0)
    assert golden[:3] == pytest.approx(without[:3])
    assert golden[4] != pytest.approx(without[4], rel=1e-5)


def write(names: list[str]) -> None:
    """Measure these methods anew."""
    golden = dict(GOLDEN)
    for name in names:
        accuracies = [[round(v, 4) for v in final_accuracies(name, s)] for s in SEEDS]
        golden[name] = {"losses": first_losses(name), "accuracies": accuracies}
        print(name, *map(mean, zip(*accuracies, strict=True)), flush=True)
        FILE.write_text(json.dumps(golden) + "\n")


if __name__ == "__main__":
    write(sys.argv[1:] or [*METHODS])
