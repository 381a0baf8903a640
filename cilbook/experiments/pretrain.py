"""Our own five convolutional layers: trained on CIFAR-10, for the features of CIFAR-100.

100 epochs of Adam, learning rate 1e-4, mini-batches of 256, with a random crop after four
pixels of symmetric padding and a random flip; the classifier on top is thrown away.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save
from torch import Tensor, nn
from torch.nn import functional as F
from tqdm.auto import tqdm

from cilbook.benchmarks import Data, Images
from cilbook.benchmarks.cifar import cifar10_images
from cilbook.benchmarks.files import data_folder, place
from cilbook.benchmarks.streams import iterations
from cilbook.nets.conv5 import conv5_mlp
from cilbook.nets.initialise import build
from cilbook.random import stream

EPOCHS, BATCH, LEARNING_RATE = 100, 256, 1e-4
HIDDEN = (2000, 2000)
PADDING = 4
WEIGHTS = "pretrained/conv5-cifar10.safetensors"


def pretrain(
    data_dir: Path | None = None, *, seed: int = 0, device: torch.device | str = "cpu"
) -> tuple[Path, float]:
    """Train on CIFAR-10 and keep the layers; their file, and the accuracy in percent."""
    data = cifar10_images(data_dir)
    net = train(data, epochs=EPOCHS, seed=seed, device=device)
    path = data_folder(data_dir) / WEIGHTS
    keep(net, path)
    return path, accuracy(net, data.test, device)


def train(
    data: Data, *, epochs: int, seed: int = 0, device: torch.device | str = "cpu"
) -> nn.Sequential:
    """The five layers and their classifier, trained on the images."""
    images = data.train.to(torch.device(device))
    classes = int(images.y.max()) + 1
    net = build(lambda: conv5_mlp(HIDDEN, classes), stream(seed, "pretrain")).to(device)
    adam = torch.optim.Adam(net.parameters(), lr=LEARNING_RATE)
    count = epochs * max(1, len(images) // BATCH)
    batches = iterations(images, BATCH, count, seed=seed, task=0)
    for i, (x, y) in enumerate(tqdm(batches, total=count, desc="pretraining")):
        loss = F.cross_entropy(net(augment(x, stream(seed, "augment", i))), y)
        adam.zero_grad()
        loss.backward()
        adam.step()
    return net.eval()


def augment(x: Tensor, rng: np.random.Generator) -> Tensor:
    """Each image of a batch shifted by up to four pixels, and mirrored half of the time.

    What comes in at an edge is the image mirrored there, its outermost pixel repeated.
    """
    n, _, height, width = x.shape
    rows = _shifted(height, rng.integers(2 * PADDING + 1, size=n))
    columns = _shifted(width, rng.integers(2 * PADDING + 1, size=n))
    flipped = rng.random(n) < 0.5
    columns[flipped] = columns[flipped, ::-1]
    image = torch.arange(n, device=x.device)[:, None, None]
    row = torch.from_numpy(rows).to(x.device)[:, :, None]
    column = torch.from_numpy(columns).to(x.device)[:, None, :]
    return x[image, :, row, column].permute(0, 3, 1, 2)


def _shifted(size: int, offsets: np.ndarray) -> np.ndarray:
    """For each image, which pixel of its axis stands where, [n, size]."""
    padded = np.pad(np.arange(size), PADDING, mode="symmetric")
    return padded[offsets[:, None] + np.arange(size)]


@torch.no_grad()
def accuracy(net: nn.Module, images: Images, device: torch.device | str = "cpu") -> float:
    """Percent right over all images."""
    images = images.to(torch.device(device))
    right = 0
    for rows in torch.arange(len(images), device=device).split(1000):
        x, y = images.batch(rows)
        right += int((net(x).argmax(1) == y).sum())
    return 100 * right / len(images)


def keep(net: nn.Sequential, path: Path) -> None:
    """Write the weights of the five layers, `net[0]`, as safetensors."""
    state = {k: v.cpu().contiguous() for k, v in net[0].state_dict().items()}
    place(iter([save(state)]), path, None)
