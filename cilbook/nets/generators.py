"""The generators of deep generative replay: one VAE for all classes (Shin et al., 2017)."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor, nn

from cilbook.nets.conv5 import CHANNELS, FEATURES, conv5
from cilbook.nets.mlp import relu_layers
from cilbook.nets.slim_resnet import (
    WIDTHS,
    slim_resnet_layers,
    slim_resnet_mirror_layers,
)
from cilbook.nets.vae import VAE


def slim_resnet_vae(latent: int) -> VAE:
    """A slim ResNet18 without its pooling as the encoder, its mirror image as the decoder.

    >>> sum(p.numel() for p in slim_resnet_vae(100).parameters())
    2393038
    """
    top = (WIDTHS[-1], 4, 4)
    width = WIDTHS[-1] * 4 * 4
    body = nn.Sequential(*slim_resnet_layers(), nn.Flatten())
    start = [nn.Linear(latent, width), nn.ReLU(), nn.Unflatten(1, top)]
    decoder = nn.Sequential(*start, *slim_resnet_mirror_layers())
    return VAE(body, width, latent, decoder)


def conv5_vae(latent: int, start: Mapping[str, Tensor] | None = None) -> VAE:
    """The five convolutional layers and two hidden layers, and back.

    >>> sum(p.numel() for p in conv5_vae(100).parameters())
    13795687
    """
    body = nn.Sequential(conv5(start), *relu_layers([FEATURES, 2000, 2000]))
    decoder = nn.Sequential(
        *relu_layers([latent, 2000, 2000, FEATURES]),
        nn.Unflatten(1, (CHANNELS[-1], 2, 2)),
        *_deconv5_layers(),
    )
    return VAE(body, 2000, latent, decoder)


def _deconv5_layers() -> list[nn.Module]:
    """[n, 256, 2, 2] to [n, 3, 32, 32]: each layer doubles the size, but the last."""
    layers: list[nn.Module] = []
    channels = CHANNELS[:0:-1]  # 256, 128, 64, 32, 16
    for fan_in, fan_out in zip(channels[:-1], channels[1:], strict=True):
        layers += [nn.ConvTranspose2d(fan_in, fan_out, 4, stride=2, padding=1)]
        layers += [nn.BatchNorm2d(fan_out), nn.ReLU()]
    return [*layers, nn.ConvTranspose2d(channels[-1], CHANNELS[0], 3, padding=1)]
