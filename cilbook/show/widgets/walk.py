"""A walk through a VAE's latent space, along the directions in which its image changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from cilbook.nets.vae import VAE

Pictures = Callable[[Tensor], Tensor]  # inputs [n, ...] to pictures in [0, 1]


class Walk:
    """Pictures along two directions through the centre of a VAE's latent space."""

    def __init__(self, vae: VAE, as_pictures: Pictures) -> None:
        self.vae, self.as_pictures = vae, as_pictures
        self.directions = steepest(vae)  # [2, k]

    def pictures(self, places: Sequence[tuple[float, float]]) -> Tensor:
        """The pictures at these places, [places, ...]."""
        with torch.no_grad():
            z = self.directions.new_tensor(places) @ self.directions
            return self.as_pictures(self.vae.decode(z))


@torch.no_grad()
def steepest(vae: VAE) -> Tensor:
    """The two directions in which the decoded image changes most around z = 0, [2, k].

    They are orthogonal unit vectors: the first two right singular vectors of the matrix of
    differences dec(e_j) - dec(-e_j). Of both signs, that with a positive sum is taken.

    >>> from cilbook.nets.vae import dense_vae
    >>> vae = dense_vae([3], 3)
    >>> _ = vae.decoder[0].weight.data.copy_(torch.diag(torch.tensor([1.0, 3.0, 2.0])))
    >>> steepest(vae).round().abs()
    tensor([[0., 1., 0.],
            [0., 0., 1.]])
    """
    unit = torch.eye(vae.latent, device=vae.mean.weight.device)
    change = (vae.decode(unit) - vae.decode(-unit)).flatten(1)  # [k, D]
    directions = torch.linalg.svd(change.double() @ change.double().T)[0].T[:2].float()
    return directions * torch.where(directions.sum(1, keepdim=True) < 0, -1, 1)
