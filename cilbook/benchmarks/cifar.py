"""The images of CIFAR-10 and CIFAR-100 (Krizhevsky, 2009): 32 x 32 pixels in colour.

50 000 to train and 10 000 to test. Bytes / 255, then each channel is standardised with the
mean and standard deviation of its own data set.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor

from cilbook.benchmarks.files import Download, ensure, fingerprint
from cilbook.benchmarks.spec import Data, Images

_CIFAR10_FILES = {
    "data_batch_1": "54636561a3ce25bd3e19253c6b0d8538147b0ae398331ac4a2d86c6d987368cd",
    "data_batch_2": "766b2cef9fbc745cf056b3152224f7cf77163b330ea9a15f9392beb8b89bc5a8",
    "data_batch_3": "0f00d98ebfb30b3ec0ad19f9756dc2630b89003e10525f5e148445e82aa6a1f9",
    "data_batch_4": "3f7bb240661948b8f4d53e36ec720d8306f5668bd0071dcb4e6c947f78e9682b",
    "data_batch_5": "d91802434d8376bbaeeadf58a737e3a1b12ac839077e931237e0dcd43adcb154",
    "test_batch": "f53d8d457504f7cff4ea9e021afcf0e0ad8e24a91f3fc42091b8adef61157831",
    "batches.meta": "f962466ef690d46b226450fb9aadc74ba4bc64a76aa526b5827fe4bc5c7125cb",
}
CIFAR10_SOURCE = Download(
    benchmark="cifar10",
    url="https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz",
    sha256="6d958be074577803d12ecdefd02955f39262c83c16fe9348329d7fe0b5c001ce",
    files={f"cifar-10-batches-py/{k}": v for k, v in _CIFAR10_FILES.items()},
)
_CIFAR100_FILES = {
    "train": "735e79b04f092ca3d2e6d07f368c0a7d70d48c48d28865950cc24454cf45129b",
    "test": "4b67687d9933c4db8f0831104447f15b93774f4f464bd0516f0f0f2ac83b7864",
    "meta": "a5d4786345c961390f865e93b434dbd5c6904ce880667e0cb888c97d449f28b9",
}
CIFAR100_SOURCE = Download(
    benchmark="cifar100",
    url="https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz",
    sha256="85cd44d02ba6437773c5bbd22e183051d648de2e7d6b014e1ef29b855ba677a7",
    files={f"cifar-100-python/{k}": v for k, v in _CIFAR100_FILES.items()},
)
Channels = tuple[Sequence[float], Sequence[float]]  # mean and deviation of each
CIFAR10_CHANNELS = (0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616)
CIFAR100_CHANNELS = (0.5071, 0.4865, 0.4409), (0.2673, 0.2564, 0.2761)


def cifar10_images(data_dir: Path | None = None) -> Data:
    """CIFAR-10 as normalised images, [n, 3, 32, 32]."""
    return _images("CIFAR10", CIFAR10_SOURCE, CIFAR10_CHANNELS, data_dir)


def cifar100_images(data_dir: Path | None = None) -> Data:
    """CIFAR-100 as normalised images, [n, 3, 32, 32]."""
    return _images("CIFAR100", CIFAR100_SOURCE, CIFAR100_CHANNELS, data_dir)


def _images(
    name: Literal["CIFAR10", "CIFAR100"],
    source: Download,
    channels: Channels,
    data_dir: Path | None,
) -> Data:
    """The official split; torchvision reads the pickles once their sha256 is right."""
    from torchvision import datasets  # slow to import, and not needed to name the benchmark

    folder = ensure([source], data_dir)
    read: Callable = getattr(datasets, name)

    def images(train: bool) -> Images:
        part = read(folder, train=train)
        pixels = torch.from_numpy(part.data).permute(0, 3, 1, 2).contiguous()
        labels = torch.tensor(part.targets)
        return Images(pixels, labels, partial(standardise, channels=channels))

    return Data(images(train=True), images(train=False), fingerprint(source))


def standardise(pixels: Tensor, channels: Channels) -> Tensor:
    """Bytes [n, 3, h, w] scaled to [0, 1], then to mean 0 and deviation 1 per channel."""
    mean, deviation = (pixels.new_tensor(c, dtype=torch.float32) for c in channels)
    return (pixels.float() / 255 - mean[:, None, None]) / deviation[:, None, None]


def in_colour(x: Tensor, channels: Channels) -> Tensor:
    """The way back from standardised channels: pictures [n, h, w, 3], bytes / 255.

    >>> pixels = torch.randint(256, (2, 3, 4, 4), dtype=torch.uint8)
    >>> back = in_colour(standardise(pixels, CIFAR10_CHANNELS), CIFAR10_CHANNELS)
    >>> torch.equal((255 * back).round(), pixels.permute(0, 2, 3, 1).float())
    True
    """
    mean, deviation = (x.new_tensor(c) for c in channels)
    return x.permute(0, 2, 3, 1) * deviation + mean
