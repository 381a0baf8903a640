import pytest
import torch
from torch.distributions import Categorical, Independent, MixtureSameFamily, Normal

from cilbook.nets.bir import BIRNet
from cilbook.nets.initialise import build
from cilbook.random import stream

NETWORKS = {
    "cifar100": (lambda: BIRNet([1024, 2000, 2000], 100, latent=100), 12_925_224),
    "core50": (lambda: BIRNet([512, 1024], 10, latent=200), 1_679_986),
}


def small(closed: float = 0.6) -> BIRNet:
    return build(lambda: BIRNet([6, 50, 40], 3, latent=2, closed=closed), stream(0, "bir"))


def one_hot(labels: list[int]) -> torch.Tensor:
    return torch.eye(3)[labels]


@pytest.mark.parametrize("name", NETWORKS)
def test_the_networks_have_the_papers_parameter_counts(name):
    architecture, expected = NETWORKS[name]
    with torch.device("meta"):
        assert sum(p.numel() for p in architecture().parameters()) == expected


@pytest.mark.parametrize("name", NETWORKS)
def test_a_pass_there_and_back_on_the_meta_device(name):
    with torch.device("meta"):
        net = NETWORKS[name][0]()
        width, classes = net.output.out_features, net.classifier.out_features
        logits, mean, log_variance = net(torch.rand(4, width))
        again = net.decode(mean, logits.softmax(1))
        density = net.prior.log_density(mean, logits.softmax(1))
    assert logits.shape == (4, classes) and mean.shape == log_variance.shape
    assert again.shape == (4, width) and density.shape == (4,) and density.is_meta


def test_the_prior_starts_standard_normal():
    net = build(NETWORKS["cifar100"][0], stream(0, "bir"))
    for parameter in (net.prior.means, net.prior.log_variances):
        assert abs(parameter.mean()) < 0.05 and abs(parameter.std() - 1) < 0.05
    assert not torch.equal(net.prior.means, net.prior.log_variances)


def test_masks_are_drawn_for_every_hidden_layer_with_the_asked_share_of_zeros():
    net = build(lambda: BIRNet([8, 900, 700], 20, latent=3, closed=0.7), stream(0, "bir"))
    assert [layer.mask.shape for layer in net.gated] == [(20, 700), (20, 900)]
    for layer in net.gated:
        assert set(layer.mask.unique().tolist()) == {0.0, 1.0}
        assert abs(layer.mask.mean() - 0.3) < 0.02
    assert not torch.equal(net.gated[0].mask[0], net.gated[0].mask[1])


def test_masks_are_saved_with_the_weights_but_are_no_parameters():
    net = small()
    assert "gated.0.mask" in net.state_dict()
    assert not any("mask" in name for name, _ in net.named_parameters())


def test_a_gate_acts_before_the_relu_on_the_units_its_class_silences():
    layer, x = small().gated[0], torch.randn(5, 2)
    for label in range(3):
        out = layer(x, one_hot([label] * 5))
        assert out[:, layer.mask[label] == 0].eq(0).all()
        expected = (x @ layer.linear.weight.T + layer.linear.bias).relu()
        torch.testing.assert_close(out, expected * layer.mask[label])


def test_soft_shares_mix_the_gates():
    layer, x = small().gated[0], torch.randn(4, 2)
    shares = torch.tensor([[0.5, 0.3, 0.2]]).expand(4, 3)
    gate = 0.5 * layer.mask[0] + 0.3 * layer.mask[1] + 0.2 * layer.mask[2]
    torch.testing.assert_close(layer(x, shares), (layer.linear(x) * gate).relu())


def test_with_nothing_closed_the_class_does_not_matter_to_the_decoder():
    net, z = small(closed=0.0), torch.randn(3, 2)
    torch.testing.assert_close(
        net.decode(z, one_hot([0, 0, 0])), net.decode(z, one_hot([2, 1, 0]))
    )


def test_the_mixture_density_equals_torchs():
    prior, z = small().prior, torch.randn(7, 2)
    shares = torch.rand(7, 3).softmax(1)
    modes = Independent(Normal(prior.means, (prior.log_variances / 2).exp()), 1)
    expected = torch.stack(
        [
            MixtureSameFamily(Categorical(row), modes).log_prob(one)
            for row, one in zip(shares, z, strict=True)
        ]
    )
    constant = torch.log(torch.tensor(2 * torch.pi))  # k/2 log 2 pi with k = 2
    torch.testing.assert_close(prior.log_density(z, shares) - constant, expected)


def test_a_single_class_gives_its_own_density_and_finite_gradients():
    prior = small().prior
    z = torch.randn(4, 2, requires_grad=True)
    prior.log_density(z, one_hot([1, 1, 0, 2])).sum().backward()
    assert z.grad.isfinite().all() and prior.means.grad.isfinite().all()
    assert prior.log_variances.grad.isfinite().all()


def test_samples_have_the_mean_and_variance_of_their_class():
    prior = small().prior
    z = prior.sample(torch.full((20_000,), 2), torch.randn(20_000, 2))
    torch.testing.assert_close(z.mean(0), prior.means[2], rtol=0, atol=0.1)
    variance = prior.log_variances[2].exp()
    torch.testing.assert_close(z.var(0), variance, rtol=0.1, atol=0)
