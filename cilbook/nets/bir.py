r"""The network of brain-inspired replay: classifier and generator in one.

    h -> body -> E;   logits, mu and l are linear in E;   z = mu + exp(l/2) * eps;
    z -> gated hidden layers -> h^,   prior p(z|c) = N(m_c, diag exp(s_c)).

The decoder runs back from the classifier's own hidden layers (replay through feedback), the
prior has one mode per class, and each class keeps a fixed random part of every hidden
decoder layer silent. van de Ven, Siegelmann and Tolias (2020), Nature Communications.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from cilbook.nets.mlp import relu_layers


class BIRNet(nn.Module):
    """`widths` runs from the input to the last hidden layer; `closed` is the share X of
    units that the gates of a class silence.

    >>> sum(p.numel() for p in BIRNet([1024, 2000, 2000], 100, latent=100).parameters())
    12925224
    """

    def __init__(
        self, widths: Sequence[int], classes: int, *, latent: int, closed: float = 0.0
    ):
        super().__init__()
        self.body = nn.Sequential(*relu_layers(widths))
        self.classifier = nn.Linear(widths[-1], classes)
        self.mean = nn.Linear(widths[-1], latent)
        self.log_variance = nn.Linear(widths[-1], latent, bias=False)
        self.prior = ClassPrior(classes, latent)
        back = [latent, *reversed(widths[1:])]
        self.gated = nn.ModuleList(
            GatedLayer(fan_in, fan_out, classes, closed)
            for fan_in, fan_out in zip(back[:-1], back[1:], strict=True)
        )
        self.output = nn.Linear(widths[1], widths[0])

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Logits [n, classes], and mu and l = log sigma^2 of q(z|x), each [n, k]."""
        hidden = self.body(x)
        return self.classifier(hidden), self.mean(hidden), self.log_variance(hidden)

    def decode(self, z: Tensor, shares: Tensor) -> Tensor:
        """The reconstruction; `shares` [n, classes] says how much of each class it has."""
        for layer in self.gated:
            z = layer(z, shares)
        return self.output(z)


class GatedLayer(nn.Module):
    """relu(gate * (W x + b)) with gate = sum_c share_c mask_c, the masks 0 or 1.

    Two classes that open one unit each; an input that is a quarter of the first:

    >>> layer = GatedLayer(1, 2, classes=2, closed=0.5)
    >>> layer.mask = torch.eye(2)
    >>> layer.linear.bias.data = torch.tensor([4.0, 4.0])
    >>> layer(torch.zeros(1, 1), torch.tensor([[0.25, 0.75]])).tolist()
    [[1.0, 3.0]]
    """

    def __init__(self, fan_in: int, fan_out: int, classes: int, closed: float):
        super().__init__()
        self.closed = closed
        self.linear = nn.Linear(fan_in, fan_out)
        self.register_buffer("mask", torch.ones(classes, fan_out))

    def initialise(self, rng: np.random.Generator) -> None:
        """Draw the masks once: P(0) = closed."""
        is_open = rng.random(tuple(self.mask.shape)) >= self.closed
        self.mask.copy_(torch.from_numpy(is_open))

    def forward(self, x: Tensor, shares: Tensor) -> Tensor:
        return (self.linear(x) * (shares @ self.mask)).relu()


class ClassPrior(nn.Module):
    """A Gaussian over z for every class; means and log-variances are learned.

    >>> prior = ClassPrior(classes=2, latent=1)
    >>> prior.means.data = torch.tensor([[0.0], [6.0]])
    >>> prior.sample(torch.tensor([0, 1]), eps=torch.tensor([[1.0], [1.0]])).tolist()
    [[1.0], [7.0]]
    >>> shares = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> prior.log_density(torch.tensor([[2.0], [2.0]]), shares).tolist()
    [-2.0, -8.0]
    """

    def __init__(self, classes: int, latent: int):
        super().__init__()
        self.means = nn.Parameter(torch.zeros(classes, latent))
        self.log_variances = nn.Parameter(torch.zeros(classes, latent))

    def initialise(self, rng: np.random.Generator) -> None:
        """Both start standard normal."""
        for parameter in (self.means, self.log_variances):
            values = rng.standard_normal(tuple(parameter.shape), dtype=np.float32)
            parameter.data.copy_(torch.from_numpy(values))

    def sample(self, labels: Tensor, eps: Tensor) -> Tensor:
        """z of these classes, [n, k], from standard normal noise of that shape."""
        return self.means[labels] + (self.log_variances[labels] / 2).exp() * eps

    def log_density(self, z: Tensor, shares: Tensor) -> Tensor:
        """log sum_c share_c p(z|c) without the constant -k/2 log 2 pi, [n].

        Squares are multiplied out, so that all classes are two matrix products. The sum is
        exact: the authors' code cuts it off at 1e-40 of the nearest mode.
        """
        precisions = (-self.log_variances).exp()
        fixed = (self.means.square() * precisions + self.log_variances).sum(1)  # [classes]
        crossed = z.square() @ precisions.T - 2 * z @ (self.means * precisions).T
        return (shares.log() - (crossed + fixed) / 2).logsumexp(1)
