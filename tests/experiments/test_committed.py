"""What the committed runs promise."""

from statistics import mean

from cilbook.experiments.obtain import committed_runs


def test_on_digits_the_mismatched_bank_needs_many_samples():
    runs = committed_runs("digits", "gc", "paper")[:5]
    assert mean(run["by_samples"]["1"] for run in runs) <= 75
    assert mean(run["by_samples"]["1000"] for run in runs) >= 88


def test_on_digits_none_forgets_and_joint_does_not():
    for method, low, high in (("none", 0, 30), ("joint", 95, 100)):
        runs = committed_runs("digits", method, "paper")
        assert len(runs) >= 5
        assert low <= mean(run["accuracy"] for run in runs) <= high
