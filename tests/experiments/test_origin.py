"""Stored numbers say where they come from."""

import pytest

from cilbook.experiments.origin import origin_banner, origins, ranges

MADE = {"commit": "0123456789abcdef", "created": "2026-08-01T10:00:00+00:00"}
MADE |= {"device": "cpu", "cpu": "<Fast> CPU", "threads": 1}


def stored(method: str, seed: int, budget: str = "paper", **config: object) -> dict:
    """A run as the store gives it, as far as its origin goes."""
    run = {"benchmark": "mnist", "method": method, "seed": seed, "budget": budget}
    return run | {"config": config, "provenance": MADE}


RUNS = [stored("gc", s, samples=1000) for s in (2, 4, 3)] + [stored("none", 11)]


@pytest.mark.parametrize(
    ("numbers", "text"),
    [([5], "5"), ([2, 1], "1, 2"), ([1, 2, 3, 7], "1–3, 7"), ([3, 3, 4, 5], "3–5")],
)
def test_neighbouring_seeds_are_drawn_together(numbers, text):
    assert ranges(numbers) == text


def test_there_is_one_row_per_method_budget_and_s():
    table = origins(RUNS + [stored("gc", 9, samples=10)])
    shown = table[["method", "S", "runs", "seeds", "commit", "made"]].values.tolist()
    assert shown == [
        ["none", "–", "1", "11", "0123456", "2026-08-01"],
        ["gc", "10", "1", "9", "0123456", "2026-08-01"],
        ["gc", "1000", "3", "2–4", "0123456", "2026-08-01"],
    ]


def test_a_banner_names_data_budget_seeds_and_device_and_is_escaped():
    text = origin_banner(RUNS)
    assert "Read from 4 stored runs" in text
    assert "data MNIST · budget <code>paper</code> · seeds 2–4, 11 · device cpu" in text
    assert "&lt;Fast&gt; CPU, 1 thread" in text
