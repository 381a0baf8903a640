r"""Brain-inspired replay (van de Ven, Siegelmann and Tolias, 2020).

One network classifies and generates (`nets/bir.py`). After each task it is copied (M'), and
each mini-batch then comes with one that M' generates, class by class, and judges softly:

    c uniform over old classes,   z ~ N(m'_c, diag exp(s'_c)),   h_r = decoder'(z, gate c)
    q = softmax(logits'(h_r) / T) over old classes,   T = 2

    current:   CE(h, y) + L_vae(h; gate y, mode y)
    replayed:  KD + L_vae(h_r; gates and modes mixed by q)
    KD = -T^2 sum_c q_c log softmax(logits(h_r) / T)_c

    L_vae(h; p) = |h - h^|^2 / 2D + [log q(z|h) - log sum_c p_c p(z|c)] / divisor

The KL term is estimated from one z. Its divisor is a setting: the published numbers come
from code that divides by the 3072 values of an image where the features are 1024.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from cilbook.benchmarks.spec import Images
from cilbook.errors import BadInput
from cilbook.methods.none import FineTuning, NetworkSettings
from cilbook.methods.replay import Past
from cilbook.nets.bir import BIRNet
from cilbook.random import normal, stream
from cilbook.storage import named, part


@dataclass(frozen=True)
class BIRSettings(NetworkSettings):
    """Settings of brain-inspired replay."""

    closed: float = 0.3  # X: share of the decoder's hidden units that a class keeps silent
    kl_divisor: int = 64  # of the KL term; the values of an input
    temperature: float = 2.0  # T

    def __post_init__(self) -> None:
        if self.closed > 1:
            raise BadInput(f"closed is a share, at most 1, got {self.closed}")
        if self.temperature <= 0:
            raise BadInput(f"temperature must be larger than 0, got {self.temperature}")


class BIR(FineTuning):
    """A classifier that imagines its past, in its own features.

    What it replays comes with soft targets, shares of the old classes:

    >>> from cilbook.benchmarks import BENCHMARKS
    >>> spec = BENCHMARKS["digits"]
    >>> student = BIR(spec, BIRSettings(), 0, "cpu")
    >>> data = spec.load(None).train.of_classes([4, 7])
    >>> student.start_task([4, 7])
    >>> loss = student.observe(data.x, data.y)
    >>> student.end_task(data)
    >>> x, q = student.replay(50)
    >>> x.shape, q.any(0).nonzero().flatten().tolist()
    (torch.Size([50, 64]), [4, 7])
    """

    title = "BI-R"
    settings_type = BIRSettings
    needs_boundaries = True
    why_boundaries = "at a boundary it copies the network that replays the past"

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.past = Past({"net": self.net})

    def architecture(self) -> Callable[[], BIRNet]:
        """The network with the settings' share of closed gates."""
        return lambda: self.spec.bir(self.settings.closed)

    def logits(self, x: Tensor) -> Tensor:
        """The classifier's side of the network."""
        return self.net(x)[0]

    def loss(self, x: Tensor, y: Tensor) -> Tensor:
        """Current and replayed rows."""
        replayed = self.replayed_loss(*self.replay(len(x))) if self.past.tasks else None
        return self.past.balance(self.current_loss(x, y), replayed)

    @torch.no_grad()
    def replay(self, n: int) -> tuple[Tensor, Tensor]:
        """n generated rows, and their soft targets q, [n, all classes]."""
        net, old = self.past["net"], torch.tensor(self.past.classes, device=self.device)
        rng = stream(self.seed, "bir classes", self.trained.steps)
        labels = old[torch.from_numpy(rng.integers(len(old), size=n)).to(self.device)]
        z = net.prior.sample(labels, self._noise("replay", n))
        x = net.decode(z, self._one_hot(labels).to(z.dtype))
        logits = net(x)[0][:, old] / self.settings.temperature
        q = logits.new_zeros(n, self.spec.classes)
        q[:, old] = logits.softmax(1)
        return x, q

    def current_loss(self, x: Tensor, y: Tensor) -> Tensor:
        """CE + L_vae with the label's gate and mode."""
        logits, *code = self.net(x)
        vae_loss = self.vae_loss(x, code, self._one_hot(y).to(x.dtype), "current")
        return self.cross_entropy(logits, y) + vae_loss

    def replayed_loss(self, x: Tensor, q: Tensor) -> Tensor:
        """KD + L_vae with gates and modes mixed by the soft targets."""
        logits, *code = self.net(x)
        return self.distillation(logits, q) + self.vae_loss(x, code, q, "replayed")

    def distillation(self, logits: Tensor, q: Tensor) -> Tensor:
        """-T^2 sum_c q_c log softmax(logits / T)_c over active classes, mean over rows."""
        t = self.settings.temperature
        log_p = (logits[:, self.active] / t).log_softmax(1)
        return -(t**2) * (q[:, self.active] * log_p).sum(1).mean()

    def vae_loss(self, x: Tensor, code: list[Tensor], shares: Tensor, use: str) -> Tensor:
        """Reconstruction and KL of rows with these shares of classes, mean over rows."""
        mean, log_variance = code
        eps = self._noise(use, len(x))
        z = mean + (log_variance / 2).exp() * eps
        reconstruction = F.mse_loss(self.net.decode(z, shares), x) / 2
        log_q = -(log_variance + eps.square()).sum(1) / 2
        kl = log_q - self.net.prior.log_density(z, shares)
        return reconstruction + kl.mean() / self.settings.kl_divisor

    def _one_hot(self, labels: Tensor) -> Tensor:
        return F.one_hot(labels, self.spec.classes)

    def _noise(self, use: str, n: int) -> Tensor:
        head, step = self.net.mean, self.trained.steps
        shape = n, head.out_features
        return normal(shape, self.seed, f"bir {use}", step).to(head.weight)

    def end_task(self, data: Images) -> None:
        """Copy the network; the data are not needed."""
        self.past.keep(self.active)

    def state_dict(self) -> dict[str, Tensor]:
        """The network with its gates, and its copy."""
        return super().state_dict() | named("past.", self.past.state_dict())

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Continue from what `state_dict` gave."""
        super().load_state_dict(state)
        self.past.load_state_dict(part(state, "past."))
