"""Racing: where samples go, when it stops, and that it is still importance sampling."""

import pytest
import torch

from cilbook.likelihood.closed_form import closed_form
from cilbook.likelihood.decision import Likelihoods, risks
from cilbook.likelihood.racing import GROWTH, START, racing, rounds, still_open

INF = torch.inf


def test_the_chance_to_be_ahead_is_the_normal_tail():
    """r = Phi(-gap / sqrt(e1^2 + e2^2)): a gap of two over sqrt(0.6^2 + 0.8^2) = 1."""
    log_p = torch.tensor([[3.0, 1.0]], dtype=torch.float64)
    found = risks(log_p, torch.tensor([[0.6, 0.8]], dtype=torch.float64))
    expected = torch.distributions.Normal(0, 1).cdf(torch.tensor(-2.0)).item()
    assert found[0].tolist() == pytest.approx([0.0, expected], rel=1e-5)


def test_exact_values_leave_no_risk_and_a_tie_is_a_toss():
    exact = torch.zeros(2, 2)
    found = Likelihoods(torch.tensor([[1.0, 2.0], [5.0, 5.0]]), exact, exact[0], [3, 8])
    assert found.winner.tolist() == [8, 3]
    assert found.risk.tolist() == [0.0, 0.5]


def test_a_class_with_unknown_spread_may_still_win():
    chances = risks(torch.tensor([[0.0, -50.0]]), torch.tensor([[0.1, INF]]))
    assert chances[0, 1].item() == 0.5


def test_rounds_grow_and_end_at_the_most():
    assert list(rounds(START * GROWTH + 5))[-1] == (START * GROWTH, START * GROWTH + 5)
    assert list(rounds(3)) == [(0, 3)]


def test_hopeless_classes_drop_out_and_settled_images_stop():
    log_p = torch.tensor([[0.0, -0.1, -9.0], [0.0, -9.0, -9.0]])
    going_on = still_open(log_p, torch.full_like(log_p, 0.2), tolerance=0.01)
    assert going_on.tolist() == [[True, True, False], [False, False, False]]


def test_many_small_chances_keep_an_image_in_the_race():
    """Each is below the tolerance, all of them together are not."""
    log_p = torch.tensor([[0.0] + [-0.95] * 9])
    error = torch.full_like(log_p, 0.28)
    assert risks(log_p, error).max() < 0.01
    assert still_open(log_p, error, tolerance=0.01).all()


def test_it_converges_to_the_closed_form(linear):
    x = torch.rand(20, 12)
    found = racing(linear, x, 20_000, observation="gaussian", confidence=1 - 1e-9)
    leading = found.log_p.argmax(1, keepdim=True)
    exact = closed_form(linear, x)
    error = (found.log_p - exact).gather(1, leading)
    assert error.abs().max() < 5 * found.standard_error.gather(1, leading).max() + 1e-3
    assert (found.passes <= 3 * 20_000).all()


def test_safe_decisions_are_right(linear):
    x = torch.rand(400, 12)
    found = racing(linear, x, 3000, observation="gaussian", confidence=0.99)
    exact = closed_form(linear, x).argmax(1)
    safe = found.risk <= 0.01
    assert safe.sum() > 40
    assert (found.log_p.argmax(1) == exact)[safe].double().mean() >= 0.98


def test_close_calls_cost_more_than_easy_ones(linear):
    x = torch.rand(300, 12)
    found = racing(linear, x, 4000, observation="gaussian")
    two = closed_form(linear, x).topk(2).values
    gap = two[:, 0] - two[:, 1]
    easy, close = gap.argsort(descending=True)[:60], gap.argsort()[:60]
    assert found.passes[close].mean() > 3 * found.passes[easy].mean()


@pytest.mark.parametrize("bank", ["linear", "hidden"])
def test_neither_neighbours_nor_chunks_change_an_estimate(bank, request):
    bank = request.getfixturevalue(bank)
    x = torch.rand(30, 12)
    whole = racing(bank, x, 500, observation="gaussian", seed=3)
    alone = racing(bank, x[11:12], 500, observation="gaussian", seed=3)
    small = racing(bank, x, 500, observation="gaussian", seed=3, memory_mb=0.01)
    torch.testing.assert_close(alone.log_p[0], whole.log_p[11])
    torch.testing.assert_close(small.log_p, whole.log_p)
    assert torch.equal(small.passes, whole.passes)


def test_the_prior_takes_part_in_the_decision(linear):
    """Under a prior that decides all, nothing is left to sample for."""
    x, prior = torch.rand(10, 12), torch.tensor([0.0, -90.0, -90.0])
    found = racing(linear, x, 4000, observation="gaussian", log_prior=prior)
    assert (found.passes == 3 * START).all()


@pytest.mark.parametrize("wrong", [{"most": 0}, {"most": 9, "confidence": 1.0}])
def test_senseless_demands_are_refused(linear, wrong):
    with pytest.raises(ValueError, match="must"):
        racing(linear, torch.rand(2, 12), observation="gaussian", **wrong)
