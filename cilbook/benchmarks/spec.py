"""What a benchmark is: data, tasks, networks, and the numbers that belong to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isqrt
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from cilbook.benchmarks.files import Source
from cilbook.nets.bir import BIRNet
from cilbook.nets.vae import VAE


@dataclass(frozen=True)
class Images:
    """Labelled images (or features) as one tensor, turned into numbers batch by batch."""

    stored: Tensor  # [n, ...], bytes or features
    y: Tensor  # [n]
    to_input: Callable[[Tensor], Tensor]

    def __len__(self) -> int:
        return len(self.y)

    def batch(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """x and y of these rows, as a learner sees them."""
        return self.to_input(self.stored[rows]), self.y[rows]

    @property
    def x(self) -> Tensor:
        """All inputs as a learner sees them."""
        return self.to_input(self.stored)

    def of_classes(self, classes: list[int]) -> Images:
        """Only the images of these classes, in their old order."""
        keep = torch.isin(self.y, torch.tensor(classes, device=self.y.device))
        return Images(self.stored[keep], self.y[keep], self.to_input)

    def relabelled(self, order: np.ndarray) -> Images:
        """The same images with new label = order[old label]."""
        return Images(self.stored, torch.from_numpy(order)[self.y], self.to_input)

    def to(self, device: torch.device) -> Images:
        """The same images on a device."""
        return Images(self.stored.to(device), self.y.to(device), self.to_input)


def as_they_are(features: Tensor) -> Tensor:
    """The input of a learner that is fed with features: nothing is left to scale."""
    return features


def square(x: Tensor) -> Tensor:
    """Vectors [n, D] as pictures: each folded into the smallest square that holds it.

    >>> square(torch.zeros(5, 64)).shape, square(torch.zeros(5, 512)).shape
    (torch.Size([5, 8, 8]), torch.Size([5, 23, 23]))
    """
    side = isqrt(x.shape[1] - 1) + 1
    return F.pad(x, (0, side**2 - x.shape[1])).unflatten(1, (side, side))


@dataclass(frozen=True)
class Data:
    """A train and a test set, and the sha256 that tells which data they are."""

    train: Images
    test: Images
    sha256: str


@dataclass(frozen=True)
class Spec:
    """A benchmark; adding one is writing one of these.

    `settings` overrides the defaults of a method's settings, {method: {field: value}};
    `shared` does so for every method that has the field.
    """

    name: str
    title: str
    classes: int
    tasks: int
    load: Callable[[Path | None], Data]
    classifier: Callable[[], nn.Module]
    class_vae: Callable[[], VAE]
    iterations: Mapping[str, int]  # mini-batches per task, for each budget
    samples: Mapping[str, int]  # importance samples S, for each budget
    generator: Callable[[], VAE] | None = None  # for deep generative replay
    bir: Callable[[float], BIRNet] | None = None  # given the share of closed gates
    shared: Mapping[str, object] = field(default_factory=dict)
    settings: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    sources: Sequence[Source] = ()  # what has to be downloaded
    variants: Mapping[str, Spec] = field(default_factory=dict)  # {method: spec of its own}
    frozen: int = 0  # weights of the frozen network that made the features
    single_pass: bool = False  # every method sees each sample once, whatever its view
    inverse_order: bool = False  # the permutation of classes is read the other way round
    prepare: Callable[[Spec, Path | None], Spec] | None = None  # see `prepared`
    names: Sequence[str] = ()  # of the classes; none: their numbers
    pictures: Callable[[Tensor], Tensor] = square  # see `as_images`

    def for_method(self, method: str) -> Spec:
        """The benchmark as this method learns it."""
        return self.variants.get(method, self)

    def prepared(self, data_dir: Path | None) -> Spec:
        """The spec with what its networks need from the data folder."""
        return self if self.prepare is None else self.prepare(self, data_dir)

    @property
    def classes_per_task(self) -> int:
        return self.classes // self.tasks

    def task_classes(self) -> list[list[int]]:
        """The (new) labels of each task: consecutive groups."""
        m = self.classes_per_task
        return [list(range(t * m, t * m + m)) for t in range(self.tasks)]

    def class_name(self, label: int) -> str:
        """What a class of the data is called.

        >>> from cilbook.benchmarks import BENCHMARKS
        >>> BENCHMARKS["cifar10"].class_name(3), BENCHMARKS["mnist"].class_name(3)
        ('cat', '3')
        """
        return self.names[label] if self.names else str(label)

    def as_images(self, x: Tensor) -> Tensor:
        """Inputs [n, ...] as pictures in [0, 1] on the CPU, normalisation undone.

        Grey ones are [n, height, width], those in colour [n, height, width, 3]. Features
        are no image; they are folded into a square.

        >>> from cilbook.benchmarks import BENCHMARKS
        >>> BENCHMARKS["mnist"].as_images(torch.rand(5, 784)).shape
        torch.Size([5, 28, 28])
        >>> BENCHMARKS["cifar10"].as_images(torch.randn(5, 3, 32, 32)).shape
        torch.Size([5, 32, 32, 3])
        """
        return self.pictures(x.detach().cpu()).clamp(0, 1)

    def class_order(self, seed: int) -> np.ndarray:
        """The new label of each class of the data."""
        order = class_order(seed, self.classes)
        return np.argsort(order) if self.inverse_order else order


def class_order(seed: int, classes: int) -> np.ndarray:
    """New label of each old one: natural below seed 10, else numpy's permutation."""
    if seed < 10:
        return np.arange(classes)
    return np.random.RandomState(seed).permutation(classes)
