"""scikit-learn's handwritten digits: real 8 x 8 images inside a dependency, no download.

1797 images (Alpaydin and Kaynak, 1998), 1437 to train and 360 to test, split once with the
classes in proportion. Small enough for a laptop's patience, real enough to be forgotten.
"""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import torch
from torch import Tensor

from cilbook.benchmarks.spec import Data, Images, Spec
from cilbook.nets.bir import BIRNet
from cilbook.nets.mlp import mlp
from cilbook.nets.vae import dense_vae


def load(data_dir: Path | None = None) -> Data:
    """The fixed split; `data_dir` is not needed, the images come with scikit-learn."""
    from sklearn.datasets import load_digits  # slow to import, and only needed here
    from sklearn.model_selection import train_test_split

    pixels, labels = load_digits(return_X_y=True)
    pixels, labels = pixels.astype("uint8"), labels.astype("int64")
    train, test = train_test_split(
        range(len(labels)), test_size=360, stratify=labels, random_state=0
    )

    def images(rows: list[int]) -> Images:
        x, y = torch.from_numpy(pixels[rows]), torch.from_numpy(labels[rows])
        return Images(x, y, _to_unit_interval)

    digest = sha256(pixels.tobytes() + labels.tobytes())
    return Data(images(train), images(test), digest.hexdigest())


def _to_unit_interval(pixels: Tensor) -> Tensor:
    return pixels.float() / 16


_NETWORKS = Spec(
    name="digits",
    title="Digits (8 x 8)",
    classes=10,
    tasks=5,
    load=load,
    classifier=lambda: mlp([64, 100, 100, 10]),
    class_vae=lambda: dense_vae([64, 85, 85], 5, sigmoid=True),
    generator=lambda: dense_vae([64, 100, 100], 20, sigmoid=True),
    bir=lambda closed: BIRNet([64, 100, 100], 10, latent=20, closed=closed),
    iterations={"quick": 400, "paper": 2000},
    samples={"quick": 100, "paper": 10_000},
)
# In 400 steps a network learns its task; a VAE is still blurred, and its classes alike.
_VAES = replace(_NETWORKS, iterations=_NETWORKS.iterations | {"quick": 800})
DIGITS = replace(_NETWORKS, variants={"gc": _VAES, "gen-samples": _VAES})
