import pytest
import torch
from torch.distributions import MultivariateNormal

from cilbook.bank import VAEBank
from cilbook.likelihood import importance_sampling as module
from cilbook.likelihood.importance_sampling import (
    ROWS,
    importance_sampling,
    log_weights,
    noise,
)
from cilbook.nets.vae import dense_vae, kl


def trained_bank(architecture, dimensions: int, classes=(0, 1, 2), **options):
    bank = VAEBank(architecture, learning_rate=0.01, **options)
    generator = torch.Generator().manual_seed(0)
    for _ in range(30):
        x = torch.rand(8 * len(classes), dimensions, generator=generator)
        bank.learn(x, torch.tensor(classes).repeat_interleave(8))
    return bank


@pytest.fixture(scope="module")
def bank():
    options = {"observation": "bernoulli"}
    return trained_bank(lambda: dense_vae([6, 8], 2, sigmoid=True), 6, **options)


@pytest.fixture(scope="module")
def linear_bank():
    return trained_bank(lambda: dense_vae([5], 2), 5, observation="gaussian")


def exact(bank: VAEBank, label: int, x: torch.Tensor) -> torch.Tensor:
    """log N(x; b, I + W W') + D/2 log 2 pi: a linear decoder has a closed form."""
    layer = bank[label].decoder[0]
    covariance = torch.eye(len(layer.bias)) + layer.weight @ layer.weight.T
    constant = len(layer.bias) / 2 * torch.log(torch.tensor(2 * torch.pi))
    return MultivariateNormal(layer.bias, covariance).log_prob(x) + constant


def test_it_converges_to_the_closed_form_of_a_linear_vae(linear_bank):
    x = torch.rand(40, 5)
    grid = [1, 10, 100, 10_000]
    estimates = importance_sampling(linear_bank, x, grid, observation="gaussian")
    truth = torch.stack([exact(linear_bank, c, x) for c in linear_bank.classes], 1)
    errors = [(estimates[s] - truth).square().mean().sqrt().item() for s in grid]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 0.02


def test_the_elbo_is_below_the_log_likelihood(linear_bank):
    """E_q[log p(x|z)] - KL <= log p(x), the expectation from 4000 samples."""
    x, vae = torch.rand(20, 5), linear_bank[1]
    mean, log_variance = vae.encode(x)
    z = mean + (log_variance / 2).exp() * torch.randn(4000, 20, 2)
    observed = vae.log_observation(x, z, "gaussian").mean(0)
    elbo = observed - kl(mean, log_variance)
    assert (elbo < exact(linear_bank, 1, x) + 0.02).all()


def test_one_sample_is_the_elbo_on_average(bank):
    x = torch.rand(3, 6)
    scores = torch.stack(
        [
            importance_sampling(bank, x, [1], observation="bernoulli", seed=s)[1]
            for s in range(600)
        ]
    )
    vae = bank[0]
    mean, log_variance = vae.encode(x)
    z = mean + (log_variance / 2).exp() * torch.randn(4000, 3, 2)
    elbo = vae.log_observation(x, z, "bernoulli").mean(0) - kl(mean, log_variance)
    error = scores[:, :, 0].std(0) / 600**0.5 + 0.01
    assert ((scores[:, :, 0].mean(0) - elbo).abs() < 5 * error).all()


def test_log_weights_by_hand():
    vae = dense_vae([2], 1)
    state = {
        "mean.weight": [[1.0, 1.0]],
        "mean.bias": [0.0],
        "log_variance.weight": [[0.0, 1.0]],
        "decoder.0.weight": [[1.0], [2.0]],
        "decoder.0.bias": [0.0, 0.0],
    }
    vae.load_state_dict({k: torch.tensor(v) for k, v in state.items()})
    x, eps = torch.tensor([[1.0, 0.5]]), torch.tensor([[[0.3]], [[-1.0]]])
    expected = []
    for e in (0.3, -1.0):
        z = torch.tensor(1.5 + 2.718281828 ** (0.5 / 2) * e)
        observed = -((1 - z) ** 2 + (0.5 - 2 * z) ** 2) / 2
        expected.append(observed - z**2 / 2 + (0.5 + e**2) / 2)
    actual = log_weights(vae, x, vae.encode(x), eps, "gaussian")
    torch.testing.assert_close(actual[:, 0], torch.stack(expected))


@pytest.mark.parametrize("memory_mb", [0.001, 0.05, 1.0])
def test_any_memory_budget_gives_the_same_scores(bank, memory_mb):
    x = torch.rand(3 * ROWS + 7, 6)
    grid = [1, 5, 16, 50]
    options = {"observation": "gaussian", "seed": 4}
    usual = importance_sampling(bank, x, grid, **options)
    tight = importance_sampling(bank, x, grid, memory_mb=memory_mb, **options)
    for s in grid:
        assert (usual[s] - tight[s]).abs().max() < 1e-4


def test_a_row_keeps_its_score_whatever_rows_follow(bank):
    x = torch.rand(2 * ROWS + 9, 6)
    whole = importance_sampling(bank, x, [30], observation="gaussian")[30]
    for n in (1, 10, ROWS, ROWS + 1):
        part = importance_sampling(bank, x[:n], [30], observation="gaussian")[30]
        assert (whole[:n] - part).abs().max() < 1e-4


def test_the_first_samples_of_a_long_run_are_those_of_a_short_one(bank):
    x = torch.rand(20, 6)
    long = importance_sampling(bank, x, [1, 7, 40], observation="gaussian")
    for s in (1, 7):
        short = importance_sampling(bank, x, [s], observation="gaussian")[s]
        assert (long[s] - short).abs().max() < 1e-4


def test_a_class_keeps_its_scores_whatever_classes_stand_beside_it(bank):
    alone = trained_bank(
        lambda: dense_vae([6, 8], 2, sigmoid=True), 6, observation="bernoulli"
    )
    x = torch.rand(5, 6)
    before = importance_sampling(alone, x, [20], observation="gaussian")[20]
    alone.learn(torch.rand(4, 6), torch.full((4,), 7))
    after = importance_sampling(alone, x, [20], observation="gaussian")[20]
    assert torch.equal(before, after[:, :3])


def test_noise_is_independent_between_rows_classes_and_samples():
    a = noise(0, 1, 0, 2 * ROWS, 0, 40, 3)
    b = noise(0, 2, 0, 2 * ROWS, 0, 40, 3)
    c = noise(1, 1, 0, 2 * ROWS, 0, 40, 3)
    n = a.numel()
    for other in (b, c):
        correlation = torch.corrcoef(torch.stack([a.flatten(), other.flatten()]))[0, 1]
        assert correlation.abs() < 5 / n**0.5
    rows = a.permute(1, 0, 2).flatten(1)
    worst = (torch.corrcoef(rows) - torch.eye(2 * ROWS)).abs().max()
    assert worst < 6 / (40 * 3) ** 0.5


def test_noise_is_addressed_by_row_and_sample_alone():
    whole = noise(5, 3, 0, 3 * ROWS, 0, 50, 2)
    part = noise(5, 3, ROWS, ROWS + 10, 13, 37, 2)
    assert torch.equal(part, whole[13:37, ROWS : 2 * ROWS + 10])


def test_memory_does_not_grow_with_the_number_of_samples(bank, monkeypatch):
    sizes = []

    def recorded(posterior, observed, eps):
        sizes.append(eps.shape[0] * eps.shape[1])
        return weigh(posterior, observed, eps)

    weigh = module.weigh
    monkeypatch.setattr(module, "weigh", recorded)
    peaks = []
    for s in (100, 3000):
        sizes.clear()
        options = {"observation": "gaussian", "memory_mb": 0.2}
        importance_sampling(bank, torch.rand(ROWS, 6), [s], **options)
        peaks.append(max(sizes))
    assert peaks[1] == peaks[0] or peaks[1] * 6 * 4 * 4 <= 0.2 * 2**20


@pytest.mark.parametrize("grid", [[], [0, 10], [-1]])
def test_fewer_than_one_sample_is_refused(bank, grid):
    with pytest.raises(ValueError, match="at least 1"):
        importance_sampling(bank, torch.rand(2, 6), grid, observation="gaussian")
