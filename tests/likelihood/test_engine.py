"""The door to all likelihoods: what `auto` chooses, and what every way reports."""

import pytest
import torch

from cilbook.likelihood.engine import choose, likelihoods, refusal
from cilbook.nets.vae import conv_vae, dense_vae


def test_every_way_finds_the_same_likelihoods(linear):
    x = torch.rand(15, 12)
    exact = likelihoods(linear, x, "closed-form")
    for way in ("importance-sampling", "gram", "prior-samples"):
        found = likelihoods(linear, x, way, samples=5000, seed=1)
        error = (found.log_p - exact.log_p).abs()
        assert (error < 5 * found.standard_error + 1e-3).all(), way
        assert (found.standard_error > 0).all(), way


def test_passes_are_counted(hidden):
    x = torch.rand(10, 12)
    spent = {
        way: likelihoods(hidden, x, way, samples=200).passes.sum().item()
        for way in ("importance-sampling", "prior-samples", "racing")
    }
    assert spent["importance-sampling"] == 10 * 3 * 200
    assert spent["prior-samples"] == 3 * 200
    assert 10 * 3 * 16 <= spent["racing"] <= 10 * 3 * 200


@pytest.mark.parametrize(
    ("vae", "observation", "way"),
    [
        (dense_vae([512], 110), "gaussian", "closed-form"),
        (dense_vae([784, 85, 85], 5, sigmoid=True), "gaussian", "prior-samples"),
        (dense_vae([784, 85, 85], 5, sigmoid=True), "bernoulli", "racing"),
        (dense_vae([1024, 85], 20), "gaussian", "racing"),
        (conv_vae([3, 15, 30, 60], 32, 100), "gaussian", "racing"),
    ],
)
def test_auto_takes_the_cheapest_way_that_is_exact_or_safe(vae, observation, way):
    assert choose(vae, observation) == way
    assert refusal(vae, way, observation) == ""


def test_auto_is_what_it_chose(linear):
    x = torch.rand(4, 12)
    assert torch.equal(
        likelihoods(linear, x).log_p, likelihoods(linear, x, "closed-form").log_p
    )


def test_a_way_that_does_not_fit_is_refused_with_its_reason(hidden):
    with pytest.raises(ValueError, match="closed-form is for a linear decoder"):
        likelihoods(hidden, torch.rand(2, 12), "closed-form")
