"""MNIST, CIFAR-10 and CIFAR-100 as torchvision reads them; the real files."""

from functools import cache

import pytest
import torch

from cilbook.benchmarks import BENCHMARKS
from cilbook.benchmarks.cifar import cifar10_images, cifar100_images
from cilbook.benchmarks.cifar100 import CHECKPOINT, load, pretrained_conv5
from cilbook.benchmarks.files import data_folder
from cilbook.errors import BadInput
from cilbook.experiments.request import Request, default_iterations
from cilbook.experiments.run import config
from cilbook.methods import METHODS
from cilbook.nets.conv5 import PARAMETERS
from cilbook.nets.initialise import build
from cilbook.random import stream

FOLDERS = {
    "mnist": "MNIST/raw",
    "cifar10": "cifar-10-batches-py",
    "cifar100": "cifar-100-python",
}


@pytest.fixture(scope="module")
def images(need):
    """Return a function from a data set's name to its images."""

    @cache
    def images(name: str):
        if not (data_folder() / FOLDERS[name]).exists():
            need(name, f"there is no {name} in {data_folder()}; set CILBOOK_DATA")
        loads = {"cifar10": cifar10_images, "cifar100": cifar100_images}
        return loads.get(name, BENCHMARKS[name].load)(None)

    return images


@pytest.mark.parametrize(
    ("name", "train", "shape"),
    [
        ("mnist", 60_000, (784,)),
        ("cifar10", 50_000, (3, 32, 32)),
        ("cifar100", 50_000, (3, 32, 32)),
    ],
)
def test_the_official_split_is_held_as_one_tensor_of_bytes(images, name, train, shape):
    data = images(name)
    assert data.train.stored.shape == (train, *shape)
    assert data.test.stored.shape == (10_000, *shape)
    assert data.train.stored.dtype == data.test.stored.dtype == torch.uint8
    counts = torch.bincount(data.test.y)
    assert len(counts) == BENCHMARKS[name].classes
    assert name == "mnist" or counts.eq(10_000 // len(counts)).all()


def test_mnist_is_scaled_to_the_unit_interval_and_nothing_else(images):
    data = images("mnist")
    x, y = data.train.batch(torch.arange(500))
    assert torch.equal(x, data.train.stored[:500] / 255)
    assert y[:5].tolist() == [5, 0, 4, 1, 9]


@pytest.mark.parametrize("name", ["cifar10", "cifar100"])
def test_channels_are_standardised(images, name):
    data = images(name)
    x, _ = data.train.batch(torch.arange(0, 50_000, 10))
    deviation, mean = torch.std_mean(x, (0, 2, 3))
    torch.testing.assert_close(mean, torch.zeros(3), rtol=0, atol=0.02)
    torch.testing.assert_close(deviation, torch.ones(3), rtol=0, atol=0.02)


@pytest.mark.parametrize("name", ["mnist", "cifar10", "cifar100"])
def test_pictures_are_the_bytes_again(images, name):
    data = images(name).test
    spec = BENCHMARKS[name].for_method("joint")
    shown = spec.as_images(data.batch(torch.arange(20))[0])
    bytes_of = data.stored[:20].movedim(1, -1).reshape(shown.shape)
    torch.testing.assert_close(255 * shown, bytes_of.float(), rtol=0, atol=1e-3)


def test_the_published_layers_give_signed_features_that_tell_classes_apart(images):
    data = images("cifar100")
    net = pretrained_conv5()
    assert sum(p.numel() for p in net.parameters()) == PARAMETERS
    assert not any(p.requires_grad for p in net.parameters())
    rows = torch.where(data.train.y < 5)[0][:300]
    x, y = data.train.batch(rows)
    features = net(x)
    assert features.shape == (300, 1024) and features.min() < 0
    means = torch.stack([features[y == c].mean(0) for c in range(5)])
    right = torch.cdist(features, means).argmin(1) == y
    assert right.float().mean() > 0.6


@pytest.mark.parametrize("method", ["joint", "ar1", "dgr"])
def test_where_the_convolutions_learn_too_they_start_from_the_published_weights(
    images, method
):
    images("cifar100")
    spec = BENCHMARKS["cifar100"].for_method(method).prepared(None)
    assert spec.frozen == 0 and BENCHMARKS["cifar100"].frozen == PARAMETERS
    published = pretrained_conv5().state_dict()
    for architecture, part in ((spec.classifier, "0."), (spec.generator, "body.0.")):
        net = build(architecture, stream(0, "net"))
        start = {k: v for k, v in net.state_dict().items() if k.startswith(part)}
        assert all(torch.equal(start[part + k], v) for k, v in published.items())
        assert all(p.requires_grad for p in net.parameters())


def test_a_damaged_checkpoint_gets_a_sentence(tmp_path):
    (tmp_path / CHECKPOINT).parent.mkdir()
    (tmp_path / CHECKPOINT).write_bytes(b"not these weights")
    with pytest.raises(BadInput, match="C3-5x16-bn-s100N is damaged.*cilbook data cifar"):
        pretrained_conv5(tmp_path)
    with pytest.raises(BadInput, match="cannot read .*absent"):
        load(tmp_path, weights=tmp_path / "absent")
    with pytest.raises(BadInput, match="does not hold the weights of the five layers"):
        pretrained_conv5(weights=tmp_path / CHECKPOINT)


PAPER = {  # batch, learning rate, learning rate of gc, iterations of none, joint and gc
    "mnist": (128, 1e-3, 1e-3, 2000, 10_000, 1000),
    "cifar10": (256, 1e-3, 1e-3, 5000, 25_000, 2500),
    "cifar100": (256, 1e-4, 1e-3, 5000, 50_000, 500),
}


@pytest.mark.parametrize("name", PAPER)
def test_the_papers_numbers(name):
    """Mini-batch, learning rates, iterations per task and per class."""
    none, gc = (
        Request(name, method, budget="paper").resolve() for method in ("none", "gc")
    )
    joint = default_iterations(BENCHMARKS[name], METHODS["joint"], "paper")
    actual = (
        none.settings.batch,
        none.settings.learning_rate,
        gc.settings.learning_rate,
        *(none.iterations, joint, gc.iterations),
    )
    assert actual == PAPER[name]
    assert gc.settings.batch == none.settings.batch and gc.settings.samples == 10_000
    assert gc.settings.trained_as == ("bernoulli" if name == "mnist" else "gaussian")
    assert gc.settings.scored_as == "gaussian"


@pytest.mark.parametrize("name", PAPER)
def test_quick_is_a_twentieth_of_the_paper_with_a_hundred_samples(name):
    quick = Request(name, "gc").resolve()
    paper = Request(name, "gc", budget="paper").resolve()
    assert quick.iterations * 20 == paper.iterations
    assert quick.settings.samples == 100


def test_a_permutation_is_read_forwards_but_backwards_on_core50():
    """New = p[old] on CIFAR, old = p[new] on CORe50."""
    orders = {
        name: config(Request(name, "none", seed=11).resolve(), 1, torch.device("cpu"))
        for name in ("cifar10", "core50")
    }
    forwards, backwards = (orders[n]["class_order"] for n in ("cifar10", "core50"))
    assert forwards == [7, 8, 2, 6, 4, 5, 1, 3, 0, 9]
    assert [backwards[old] for old in forwards] == list(range(10))
