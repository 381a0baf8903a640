import pytest
import torch

from cilbook.nets.generators import conv5_vae, slim_resnet_vae
from cilbook.nets.initialise import build
from cilbook.nets.vae import dense_vae
from cilbook.random import stream

GENERATORS = {
    "mnist": (lambda: dense_vae([784, 400, 400], 100, sigmoid=True), (784,), 1_069_684),
    "cifar10": (lambda: slim_resnet_vae(100), (3, 32, 32), 2_393_038),
    "cifar100": (lambda: conv5_vae(100), (3, 32, 32), 13_795_687),
}


@pytest.mark.parametrize("name", GENERATORS)
def test_the_generators_have_the_papers_parameter_counts(name):
    architecture, _, expected = GENERATORS[name]
    with torch.device("meta"):
        assert sum(p.numel() for p in architecture().parameters()) == expected


@pytest.mark.parametrize("name", GENERATORS)
def test_a_generators_loss_on_the_meta_device_has_no_tensor_left_elsewhere(name):
    architecture, shape, _ = GENERATORS[name]
    with torch.device("meta"):
        vae = architecture()
        loss = vae(torch.rand(4, *shape), torch.randn(4, vae.latent), "gaussian")
        images = vae.decode(torch.randn(5, vae.latent))
    assert loss.shape == (4,) and loss.is_meta
    assert images.shape == (5, *shape)


@pytest.mark.parametrize("name", ["cifar10", "cifar100"])
def test_a_generators_output_is_linear(name):
    """Negative pixels must be possible: the images are standardised."""
    vae = build(GENERATORS[name][0], stream(0, "vae")).eval()
    with torch.no_grad():
        images = vae.decode(torch.randn(8, 100))
    assert images.isfinite().all() and (images < 0).any() and (images > 0).any()


def test_the_encoder_of_the_cifar10_generator_ends_in_a_relu():
    vae = build(GENERATORS["cifar10"][0], stream(0, "vae")).eval()
    with torch.no_grad():
        hidden = vae.body(torch.randn(2, 3, 32, 32))
    assert hidden.shape == (2, 2560) and hidden.min() == 0
