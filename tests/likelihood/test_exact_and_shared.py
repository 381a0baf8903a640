"""Closed form, Gram form and shared prior samples against what they must equal."""

from itertools import islice

import pytest
import torch
from torch.distributions import MultivariateNormal

from cilbook import random
from cilbook.bank import VAEBank
from cilbook.likelihood import closed_form, gram, prior_samples
from cilbook.likelihood.importance_sampling import importance_sampling
from cilbook.random import even_normal


def normal(bank: VAEBank, label: int, x: torch.Tensor) -> torch.Tensor:
    layer = bank[label].decoder[0].double()
    covariance = torch.eye(12).double() + layer.weight @ layer.weight.T
    constant = 12 / 2 * torch.log(torch.tensor(2 * torch.pi))
    return MultivariateNormal(layer.bias, covariance).log_prob(x.double()) + constant


def test_the_closed_form_is_torchs_multivariate_normal(linear):
    x = 5 * torch.randn(30, 12)
    expected = torch.stack([normal(linear, c, x) for c in linear.classes], 1)
    torch.testing.assert_close(
        closed_form.closed_form(linear, x).double(), expected, rtol=1e-6, atol=1e-4
    )


def test_the_closed_form_is_precise_for_features_far_from_the_mean(linear):
    """|r|^2 - |P r|^2 cancels: in float32 alone, large features would lose the answer."""
    x = 300 * torch.rand(20, 12).double()
    expected = torch.stack([normal(linear, c, x) for c in linear.classes], 1)
    found = closed_form.closed_form(linear, x)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-3)


def test_rows_do_not_depend_on_their_neighbours(linear, monkeypatch):
    x = torch.rand(25, 12)
    whole = closed_form.closed_form(linear, x)
    monkeypatch.setattr(closed_form, "_ROWS", 7)
    torch.testing.assert_close(closed_form.closed_form(linear, x), whole)


def test_the_gram_form_equals_decoding(hidden):
    vae, x = hidden[4], torch.rand(6, 12)
    z = torch.randn(5, 6, 3)
    torch.testing.assert_close(
        gram.GramDecoder(vae).observe(x)(z), vae.log_observation(x, z, "gaussian")
    )


def test_the_gram_form_works_for_a_linear_decoder_too(linear):
    vae, x, z = linear[0], torch.rand(6, 12), torch.randn(5, 6, 4)
    torch.testing.assert_close(
        gram.GramDecoder(vae).observe(x)(z), vae.log_observation(x, z, "gaussian")
    )


def test_prior_samples_converge_to_the_closed_form(linear):
    x = torch.rand(20, 12)
    exact = closed_form.closed_form(linear, x)
    errors = [
        (prior_samples.prior_samples(linear, x, s).log_p - exact)
        .square()
        .mean()
        .sqrt()
        .item()
        for s in (10, 1000, 50_000)
    ]
    assert errors == sorted(errors, reverse=True) and errors[-1] < 0.03


def test_prior_samples_by_hand(hidden, monkeypatch):
    """Blocks of codes and of images change nothing but the order of the sums."""
    x = torch.rand(9, 12)
    monkeypatch.setattr(prior_samples, "_ROWS", 4)
    found = prior_samples.prior_samples(hidden, x, 700, seed=3).log_p
    for column, label in enumerate(hidden.classes):
        blocks = islice(even_normal(3, 3, "prior samples", label), 2)
        z = torch.cat([*blocks])[:700]
        a = hidden[label].log_observation(x, z[:, None].expand(700, 9, 3), "gaussian")
        expected = a.logsumexp(0) - torch.tensor(700.0).log()
        torch.testing.assert_close(found[:, column], expected)


def test_evenly_spread_codes_are_worth_at_least_twice_as_many_independent_ones(linear):
    x = torch.rand(20, 12)
    exact = closed_form.closed_form(linear, x)[:, 0]

    def mean_square(estimates: list[torch.Tensor]) -> float:
        return (torch.stack(estimates) - exact).square().mean().item()

    def independent(seed: int) -> torch.Tensor:
        z = random.normal((1024, 4), seed, "independent")
        a = linear[0].log_observation(x, z[:, None].expand(1024, 20, 4), "gaussian")
        return a.logsumexp(0) - torch.tensor(1024.0).log()

    def even(seed: int) -> torch.Tensor:
        return prior_samples.prior_samples(linear, x, 1024, seed=seed).log_p[:, 0]

    seeds = range(10)
    assert 2 * mean_square([*map(even, seeds)]) < mean_square([*map(independent, seeds)])


def test_prior_samples_and_the_encoders_agree_in_the_limit(hidden):
    x = torch.rand(10, 12)
    shared = prior_samples.prior_samples(hidden, x, 40_000).log_p
    own = importance_sampling(hidden, x, [4000], observation="gaussian")[4000]
    torch.testing.assert_close(shared, own, rtol=0, atol=0.05)


def test_fewer_than_one_sample_is_refused(hidden):
    with pytest.raises(ValueError, match="at least 1, got 0"):
        prior_samples.prior_samples(hidden, torch.rand(2, 12), 0)
