import pytest
import torch
from torch import nn

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


def test_the_outputs_of_the_generators_are_linear():
    """Negative pixels must be possible: the images are standardised."""
    last_stage = slim_resnet_vae(100).decoder[-2:]
    kinds = [type(block.activation) for block in last_stage]
    assert kinds == [nn.ReLU, nn.Identity]
    assert isinstance(conv5_vae(100).decoder[-1], nn.ConvTranspose2d)


def kinds(layers: nn.Sequential) -> list[str]:
    return [type(layer).__name__ for layer in layers]


def test_the_decoders_have_a_relu_after_every_layer_but_the_last():
    """On CIFAR-100 also on the 1024 features from which the image grows."""
    with torch.device("meta"):
        grown, mirrored = conv5_vae(100).decoder, slim_resnet_vae(100).decoder
    deconv = ["ConvTranspose2d", "BatchNorm2d", "ReLU"]
    dense = ["Linear", "ReLU"] * 3 + ["Unflatten"]
    assert kinds(grown) == [*dense, *deconv * 4, "ConvTranspose2d"]
    assert kinds(mirrored) == ["Linear", "ReLU", "Unflatten"] + ["Block"] * 10


def test_the_last_stage_of_the_mirror_has_biases_in_place_of_batch_norm():
    last_stage = slim_resnet_vae(100).decoder[-2:]
    layers = [m for m in last_stage.modules() if isinstance(m, nn.ConvTranspose2d)]
    assert len(layers) == 5 and all(layer.bias is not None for layer in layers)
    assert not any(isinstance(m, nn.BatchNorm2d) for m in last_stage.modules())


def test_the_encoder_of_the_cifar10_generator_ends_in_a_relu():
    vae = build(GENERATORS["cifar10"][0], stream(0, "vae")).eval()
    with torch.no_grad():
        hidden = vae.body(torch.randn(2, 3, 32, 32))
    assert hidden.shape == (2, 2560) and hidden.min() == 0
