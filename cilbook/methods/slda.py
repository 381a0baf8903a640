r"""Streaming linear discriminant analysis (Hayes and Kanan, 2020).

One Gaussian per class with a mean of its own and a covariance shared by all:

    score_c(x) = mu_c' Lambda x - 1/2 mu_c' Lambda mu_c,
    Lambda = pinv((1 - eps) Sigma + eps I).

The first task is a base phase: exact class means, and the OAS-shrunk covariance of the
class-centred data, both from sums that never need the data again. After it, one sample at a
time, the covariance first and the mean second (a new class starts at mu = 0):

    delta = x - mu_y
    Sigma <- (tau Sigma + tau/(tau+1) delta delta') / (tau + 1),   tau <- tau + 1
    mu_y  <- mu_y + delta / (n_y + 1),                             n_y <- n_y + 1

Unrolled, tau Sigma grows by the sum of w_j delta_j delta_j' with w_j = tau_j/(tau_j + 1),
so a whole batch is one matrix product.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from cilbook.benchmarks.spec import Images, Spec
from cilbook.methods.base import Learner, Settings

_STATE = ("means", "counts", "scatter", "steps", "base_phase")


@dataclass(frozen=True)
class SLDASettings(Settings):
    """Settings of streaming LDA."""

    shrinkage: float = 1e-4  # eps: how much of the identity is mixed into Sigma
    batch: int = 256  # rows per matrix product; the result does not depend on it


class SLDA(Learner):
    """Class means and one covariance, in a single pass.

    Fed in batches or one by one, it learns the same:

    >>> from cilbook.benchmarks import BENCHMARKS
    >>> spec, scores = BENCHMARKS["digits"], []
    >>> data = spec.load(None).train
    >>> x, y = data.batch(torch.arange(100))
    >>> for size in (1, 30):
    ...     student = SLDA(spec, SLDASettings(), 0, "cpu")
    ...     for rows, labels in zip(x.split(size), y.split(size), strict=True):
    ...         student.observe(rows, labels)
    ...     scores.append(student.scores(x.double()))
    >>> torch.allclose(*scores)
    True
    """

    title = "SLDA"
    settings_type = SLDASettings
    view = "single_pass"
    needs_boundaries = False

    def __init__(
        self,
        spec: Spec,
        settings: SLDASettings,
        seed: int,
        device: torch.device | str,
    ):
        super().__init__(spec, settings, seed, device)
        self.means = torch.zeros(spec.classes, 0, dtype=torch.float64)  # [classes, d]
        self.counts = torch.zeros(spec.classes, dtype=torch.float64)
        self.scatter = torch.zeros(0, 0, dtype=torch.float64)  # tau * Sigma, [d, d]
        self.steps = torch.zeros((), dtype=torch.float64)  # tau
        self.base_phase = torch.tensor(True)
        self._move(self.device)
        self._classifier: tuple[Tensor, Tensor] | None = None

    def observe(self, x: Tensor, y: Tensor) -> None:
        """Update covariance and means with a batch, as if its rows came one by one."""
        x = x.flatten(1).double()
        if self.means.shape[1] == 0:
            self.means = x.new_zeros(self.spec.classes, x.shape[1])
            self.scatter = x.new_zeros(x.shape[1], x.shape[1])
        delta, earlier = self._deviations(x, y)
        if self.base_phase:
            weight = earlier / (earlier + 1)
        else:
            tau = self.steps + torch.arange(len(x), device=x.device)
            weight = tau / (tau + 1)
        self.scatter += (delta * weight[:, None]).T @ delta
        self.steps += len(x)
        new = torch.zeros_like(self.means).index_add_(0, y, x)
        arrived = torch.bincount(y, minlength=self.spec.classes).to(self.counts)
        total = (self.counts + arrived).clamp(min=1)
        kept = (self.counts / total)[:, None]
        self.means = self.means * kept + new / total[:, None]
        self.counts += arrived
        self._classifier = None

    def _deviations(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        """x - mu_y just before each row, and how many of its class came earlier, [n]."""
        order = torch.argsort(y, stable=True)
        sorted_y, sorted_x = y[order], x[order]
        first = torch.searchsorted(sorted_y, sorted_y)  # where each row's class begins
        before = torch.cat([x.new_zeros(1, x.shape[1]), sorted_x.cumsum(0)])
        rank = torch.arange(len(y), device=y.device) - first
        earlier = self.counts[sorted_y] + rank
        own_sum = before[:-1] - before[first] + self._sums(sorted_y)
        mean = own_sum / earlier.clamp(min=1)[:, None]
        delta, count = torch.empty_like(x), torch.empty_like(earlier)
        delta[order], count[order] = sorted_x - mean, earlier
        return delta, count

    def _sums(self, y: Tensor) -> Tensor:
        return self.means[y] * self.counts[y][:, None]

    def end_task(self, data: Images) -> None:
        """The first boundary ends the base phase: shrink the covariance once, by OAS."""
        if self.base_phase:
            self.scatter = self.steps * oas(self.scatter / self.steps, self.steps)
            self.base_phase = torch.tensor(False, device=self.device)
            self._classifier = None

    @torch.no_grad()
    def scores(self, x: Tensor) -> Tensor:
        """mu_c' Lambda x - 1/2 mu_c' Lambda mu_c; -inf for a class never seen."""
        if self.steps == 0:
            return x.new_full((len(x), self.spec.classes), -torch.inf)
        weight, bias = self._discriminant()
        return (x.flatten(1).double() @ weight.T + bias).to(x.dtype)

    def _discriminant(self) -> tuple[Tensor, Tensor]:
        if self._classifier is None:
            covariance = self.scatter / self.steps
            if self.base_phase:
                covariance = oas(covariance, self.steps)
            eps, identity = self.settings.shrinkage, torch.eye(len(covariance))
            precision = torch.linalg.pinv(
                (1 - eps) * covariance + eps * identity.to(covariance), hermitian=True
            )
            weight = self.means @ precision
            bias = -(weight * self.means).sum(1) / 2
            self._classifier = weight, bias.masked_fill(self.counts == 0, -torch.inf)
        return self._classifier

    @property
    def trainable(self) -> int:
        """Class means and the shared covariance, C d + d^2."""
        return self.means.numel() + self.scatter.numel()

    def state_dict(self) -> dict[str, Tensor]:
        """Means, counts, covariance and phase."""
        return {name: getattr(self, name) for name in _STATE}

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Continue from what `state_dict` gave."""
        for name in _STATE:
            setattr(self, name, state[name].clone())
        self._move(self.device)
        self._classifier = None

    def _move(self, device: torch.device) -> None:
        for name in _STATE:
            setattr(self, name, getattr(self, name).to(device))


def oas(covariance: Tensor, n: Tensor) -> Tensor:
    """Oracle-approximating shrinkage of the covariance of n centred rows.

    rho = min(1, (a + m^2) / ((n + 1)(a - m^2/d))), with m = tr S/d and a the mean of S's
    squared entries; (1 - rho) S + rho m I. Chen et al. (2010). The fewer the rows, the more
    it is pulled towards a sphere:

    >>> covariance = torch.diag(torch.tensor([3.0, 1.0]))
    >>> oas(covariance, torch.tensor(4.0)).diag().tolist()
    [2.0, 2.0]
    >>> oas(covariance, torch.tensor(1e6)).diag().round(decimals=3).tolist()
    [3.0, 1.0]
    """
    d = len(covariance)
    m, a = covariance.trace() / d, covariance.square().mean()
    rho = (a + m**2) / ((n + 1) * (a - m**2 / d))
    rho = rho.nan_to_num(nan=1.0).clamp(max=1)  # 0/0: nothing has spread yet
    identity = torch.eye(d, dtype=covariance.dtype, device=covariance.device)
    return (1 - rho) * covariance + rho * m * identity
