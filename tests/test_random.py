import numpy as np
import torch

from cilbook.random import normal, stream


def test_an_address_always_gives_the_same_numbers():
    assert torch.equal(normal((3, 4), 1, "a", 2), normal((3, 4), 1, "a", 2))


def test_different_addresses_give_independent_numbers():
    addresses = [(0, "a", 0), (1, "a", 0), (0, "b", 0), (0, "a", 1), (0, "a", 0, 0)]
    draws = np.stack([stream(*a).standard_normal(4000) for a in addresses])
    correlation = np.corrcoef(draws) - np.eye(len(draws))
    assert np.abs(correlation).max() < 5 / 4000**0.5


def test_the_global_generators_are_never_touched():
    torch.manual_seed(0)
    np.random.seed(0)
    before = torch.get_rng_state(), np.random.get_state()[1].copy()
    normal((5,), 0, "anything")
    assert torch.equal(before[0], torch.get_rng_state())
    assert (before[1] == np.random.get_state()[1]).all()
