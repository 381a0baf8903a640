r"""Deep generative replay (Shin et al., 2017).

Beside the classifier f a VAE G learns to generate the data. After each task both are copied
(f', G'); from then on each mini-batch comes with one that G' generates and f' labels:

    z ~ N(0, I),   x_r = decoder'(z),   y_r = argmax_{old classes} f'(x_r)

    classifier:  1/t CE(x, y)   + (1 - 1/t) CE(x_r, y_r)
    generator:   1/t L_vae(x)   + (1 - 1/t) L_vae(x_r)

Samples are decoder means; current and replayed rows pass batch-norm separately.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from cilbook.benchmarks.spec import Images
from cilbook.benchmarks.streams import Batch
from cilbook.methods.none import FineTuning, NetworkSettings
from cilbook.methods.replay import Past
from cilbook.methods.trained import Trained
from cilbook.nets.initialise import build
from cilbook.nets.vae import Observation
from cilbook.random import normal, stream
from cilbook.storage import named, part


@dataclass(frozen=True)
class DGRSettings(NetworkSettings):
    """Settings of DGR."""

    trained_as: Observation = "bernoulli"  # observation model of the generator


class DGR(FineTuning):
    """A classifier and a generator that remind each other of what came before.

    After a task both are copied; the copies paint its images, and label them:

    >>> from cilbook.benchmarks import BENCHMARKS
    >>> spec = BENCHMARKS["digits"]
    >>> student = DGR(spec, DGRSettings(), 0, "cpu")
    >>> data = spec.load(None).train.of_classes([4, 7])
    >>> student.start_task([4, 7])
    >>> loss = student.observe(data.x, data.y)
    >>> student.end_task(data)
    >>> x, y = student.replay(50)
    >>> x.shape, set(y.tolist()) <= {4, 7}
    (torch.Size([50, 64]), True)
    """

    title = "DGR"
    settings_type = DGRSettings
    needs_boundaries = True
    why_boundaries = "at a boundary it copies the networks that replay the past"

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        generator = build(self.spec.generator, stream(self.seed, "generator"))
        self.generator = Trained(generator.to(self.device), self.settings.learning_rate)
        self.past = Past({"net": self.net, "generator": self.generator.net})

    def observe(self, x: Tensor, y: Tensor) -> Tensor:
        """One step of the classifier and one of the generator, on the same replay."""
        self._activate(y.tolist())
        self.train_mode()
        again = self.replay(len(x)) if self.past.tasks else None
        loss = self.classifier_loss(x, y, again)
        self.step(loss)
        self.generator.step(self.generator_loss(x, again))
        return loss.detach()

    def train_mode(self) -> None:
        """Batch-norm of both networks learns."""
        super().train_mode()
        self.generator.net.train()

    @torch.no_grad()
    def replay(self, n: int) -> Batch:
        """n generated inputs, and the label that the old classifier gives each."""
        x = self.past["generator"].decode(self._noise("replay", n))
        old = torch.tensor(self.past.classes, device=self.device)
        return x, old[self.past["net"](x)[:, old].argmax(1)]

    def classifier_loss(self, x: Tensor, y: Tensor, again: Batch | None) -> Tensor:
        """Cross-entropy of current and replayed rows."""
        current = self.loss(x, y)
        replayed = None if again is None else self.loss(*again)
        return self.past.balance(current, replayed)

    def generator_loss(self, x: Tensor, again: Batch | None) -> Tensor:
        """The VAE's loss on current and replayed rows."""
        current = self._vae_loss(x, "current")
        replayed = None if again is None else self._vae_loss(again[0], "replayed")
        return self.past.balance(current, replayed)

    def _vae_loss(self, x: Tensor, which: str) -> Tensor:
        eps = self._noise(which, len(x))
        return self.generator.net(x, eps, self.settings.trained_as).mean()

    def _noise(self, use: str, n: int) -> Tensor:
        net, step = self.generator.net, self.generator.steps
        return normal((n, net.latent), self.seed, f"dgr {use}", step).to(net.mean.weight)

    def end_task(self, data: Images) -> None:
        """Copy both networks; the data are not needed."""
        self.past.keep(self.active)

    @property
    def trainable(self) -> int:
        """Weights of classifier and generator."""
        return super().trainable + self.generator.size

    def state_dict(self) -> dict[str, Tensor]:
        """Both networks and their copies."""
        generator = named("generator.", self.generator.state_dict())
        return super().state_dict() | generator | named("past.", self.past.state_dict())

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Continue from what `state_dict` gave."""
        super().load_state_dict(state)
        self.generator.load_state_dict(part(state, "generator."))
        self.past.load_state_dict(part(state, "past."))
