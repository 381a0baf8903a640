"""CIFAR-100: a hundred classes in ten tasks, learned from the features of a frozen network.

The five convolutional layers were trained on CIFAR-10 by the authors of brain-inspired
replay (van de Ven et al., 2020); `cilbook pretrain` makes our own. They see CIFAR-100's
images standardised with CIFAR-100's constants.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import nn

from cilbook.benchmarks.cifar import (
    CIFAR100_CHANNELS,
    CIFAR100_SOURCE,
    cifar100_images,
    in_colour,
)
from cilbook.benchmarks.features import Tensors, cached, extract, key_of
from cilbook.benchmarks.files import Download, data_folder, digest_of, ensure, fingerprint
from cilbook.benchmarks.spec import Data, Images, Spec, as_they_are
from cilbook.errors import BadInput
from cilbook.nets.bir import BIRNet
from cilbook.nets.conv5 import FEATURES, PARAMETERS, conv5, conv5_mlp
from cilbook.nets.generators import conv5_vae
from cilbook.nets.mlp import mlp
from cilbook.nets.vae import dense_vae

_SHA256 = "02e44cf21681d2d1ece1b683bae9a1525cf794f73865a69e32af330bcb4741e9"
CHECKPOINT = "pretrained/C3-5x16-bn-s100N"
CHECKPOINT_SOURCE = Download(
    benchmark="cifar100",
    url="https://raw.githubusercontent.com/GMvandeVen/class-incremental-learning/"
    "c4e2bd8b805a0e49c8629a227067f49b0799de02/store/models/C3-5x16-bn-s100N",
    sha256=_SHA256,
    files={CHECKPOINT: _SHA256},
)
HIDDEN = (2000, 2000)
_BATCH = 500


def load(data_dir: Path | None = None, weights: Path | None = None) -> Data:
    """The features of all images; `weights` of `cilbook pretrain` replace the published."""
    key = key_of(
        {
            "data": fingerprint(CIFAR100_SOURCE),
            "weights": _SHA256 if weights is None else digest_of(weights),
            "preprocessing": {"scale": 255, "channels": CIFAR100_CHANNELS},
            "network": "conv5, eval",
        }
    )
    kept = cached(
        data_folder(data_dir), "cifar100", key, lambda: _features(data_dir, weights)
    )
    train, test = (
        Images(kept[f"{part}.x"], kept[f"{part}.y"], as_they_are)
        for part in ("train", "test")
    )
    return Data(train, test, key)


def _features(data_dir: Path | None, weights: Path | None) -> Tensors:
    net = pretrained_conv5(data_dir, weights)
    data = cifar100_images(data_dir)
    kept: Tensors = {}
    for name, images in (("train", data.train), ("test", data.test)):
        rows = torch.arange(len(images)).split(_BATCH)
        batches = (images.batch(some)[0] for some in rows)
        desc = f"CIFAR-100 features, {name}"
        kept[f"{name}.x"] = extract(net, batches, total=len(rows), desc=desc)
        kept[f"{name}.y"] = images.y
    return kept


def pretrained_conv5(
    data_dir: Path | None = None, weights: Path | None = None
) -> nn.Sequential:
    """The five layers with the published weights, or with those of a file of our own."""
    net = conv5()
    if weights is None:
        path = ensure([CHECKPOINT_SOURCE], data_dir) / CHECKPOINT
        state = torch.load(path, map_location="cpu", weights_only=True)["state"]
        net.load_state_dict(state)
    else:
        try:
            net.load_state_dict(load_file(weights))
        except (SafetensorError, RuntimeError, OSError):
            raise BadInput(
                f"{weights} does not hold the weights of the five layers"
            ) from None
    return net.eval().requires_grad_(False)


def _start_pretrained(spec: Spec, data_dir: Path | None) -> Spec:
    """The networks, their convolutions starting from the published weights."""
    start = pretrained_conv5(data_dir).state_dict()
    return replace(
        spec,
        classifier=lambda: conv5_mlp(HIDDEN, 100, start),
        generator=lambda: conv5_vae(100, start),
    )


_NUMBERS = {
    "name": "cifar100",
    "title": "CIFAR-100",
    "classes": 100,
    "tasks": 10,
    "sources": (CIFAR100_SOURCE, CHECKPOINT_SOURCE),
    "iterations": {"quick": 250, "paper": 5000},
    "samples": {"quick": 100, "paper": 10_000},
    "shared": {"batch": 256, "learning_rate": 1e-4},
}
_PLASTIC = Spec(  # the paper trains the convolutions too where that is better
    **_NUMBERS,
    load=cifar100_images,
    pictures=partial(in_colour, channels=CIFAR100_CHANNELS),
    classifier=lambda: conv5_mlp(HIDDEN, 100),
    generator=lambda: conv5_vae(100),
    class_vae=lambda: dense_vae([FEATURES, 85], 20),
    prepare=_start_pretrained,
    settings={
        "dgr": {"trained_as": "gaussian"},
        "ar1": {"strength": 100.0, "largest": 10.0},
    },
)
CIFAR100 = Spec(
    **_NUMBERS,
    load=load,
    frozen=PARAMETERS,
    variants={method: _PLASTIC for method in ("joint", "dgr", "ar1")},
    classifier=lambda: mlp([FEATURES, *HIDDEN, 100]),
    class_vae=lambda: dense_vae([FEATURES, 85], 20),
    bir=lambda closed: BIRNet([FEATURES, *HIDDEN], 100, latent=100, closed=closed),
    settings={
        "gc": {"learning_rate": 1e-3, "trained_as": "gaussian", "scored_as": "gaussian"},
        "gen-samples": {"learning_rate": 1e-3, "trained_as": "gaussian"},
        "bir": {"closed": 0.7, "kl_divisor": 3072},
        "bir-si": {"closed": 0.6, "kl_divisor": 3072, "strength": 1e8},
        "ewc": {"strength": 100.0},
        "si": {"strength": 1.0},
    },
)
