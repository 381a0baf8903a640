import numpy as np
import pytest
import torch

from cilbook.benchmarks import Data, Images
from cilbook.benchmarks.cifar100 import pretrained_conv5
from cilbook.experiments import pretrain as experiment
from cilbook.experiments.pretrain import accuracy, augment, keep, train
from cilbook.random import stream


def colours(n: int, seed: int) -> Images:
    """Noise with a bright channel; which one is the class."""
    y = torch.arange(n) % 3
    noise = torch.from_numpy(stream(seed, "noise").integers(100, size=(n, 3, 32, 32)))
    noise[torch.arange(n), y] += 100
    return Images(noise.byte(), y, lambda pixels: pixels.float() / 255)


DATA = Data(colours(60, 0), colours(90, 1), "")


@pytest.fixture(scope="module")
def net():
    return train(DATA, epochs=30)


def test_a_short_run_learns_something(net):
    assert accuracy(net, DATA.test) > 60


def test_the_kept_layers_load_where_the_published_ones_do(net, tmp_path):
    keep(net, tmp_path / "pretrained" / "own.safetensors")
    layers = pretrained_conv5(weights=tmp_path / "pretrained" / "own.safetensors")
    x = DATA.test.x
    assert torch.equal(layers(x), net[0](x))
    assert layers(x).shape == (90, 1024)


def test_the_whole_of_it_leaves_its_file_in_the_data_folder(monkeypatch, tmp_path):
    monkeypatch.setattr(experiment, "cifar10_images", lambda data_dir: DATA)
    monkeypatch.setattr(experiment, "EPOCHS", 1)
    path, percent = experiment.pretrain(tmp_path)
    assert path.parent == tmp_path / "pretrained" and 0 <= percent <= 100
    assert pretrained_conv5(weights=path)(DATA.test.x).shape == (90, 1024)


def test_the_same_seed_gives_the_same_layers():
    first, second = (train(DATA, epochs=2) for _ in range(2))
    for ours, theirs in zip(first.parameters(), second.parameters(), strict=True):
        assert torch.equal(ours, theirs)


class Chosen:
    """A random generator that says what it was told to."""

    def __init__(self, down: int, right: int, flip: bool):
        self.offsets, self.flip = [down, right], flip

    def integers(self, high: int, size: int) -> np.ndarray:
        assert high == 9
        return np.full(size, self.offsets.pop(0))

    def random(self, n: int) -> np.ndarray:
        return np.full(n, 0.0 if self.flip else 1.0)


def test_an_offset_of_four_without_a_flip_changes_nothing():
    x = torch.randn(2, 3, 32, 32)
    assert torch.equal(augment(x, Chosen(4, 4, flip=False)), x)
    assert torch.equal(augment(x, Chosen(4, 4, flip=True)), x.flip(3))


def test_a_crop_is_numpys_after_symmetric_padding():
    x = torch.randn(2, 3, 32, 32)
    padded = np.pad(x.numpy(), ((0, 0), (0, 0), (4, 4), (4, 4)), mode="symmetric")
    expected = torch.from_numpy(padded[:, :, 1:33, 7:39].copy())
    assert torch.equal(augment(x, Chosen(1, 7, flip=False)), expected)


def test_every_image_gets_its_own_crop_and_flip():
    x = torch.arange(32.0).expand(64, 1, 32, 32)
    out = augment(x, stream(0, "augment"))
    assert len({tuple(row.tolist()) for row in out[:, 0, 0]}) > 10
    rising = (out[:, 0, 0, 20] > out[:, 0, 0, 10]).float().mean()
    assert 0.25 < rising < 0.75
