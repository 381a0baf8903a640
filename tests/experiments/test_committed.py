"""What the committed runs promise."""

from statistics import mean

from cilbook.experiments import paper
from cilbook.experiments.obtain import committed_runs
from cilbook.experiments.results import committed
from cilbook.experiments.tables import paper_table


def test_on_digits_the_mismatched_bank_needs_many_samples():
    runs = committed_runs("digits", "gc", "paper")[:5]
    assert mean(run["by_samples"]["1"] for run in runs) <= 75
    assert mean(run["by_samples"]["1000"] for run in runs) >= 88


def test_on_digits_none_forgets_and_joint_does_not():
    for method, low, high in (("none", 0, 30), ("joint", 95, 100)):
        runs = committed_runs("digits", method, "paper")
        assert len(runs) >= 5
        assert low <= mean(run["accuracy"] for run in runs) <= high


def within_task(run: dict) -> float:
    """The mean of the last row: all tasks after the last one, choosing within the task."""
    return mean(run["accuracy_matrix_within_task"][-1])


def test_on_mnist_the_penalties_protect_what_none_forgets_within_the_tasks():
    none = mean(map(within_task, committed_runs("mnist", "none", "paper")))
    for method in ("ewc", "si"):
        runs = committed_runs("mnist", method, "paper")
        assert mean(run["accuracy"] for run in runs) < 25
        assert mean(map(within_task, runs)) > none + 20


def test_on_mnist_every_method_with_five_seeds_is_where_the_paper_is():
    rows = paper_table("2", committed(), "paper", ["mnist"]).rows
    wide = [row for row in rows if row.n >= 5]
    assert len(wide) >= 7
    assert {row.method: row.verdict for row in wide} == {row.method: "yes" for row in wide}


def test_on_cifar_the_generative_classifier_is_where_the_papers_table_4_is():
    for benchmark, margin in (("cifar10", 1.0), ("cifar100", 0.6)):
        (run,) = committed_runs(benchmark, "gc", "paper", samples=10)
        difference = run["by_samples"]["10"] - paper.TABLE_4[benchmark][10][0]
        assert abs(difference) < margin
