"""The cost of an iteration: what is fed, and what is timed."""

import pytest

from cilbook.experiments import cost
from cilbook.experiments.cost import iteration_costs
from cilbook.experiments.request import NotDefined


def test_every_method_is_fed_as_a_run_feeds_it_and_timed_in_its_second_task(monkeypatch):
    ticks = iter(range(10**6))
    monkeypatch.setattr(cost, "perf_counter", lambda: next(ticks))  # a second per look
    costs = iteration_costs("digits", ["none", "ewc", "slda", "gc"], iterations=2)
    assert [c.images for c in costs.values()] == [32, 32, 256, 64]
    assert {c.seconds for c in costs.values()} == {0.5}
    assert {c.boundary for c in costs.values()} == {1}


def test_what_the_paper_leaves_out_has_no_cost():
    with pytest.raises(NotDefined, match="dgr is not defined on core50"):
        iteration_costs("core50", ["dgr"])
