"""The base networks of the four benchmarks."""

import pytest
import torch
from torch import nn

from cilbook.nets.conv5 import conv5, conv5_mlp
from cilbook.nets.mlp import mlp
from cilbook.nets.slim_resnet import slim_resnet18

CLASSIFIERS = {
    "mnist": (lambda: mlp([784, 400, 400, 10]), (784,), 10, 478_410),
    "cifar10": (lambda: slim_resnet18(10), (3, 32, 32), 10, 1_094_770),
    "cifar100": (lambda: mlp([1024, 2000, 2000, 100]), (1024,), 100, 6_252_100),
    "cifar100, plastic": (
        lambda: conv5_mlp([2000, 2000], 100),
        (3, 32, 32),
        100,
        6_645_188,
    ),
    "core50": (lambda: mlp([512, 1024, 10]), (512,), 10, 535_562),
}


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_the_classifiers_have_the_papers_parameter_counts(name):
    architecture, _, _, expected = CLASSIFIERS[name]
    with torch.device("meta"):
        assert sum(p.numel() for p in architecture().parameters()) == expected


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_logits_on_the_meta_device_have_no_tensor_left_elsewhere(name):
    architecture, shape, classes, _ = CLASSIFIERS[name]
    with torch.device("meta"):
        logits = architecture()(torch.rand(4, *shape))
    assert logits.shape == (4, classes) and logits.is_meta


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_the_last_layer_is_the_softmax_layer(name):
    """Methods that treat the output layer apart find it at the end."""
    architecture, _, classes, _ = CLASSIFIERS[name]
    with torch.device("meta"):
        head = architecture()[-1]
    assert isinstance(head, nn.Linear) and head.out_features == classes


def test_the_five_layers_keep_the_names_of_the_published_checkpoint():
    names = set(conv5().state_dict())
    assert {
        f"convLayer{i}.conv.{p}" for i in range(1, 6) for p in ("weight", "bias")
    } < names
    assert "convLayer4.bn.running_var" in names
    assert not any(name.startswith("convLayer5.bn") for name in names)
    assert len(names) == 5 * 2 + 4 * 5


def test_the_fifth_layer_is_a_convolution_alone():
    kinds = [[type(part).__name__ for part in layer] for layer in conv5()[:5]]
    assert kinds == [["Conv2d", "BatchNorm2d", "ReLU"]] * 4 + [["Conv2d"]]


def test_the_slim_resnet_shrinks_the_image_to_four_by_four():
    net = slim_resnet18(10)
    features = net[:-3](torch.randn(2, 3, 32, 32))
    assert features.shape == (2, 160, 4, 4) and features.min() == 0
