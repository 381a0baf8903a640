"""Small banks whose likelihoods are known, or cheap to find out."""

import pytest
import torch

from cilbook.bank import VAEBank
from cilbook.nets.vae import dense_vae


def trained(architecture, dimensions: int) -> VAEBank:
    """Three classes, a few steps on noise."""
    bank = VAEBank(architecture, observation="gaussian", learning_rate=0.01)
    generator = torch.Generator().manual_seed(0)
    for _ in range(30):
        x = torch.rand(24, dimensions, generator=generator)
        bank.learn(x, torch.tensor([0, 4, 7]).repeat_interleave(8))
    return bank


@pytest.fixture(scope="session")
def linear() -> VAEBank:
    return trained(lambda: dense_vae([12], 4), 12)


@pytest.fixture(scope="session")
def hidden() -> VAEBank:
    return trained(lambda: dense_vae([12, 9], 3), 12)
