import pytest

from cilbook.experiments.paper import TABLE_4, seeds
from cilbook.experiments.tables import by_samples, mean_and_sem, samples_table

RUNS = [
    {"by_samples": {"1": 70.0, "10": 80.0, "100": 85.0}},
    {"by_samples": {"1": 72.0, "10": 84.0}},
]


def test_the_standard_error_is_the_sample_deviation_over_root_n():
    assert mean_and_sem([1.0, 2.0, 3.0, 6.0]) == (3.0, pytest.approx(2.160247 / 2))
    assert mean_and_sem([5.0]) == (5.0, None)


def test_only_numbers_of_samples_that_all_runs_share_are_averaged():
    assert by_samples(RUNS) == {1: (71.0, 1.0), 10: (82.0, 2.0)}


def test_a_table_has_a_dash_where_a_row_has_no_number():
    table = samples_table({"ours": by_samples(RUNS), "paper": TABLE_4["mnist"]})
    assert list(table.columns)[:2] == ["S = 1", "S = 10"]
    assert table.loc["ours", "S = 10"] == "82.00 ± 2.00"
    assert table.loc["ours", "S = 1\N{NARROW NO-BREAK SPACE}000"] == "–"
    assert table.loc["paper", "S = 10\N{NARROW NO-BREAK SPACE}000"] == "93.79 ± 0.08"


def test_the_papers_seeds_start_at_two_for_gc_and_at_eleven_for_the_rest():
    assert seeds("gc", 3) == [2, 3, 4]
    assert seeds("none", 2) == [11, 12]
