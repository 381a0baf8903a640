"""Sums of importance weights: their mean, its error, the effective sample size."""

import pytest
import torch

from cilbook.likelihood.weights import WeightSums, bias_with_samples, effective_size


def log_weights(samples: int, n: int, spread: float = 1.0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(samples)
    return spread * torch.randn(samples, n, generator=generator, dtype=torch.float64) - 500


def summed(a: torch.Tensor, *sizes: int) -> WeightSums:
    sums = WeightSums.empty(a[0])
    for part in a.split(sizes or len(a)):
        sums.add(part)
    return sums


def test_the_sums_are_the_formulas_written_out():
    a = log_weights(40, 3)
    w = (a + 500).exp()
    sums = summed(a)
    torch.testing.assert_close(sums.estimate, w.mean(0).log() - 500)
    size = w.sum(0) ** 2 / w.square().sum(0)
    torch.testing.assert_close(sums.effective_size, size)
    torch.testing.assert_close(effective_size(a), size)
    variance = (1 / size - 1 / 40) / (1 - 1 / size)
    torch.testing.assert_close(sums.standard_error, variance.sqrt())


def test_adding_in_parts_changes_nothing():
    a = log_weights(40, 3)
    whole, parts = summed(a), summed(a, 1, 30, 9)
    for name in ("estimate", "effective_size", "standard_error", "samples"):
        torch.testing.assert_close(getattr(parts, name), getattr(whole, name))


def test_entries_can_be_continued_on_their_own():
    a = log_weights(20, 4)
    sums, rows = summed(a[:10]), torch.tensor([1, 3])
    mine = sums[rows,]
    mine.add(a[10:, rows])
    sums[rows,] = mine
    assert sums.samples.tolist() == [10, 20, 10, 20]
    torch.testing.assert_close(sums.estimate[rows], summed(a).estimate[rows])
    torch.testing.assert_close(sums.estimate[0], summed(a[:10]).estimate[0])


def test_the_standard_error_is_the_spread_of_repeated_estimates():
    repeated = log_weights(400, 2000, spread=0.7)
    sums = summed(repeated)
    found = sums.standard_error.mean().item()
    assert found == pytest.approx(sums.estimate.std().item(), rel=0.05)


def test_one_weight_says_nothing_about_the_spread():
    assert summed(torch.zeros(1, 1)).standard_error.item() == torch.inf
    one_outweighs_all = torch.tensor([[0.0], [-400.0], [-500.0]])
    assert summed(one_outweighs_all).standard_error.item() == torch.inf


def test_equal_weights_have_no_error():
    sums = summed(torch.full((8, 1), -3.0))
    assert sums.effective_size.item() == pytest.approx(8)
    assert sums.standard_error.item() == pytest.approx(0, abs=1e-3)


def test_the_bias_is_negative_and_fades_with_samples():
    bias = bias_with_samples(log_weights(4000, 200), [1, 10, 100])
    one, ten, hundred = (bias[s].mean().item() for s in (1, 10, 100))
    assert one == pytest.approx(-0.5, abs=0.02)  # log weights N(m, 1): E log w - log E w
    assert one < ten < hundred < 0
    assert hundred == pytest.approx(-(torch.e - 1) / 200, abs=0.003)  # Var(w) / 2 S p^2
