from itertools import islice

import numpy as np
import torch

from cilbook.random import even_normal, normal, stream


def even(blocks: int, *address) -> torch.Tensor:
    return torch.cat([*islice(even_normal(2, *address), blocks)])


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
    even(1, 0, "anything")
    assert torch.equal(before[0], torch.get_rng_state())
    assert (before[1] == np.random.get_state()[1]).all()


def test_evenly_spread_points_belong_to_their_address():
    assert torch.equal(even(2, 1, "a"), even(2, 1, "a"))
    assert not torch.equal(even(1, 1, "a"), even(1, 2, "a"))
    assert not torch.equal(even(1, 1, "a"), even(1, 1, "b"))


def test_evenly_spread_points_are_normal_and_leave_no_gap():
    """Any quarter of the line between two quartiles gets its quarter, block by block."""
    points = even(8, 0, "a").double()
    counts = torch.special.ndtr(points).mul(4).floor().long()
    for dimension in (0, 1):
        assert counts[:512, dimension].bincount().tolist() == [128] * 4
    assert (4 * counts[:, 0] + counts[:, 1]).bincount().tolist() == [256] * 16
    torch.testing.assert_close(points.T.cov(), torch.eye(2).double(), rtol=0, atol=0.02)
