r"""The variational autoencoder: a generative model p(x) with a latent code z.

    z ~ N(0, I),   x | z ~ Gaussian or Bernoulli around decode(z),
    q(z|x) = N(mu(x), diag exp(l(x)))

It is trained by minimising minus the evidence lower bound, per input dimension:

    L(x) = [ R(x, decode(z)) + KL(q(z|x) || N(0, I)) ] / D,   z = mu + exp(l/2) * eps.

Kingma and Welling (2014), "Auto-encoding variational Bayes".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from torch import Tensor, nn
from torch.nn import functional as F

from cilbook.nets.mlp import mlp, relu_layers

Observation = Literal["gaussian", "bernoulli"]


class VAE(nn.Module):
    """An encoder body with two heads (mean, log-variance) and a decoder.

    The log-variance head has no bias. With `sigmoid` the decoder's last layer gives logits
    and the mean of p(x|z) is in (0, 1).
    """

    def __init__(
        self,
        body: nn.Module,
        width: int,
        latent: int,
        decoder: nn.Module,
        *,
        sigmoid: bool = False,
    ):
        super().__init__()
        self.body = body
        self.mean = nn.Linear(width, latent)
        self.log_variance = nn.Linear(width, latent, bias=False)
        self.decoder = decoder
        self.sigmoid = sigmoid

    @property
    def latent(self) -> int:
        """The number k of latent dimensions."""
        return self.mean.out_features

    def encode(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """mu and l = log sigma^2 of q(z|x), each [n, k]."""
        hidden = self.body(x)
        return self.mean(hidden), self.log_variance(hidden)

    def decode(self, z: Tensor) -> Tensor:
        """The mean of p(x|z), shaped like the data."""
        out = self.decoder(z)
        return out.sigmoid() if self.sigmoid else out

    def log_observation(self, x: Tensor, z: Tensor, observation: Observation) -> Tensor:
        """log p(x|z), [..., n] for x [n, ...] and z [..., n, k].

        gaussian: -1/2 |x - mean|^2, unit variance, without its constant -D/2 log 2 pi;
        bernoulli: sum x log mean + (1 - x) log(1 - mean) for x in [0, 1], from the logits.
        """
        codes = z.flatten(0, -2)
        pixels = tuple(range(1 - x.dim(), 0))
        if observation == "gaussian":
            mean = self.decode(codes).unflatten(0, z.shape[:-1])
            return (mean - x).square().sum(pixels) / -2
        if not self.sigmoid:
            raise ValueError("a bernoulli observation needs a VAE with a sigmoid output")
        logits = self.decoder(codes).unflatten(0, z.shape[:-1])
        return (x * logits - F.softplus(logits)).sum(pixels)

    def forward(self, x: Tensor, eps: Tensor, observation: Observation) -> Tensor:
        """The loss L(x) of each sample, [n]; `eps` [n, k] is standard normal noise."""
        mean, log_variance = self.encode(x)
        z = mean + (log_variance / 2).exp() * eps
        reconstruction = -self.log_observation(x, z, observation)
        return (reconstruction + kl(mean, log_variance)) / x[0].numel()


def kl(mean: Tensor, log_variance: Tensor) -> Tensor:
    """KL(N(mean, diag exp(log_variance)) || N(0, I)) = 1/2 sum(mu^2 + e^l - 1 - l), [n].

    >>> from torch import tensor
    >>> kl(tensor([[0.0, 0.0], [3.0, 4.0]]), tensor([[0.0, 0.0], [0.0, 0.0]])).tolist()
    [0.0, 12.5]
    """
    return (mean.square() + log_variance.exp() - 1 - log_variance).sum(1) / 2


def dense_vae(widths: Sequence[int], latent: int, *, sigmoid: bool = False) -> VAE:
    """A fully connected VAE; `widths` runs from the input to the last hidden layer.

    With no hidden layer encoder and decoder are linear, and p(x) has a closed form.

    >>> sum(p.numel() for p in dense_vae([784, 85, 85], 5, sigmoid=True).parameters())
    150134
    """
    mirrored = [latent, *reversed(widths)]
    body = nn.Sequential(*relu_layers(widths))
    return VAE(body, widths[-1], latent, mlp(mirrored), sigmoid=sigmoid)


def conv_vae(channels: Sequence[int], size: int, latent: int) -> VAE:
    """A convolutional VAE for `size` x `size` images; each layer halves the size.

    Batch-norm and ReLU follow every convolution but the last one of each half.

    >>> sum(p.numel() for p in conv_vae([3, 15, 30, 60], 32, 100).parameters())
    346768
    """
    side = size >> (len(channels) - 1)
    width = channels[-1] * side * side
    body = [*_conv_stack(channels, nn.Conv2d, kernel=3), nn.Flatten()]
    decoder = [
        nn.Linear(latent, width),
        nn.Unflatten(1, (channels[-1], side, side)),
        *_conv_stack(channels[::-1], nn.ConvTranspose2d, kernel=4),
    ]
    return VAE(nn.Sequential(*body), width, latent, nn.Sequential(*decoder))


def _conv_stack(channels: Sequence[int], layer: type, kernel: int) -> list[nn.Module]:
    modules: list[nn.Module] = []
    for fan_in, fan_out in zip(channels[:-1], channels[1:], strict=True):
        modules += [layer(fan_in, fan_out, kernel, stride=2, padding=1)]
        modules += [nn.BatchNorm2d(fan_out), nn.ReLU()]
    return modules[:-2]
