"""The line under a chapter's title tells what really ran."""

import pytest

from cilbook.notebooks.banner import banner, read_parameters

DEFAULTS = """\
benchmark: str = "digits"
budget: str = "quick"
seeds: int = 1
device: str = "cpu"
"""


def test_it_names_data_budget_seeds_device_and_time():
    text = banner(DEFAULTS, {}, 12.4)
    assert "in 12 s: data Digits (8 x 8) · budget `quick` · 1 seed · device cpu (" in text


def test_what_was_injected_counts_not_the_default():
    text = banner(DEFAULTS, {"benchmark": "mnist", "budget": "paper", "seeds": 3}, 1)
    assert "data MNIST · budget `paper` · 3 seeds" in text


def test_a_chapter_that_took_no_time_to_speak_of_took_a_second():
    assert "in 1 s" in banner(DEFAULTS, {}, 0.2)


def test_a_benchmark_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="unknown benchmark 'nist'"):
        banner(DEFAULTS, {"benchmark": "nist"}, 1)


def test_only_assignments_count_as_parameters():
    source = "# how much\nseeds: int = 2\nbudget = 'paper'\nunset: int\n"
    assert read_parameters(source) == {"seeds": 2, "budget": "paper"}
