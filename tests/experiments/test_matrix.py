"""The main table shows every cell with what it is compared with."""

import pytest
from bs4 import BeautifulSoup

from cilbook.experiments.matrix import Matrix


def stored(benchmark: str, method: str, seed: int, value: float, **config: int) -> dict:
    """A run as the store gives it, all its accuracies equal."""
    run = {"benchmark": benchmark, "method": method, "seed": seed, "budget": "paper"}
    run |= {"config": config, "accuracy": value, "accuracy_plain": value}
    run |= {"accuracy_by_task_mean": value}
    return run | ({"estimator": "importance-sampling", "by_samples": {}} if config else {})


RUNS = [
    stored("mnist", "none", 11, 19.91),
    stored("mnist", "none", 12, 19.93),
    stored("mnist", "si", 11, 50.0),
    stored("mnist", "si", 12, 51.0),
    stored("mnist", "gc", 2, 93.7, samples=10_000),
    stored("digits", "none", 11, 20.0),
]


@pytest.fixture
def table() -> dict[str, list[str]]:
    """The cells of each row, as a reader sees them."""
    page = BeautifulSoup(Matrix(RUNS)._repr_html_(), "html.parser")
    rows = [[" ".join(c.text.split()) for c in row(["th", "td"])] for row in page("tr")]
    return {row[0]: row[1:] for row in rows}


def test_only_benchmarks_of_the_paper_that_were_run_have_a_column(table):
    assert table["method"] == ["MNIST"]


def test_a_cell_shows_ours_the_papers_and_whether_they_agree(table):
    assert table["None"] == ["19.92 ± 0.01 n = 2paper 19.92 ± 0.02 ✓ agrees"]
    assert table["SI"] == ["50.50 ± 0.50 n = 2paper 19.95 ± 0.11 ✗ differs"]


def test_one_seed_proves_nothing_and_s_is_named(table):
    (cell,) = table["Generative classifier"]
    assert cell == "93.70 n = 1, S = 10 000paper 93.79 ± 0.08 one seed"


def test_a_method_that_was_not_run_has_the_papers_number_alone(table):
    assert table["SLDA"] == ["paper 87.30 ± 0.02"]


def test_a_dash_of_the_paper_is_a_dash(table):
    dashes = {name: row for name, row in table.items() if row == ["–"]}
    assert set(dashes) <= {"BI-R", "BI-R + SI", "BI-R+SI"}


def test_agreement_is_counted_over_cells_with_more_than_one_seed():
    assert Matrix(RUNS).counts() == (
        "Of 2 cells with more than one seed, 1 agree with the paper."
    )
