import pytest
import torch
from torch.distributions import Bernoulli, Normal, kl_divergence

from cilbook.nets.initialise import build
from cilbook.nets.vae import conv_vae, dense_vae, kl
from cilbook.random import stream

CLASS_VAES = {
    "mnist": (lambda: dense_vae([784, 85, 85], 5, sigmoid=True), (784,), 150_134),
    "cifar10": (lambda: conv_vae([3, 15, 30, 60], 32, 100), (3, 32, 32), 346_768),
    "cifar100": (lambda: dense_vae([1024, 85], 20), (1024,), 180_394),
    "core50": (lambda: dense_vae([512], 110), (512,), 169_582),
}


@pytest.mark.parametrize("name", CLASS_VAES)
def test_the_class_vaes_have_the_papers_parameter_counts(name):
    architecture, _, expected = CLASS_VAES[name]
    assert sum(p.numel() for p in architecture().parameters()) == expected


@pytest.mark.parametrize("name", CLASS_VAES)
def test_a_loss_on_the_meta_device_has_no_tensor_left_elsewhere(name):
    architecture, shape, _ = CLASS_VAES[name]
    with torch.device("meta"):
        vae = architecture()
        loss = vae(torch.rand(4, *shape), torch.randn(4, vae.latent), "gaussian")
    assert loss.shape == (4,) and loss.is_meta


def test_the_cifar10_vae_leaves_its_last_convolutions_plain():
    vae = conv_vae([3, 15, 30, 60], 32, 100)
    kinds = [type(layer).__name__ for layer in vae.body]
    assert kinds == ["Conv2d", "BatchNorm2d", "ReLU"] * 2 + ["Conv2d", "Flatten"]
    kinds = [type(layer).__name__ for layer in vae.decoder]
    deconv = "ConvTranspose2d"
    stack = [deconv, "BatchNorm2d", "ReLU"] * 2 + [deconv]
    assert kinds == ["Linear", "Unflatten", *stack]


def test_the_divergence_equals_torchs():
    mean, log_variance = torch.randn(5, 3), torch.randn(5, 3)
    q = Normal(mean, (log_variance / 2).exp())
    expected = kl_divergence(q, Normal(0.0, 1.0)).sum(1)
    torch.testing.assert_close(kl(mean, log_variance), expected)


def test_observation_models_equal_torchs_distributions():
    vae = build(lambda: dense_vae([6, 4], 2, sigmoid=True), stream(0, "vae"))
    x, z = torch.rand(3, 6), torch.randn(7, 3, 2)
    mean = vae.decode(z)
    gaussian = Normal(mean, 1.0).log_prob(x).sum(-1)
    constant = 6 / 2 * torch.log(torch.tensor(2 * torch.pi))
    actual = vae.log_observation(x, z, "gaussian") - constant
    torch.testing.assert_close(actual, gaussian)
    bernoulli = Bernoulli(mean, validate_args=False).log_prob(x).sum(-1)
    torch.testing.assert_close(vae.log_observation(x, z, "bernoulli"), bernoulli)


def test_the_loss_by_hand():
    """L = [1/2 |x - Wz - b|^2 + KL] / D on a linear VAE with one latent dimension."""
    vae = dense_vae([2], 1)
    state = {
        "mean.weight": [[1.0, 0.0]],
        "mean.bias": [0.5],
        "log_variance.weight": [[0.0, 0.0]],
        "decoder.0.weight": [[2.0], [0.0]],
        "decoder.0.bias": [0.0, 1.0],
    }
    vae.load_state_dict({k: torch.tensor(v) for k, v in state.items()})
    x, eps = torch.tensor([[1.0, 3.0]]), torch.tensor([[0.25]])
    z = 1.0 + 0.5 + 0.25
    reconstruction = ((1 - 2 * z) ** 2 + (3 - 1) ** 2) / 2
    divergence = (1.5**2 + 1 - 1 - 0) / 2
    expected = torch.tensor([(reconstruction + divergence) / 2])
    torch.testing.assert_close(vae(x, eps, "gaussian"), expected)


def test_a_bernoulli_observation_of_a_linear_output_is_refused():
    vae = dense_vae([4], 2)
    with pytest.raises(ValueError, match="sigmoid"):
        vae(torch.rand(3, 4), torch.randn(3, 2), "bernoulli")
