"""MNIST (LeCun et al., 1998): 28 x 28 handwritten digits, 60 000 to train, 10 000 to test.

Pixels as they are, bytes / 255, 784 in a row; the two classes of a task are neighbours.
"""

from __future__ import annotations

from pathlib import Path

from torch import Tensor

from cilbook.benchmarks.files import Download, ensure, fingerprint
from cilbook.benchmarks.spec import Data, Images, Spec
from cilbook.nets.mlp import mlp
from cilbook.nets.vae import dense_vae

_FILES = {  # name: sha256 packed, sha256 unpacked
    "train-images-idx3-ubyte": (
        "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
        "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    ),
    "train-labels-idx1-ubyte": (
        "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
        "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    ),
    "t10k-images-idx3-ubyte": (
        "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
        "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    ),
    "t10k-labels-idx1-ubyte": (
        "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
        "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
    ),
}
SOURCES = tuple(
    Download(
        benchmark="mnist",
        url=f"https://ossci-datasets.s3.amazonaws.com/mnist/{name}.gz",
        sha256=packed,
        files={f"MNIST/raw/{name}": unpacked},
    )
    for name, (packed, unpacked) in _FILES.items()
)


def load(data_dir: Path | None = None) -> Data:
    """The official split, from files that were checked."""
    folder = ensure(SOURCES, data_dir) / "MNIST" / "raw"

    def images(part: str) -> Images:
        from torchvision.datasets import mnist  # slow to import, and only needed here

        pixels = mnist.read_image_file(folder / f"{part}-images-idx3-ubyte")
        labels = mnist.read_label_file(folder / f"{part}-labels-idx1-ubyte")
        return Images(pixels.flatten(1), labels, _to_unit_interval)

    return Data(images("train"), images("t10k"), fingerprint(*SOURCES))


def _to_unit_interval(pixels: Tensor) -> Tensor:
    return pixels.float() / 255


MNIST = Spec(
    name="mnist",
    title="MNIST",
    classes=10,
    tasks=5,
    load=load,
    sources=SOURCES,
    classifier=lambda: mlp([784, 400, 400, 10]),
    class_vae=lambda: dense_vae([784, 85, 85], 5, sigmoid=True),
    generator=lambda: dense_vae([784, 400, 400], 100, sigmoid=True),
    iterations={"quick": 100, "paper": 2000},
    samples={"quick": 100, "paper": 10_000},
    shared={"batch": 128, "learning_rate": 1e-3},
    settings={
        "gc": {"trained_as": "bernoulli", "scored_as": "gaussian"},
        "gen-samples": {"trained_as": "bernoulli"},
        "dgr": {"trained_as": "bernoulli"},
        "ewc": {"strength": 1e6},
        "si": {"strength": 1e3},
        "ar1": {"strength": 10.0, "largest": 0.01},
    },
)
