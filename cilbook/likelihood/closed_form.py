r"""Exact class likelihoods of a linear decoder: no samples, no variance.

With dec(z) = W z + b, z ~ N(0, I_k) and unit observation noise, x ~ N(b, I + W W'). Let
r = x - b, K = I_k + W'W = L L' (Cholesky) and P = L^-1 W'. By Woodbury's identity and the
determinant lemma

    log p(x) = -1/2 (|r|^2 - |P r|^2) - sum_i log L_ii        (less D/2 log 2 pi),

one product with a k x D matrix per class. This is probabilistic PCA (Tipping and Bishop,
1999) with its noise fixed at 1, and the limit of importance sampling as S grows.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from cilbook.bank import VAEBank
from cilbook.nets.vae import VAE, Observation

_ROWS = 1024  # images at once: temporaries stay small


def applies(vae: VAE, observation: Observation) -> bool:
    """Whether p(x) has this closed form.

    >>> from cilbook.nets.vae import dense_vae
    >>> applies(dense_vae([512], 110), "gaussian")
    True
    >>> applies(dense_vae([1024, 85], 20), "gaussian")
    False
    """
    layers = list(vae.decoder)
    linear = len(layers) == 1 and isinstance(layers[0], nn.Linear)
    return linear and not vae.sigmoid and observation == "gaussian"


@torch.no_grad()
def closed_form(bank: VAEBank, x: Tensor) -> Tensor:
    """log p(x|y) for every class of the bank, [n, classes], computed in float64."""
    columns = [_one_class(bank[label], x) for label in bank.classes]
    return torch.stack(columns, 1).to(x.dtype)


def _one_class(vae: VAE, x: Tensor) -> Tensor:
    layer = vae.decoder[0]
    w, b = layer.weight.double(), layer.bias.double()  # [D, k], [D]
    identity = torch.eye(w.shape[1], dtype=w.dtype, device=w.device)
    cholesky = torch.linalg.cholesky(identity + w.T @ w)
    p = torch.linalg.solve_triangular(cholesky, w.T, upper=False)  # [k, D]
    log_determinant = cholesky.diagonal().log().sum()

    def log_p(rows: Tensor) -> Tensor:
        r = rows.double() - b
        explained = (r @ p.T).square().sum(1)
        return -(r.square().sum(1) - explained) / 2 - log_determinant

    return torch.cat([log_p(rows) for rows in x.split(_ROWS)])
