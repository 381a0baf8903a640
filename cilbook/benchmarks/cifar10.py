"""CIFAR-10: ten classes in five pairs, learned from the normalised pixels."""

from __future__ import annotations

from functools import partial

from cilbook.benchmarks.cifar import (
    CIFAR10_CHANNELS,
    CIFAR10_SOURCE,
    cifar10_images,
    in_colour,
)
from cilbook.benchmarks.spec import Spec
from cilbook.nets.generators import slim_resnet_vae
from cilbook.nets.slim_resnet import slim_resnet18
from cilbook.nets.vae import conv_vae

CIFAR10 = Spec(
    name="cifar10",
    title="CIFAR-10",
    classes=10,
    tasks=5,
    names=(
        *("airplane", "automobile", "bird", "cat", "deer"),
        *("dog", "frog", "horse", "ship", "truck"),
    ),
    load=cifar10_images,
    pictures=partial(in_colour, channels=CIFAR10_CHANNELS),
    sources=(CIFAR10_SOURCE,),
    classifier=lambda: slim_resnet18(10),
    class_vae=lambda: conv_vae([3, 15, 30, 60], 32, 100),
    generator=lambda: slim_resnet_vae(100),
    iterations={"quick": 250, "paper": 5000},
    samples={"quick": 100, "paper": 10_000},
    shared={"batch": 256, "learning_rate": 1e-3},
    settings={
        "gc": {"trained_as": "gaussian", "scored_as": "gaussian"},
        "gen-samples": {"trained_as": "gaussian"},
        "dgr": {"trained_as": "gaussian"},
        "ewc": {"strength": 10.0},
        "si": {"strength": 1.0},
        "ar1": {"strength": 100.0, "largest": 0.1},
    },
)
