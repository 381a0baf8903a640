"""CORe50: ten categories of hand-held objects, one pass, one sample at a time.

What is learned are the 512 features of a ResNet18 trained on ImageNet, without its last
layer. The images enter it as they are, bytes / 255: no resizing, no normalisation. Lomonaco
and Maltoni (2017), "CORe50: a new dataset and benchmark for continuous object recognition".
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

from cilbook.benchmarks.core50_files import (
    SPLIT,
    Core50Source,
    Frame,
    read_images,
    read_list,
    training_names,
)
from cilbook.benchmarks.features import cached, extract, key_of
from cilbook.benchmarks.files import Download, data_folder, digest_of, ensure
from cilbook.benchmarks.spec import Data, Images, Spec, as_they_are
from cilbook.errors import BadInput
from cilbook.nets.bir import BIRNet
from cilbook.nets.mlp import mlp
from cilbook.nets.vae import dense_vae

IMAGES_SOURCE = Core50Source()
_SHA256 = "f37072fd47e89c5e827621c5baffa7500819f7896bbacec160b1a16c560e07ec"
WEIGHTS = "pretrained/resnet18-f37072fd.pth"  # torchvision's IMAGENET1K_V1
WEIGHTS_SOURCE = Download(
    benchmark="core50",
    url="https://download.pytorch.org/models/resnet18-f37072fd.pth",
    sha256=_SHA256,
    files={WEIGHTS: _SHA256},
)
PAPER_SESSIONS = range(1, 11)  # seven for training: the released code never visits s11
ALL_SESSIONS = range(1, 12)  # eight for training
_BATCH = 100


def load(
    data_dir: Path | None = None,
    sessions: Sequence[int] = PAPER_SESSIONS,
    weights: Path | None = None,
) -> Data:
    """The features of these sessions' frames; `weights` replaces the ImageNet file."""
    folder, sessions = data_folder(data_dir), sorted(set(sessions))
    IMAGES_SOURCE.ensure(folder)
    frames = read_list(folder)
    for_training = training_names(folder, frames)
    frames = [frame for frame in frames if frame.session in sessions]
    weights_sha256 = _SHA256 if weights is None else digest_of(weights)
    features, keys = [], []
    for session in sessions:
        own = [frame for frame in frames if frame.session == session]
        keys.append(_key(own, weights_sha256))
        features.append(_session(folder, session, own, keys[-1], weights))
    x = torch.cat(features)
    y = torch.tensor([frame.category for frame in frames])
    train = torch.tensor([frame.name in for_training for frame in frames])
    digest = key_of({"sessions": keys, "split": digest_of(folder / SPLIT)})
    return Data(_part(x, y, train), _part(x, y, ~train), digest)


def _part(x: Tensor, y: Tensor, rows: Tensor) -> Images:
    return Images(x[rows], y[rows], as_they_are)


def _key(frames: Sequence[Frame], weights_sha256: str) -> str:
    return key_of(
        {
            "data": [[frame.path, frame.sha256] for frame in frames],
            "weights": weights_sha256,
            "preprocessing": {"scale": 255},
            "network": "resnet18 without fc, eval",
        }
    )


def _session(
    folder: Path, session: int, frames: Sequence[Frame], key: str, weights: Path | None
) -> Tensor:
    """The features of one session, [n, 512]; each session is kept on its own."""

    def compute() -> dict[str, Tensor]:
        groups = [frames[i : i + _BATCH] for i in range(0, len(frames), _BATCH)]
        batches = (read_images(folder, group).float() / 255 for group in groups)
        desc = f"CORe50 features, session {session}"
        net = pretrained_resnet18(folder, weights)
        return {"x": extract(net, batches, total=len(groups), desc=desc)}

    return cached(folder, f"core50-s{session}", key, compute)["x"]


def pretrained_resnet18(data_dir: Path | None, weights: Path | None = None) -> nn.Module:
    """ResNet18 without its last layer, frozen: [n, 3, 128, 128] to [n, 512]."""
    from torchvision.models import resnet18

    path = weights or ensure([WEIGHTS_SOURCE], data_dir) / WEIGHTS
    net = resnet18()
    try:
        net.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
    except RuntimeError:
        raise BadInput(f"{path} does not hold the weights of a ResNet18") from None
    net.fc = nn.Identity()
    return net.eval().requires_grad_(False)


CORE50 = Spec(
    name="core50",
    title="CORe50",
    classes=10,
    tasks=5,
    load=load,
    sources=(IMAGES_SOURCE, WEIGHTS_SOURCE),
    frozen=11_176_512,
    single_pass=True,
    inverse_order=True,
    classifier=lambda: mlp([512, 1024, 10]),
    class_vae=lambda: dense_vae([512], 110),
    bir=lambda closed: BIRNet([512, 1024], 10, latent=200, closed=closed),
    iterations={},
    samples={"quick": 100, "paper": 10_000},
    shared={"batch": 1, "learning_rate": 1e-4},
    settings={
        "gc": {"trained_as": "gaussian", "scored_as": "gaussian"},
        "gen-samples": {"trained_as": "gaussian"},
        "bir": {"closed": 0.0, "kl_divisor": 512},
        "bir-si": {"closed": 0.6, "kl_divisor": 512, "strength": 0.01},
        "ewc": {"strength": 10.0},
        "si": {"strength": 10.0},
        "ar1": {"strength": 1.0, "largest": 0.1},
        "slda": {"batch": 256},  # the result does not depend on it
    },
)
