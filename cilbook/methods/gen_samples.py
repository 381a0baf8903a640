r"""Classify or replay? A softmax network trained on samples of the class VAEs.

    y uniform,   z ~ N(0, I),   x = decoder_y(z);      L = CE(f(x), y)

The bank is that of the generative classifier. When all classes are there, the benchmark's
usual network takes as many steps on samples as the bank took on data, i.i.d. over all
classes. If it does worse than Bayes' rule with the same VAEs, the VAEs are better judges
than painters. van de Ven et al. (2021), Table 3.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor
from torch.nn import functional as F

from cilbook.bank import VAEBank
from cilbook.benchmarks.spec import Images, Spec
from cilbook.methods.base import Learner
from cilbook.methods.generative_classifier import BankSettings, new_bank
from cilbook.methods.trained import Trained, in_blocks
from cilbook.nets.initialise import build
from cilbook.random import normal, stream
from cilbook.storage import named, part

_AT_ONCE = 20  # mini-batches decoded together


class GenSamples(Learner):
    """A VAE bank, and in the end a network trained on its samples.

    >>> from cilbook.benchmarks import BENCHMARKS
    >>> spec = BENCHMARKS["digits"]
    >>> student = GenSamples(spec, BankSettings(batch=4), 0, "cpu")
    >>> data = spec.load(None).train.of_classes([4, 7])
    >>> loss_of_each_class = student.observe(data.x, data.y)
    >>> x, y = student.samples(0)[0]
    >>> x.shape, set(y.tolist()) <= {4, 7}
    (torch.Size([4, 64]), True)
    >>> student.end_task(data)
    >>> student.trained.steps  # as many as the two VAEs took together
    2
    """

    title = "Net on samples"
    settings_type = BankSettings
    view = "per_class"
    needs_boundaries = True
    why_boundaries = "it must know that all classes are there before it trains its network"
    one_task = True  # classes are independent: all at once gives as good a bank

    def __init__(
        self, spec: Spec, settings: BankSettings, seed: int, device: torch.device | str
    ):
        super().__init__(spec, settings, seed, device)
        self.bank: VAEBank = new_bank(spec, settings, seed, device)
        net = build(spec.classifier, stream(seed, "classifier")).to(self.device)
        self.trained = Trained(net, settings.learning_rate)

    def observe(self, x: Tensor, y: Tensor) -> Tensor:
        """One Adam step for the VAE of each class present, on its own rows."""
        return self.bank.learn(x, y)

    def end_task(self, data: Images) -> None:
        """Train the network; from where it stands, if it was interrupted."""
        self.trained.net.train()
        steps = sum(self.bank.steps)
        while self.trained.steps < steps:
            first = self.trained.steps // _AT_ONCE * _AT_ONCE
            for x, y in self.samples(first)[self.trained.steps - first : steps - first]:
                self.trained.step(F.cross_entropy(self.trained.net(x), y))
                self.between_steps()

    @torch.no_grad()
    def samples(self, first: int) -> list[tuple[Tensor, Tensor]]:
        """The mini-batches from `first` on that are decoded together."""
        size = self.settings.batch
        n = _AT_ONCE * size
        rng = stream(self.seed, "sampled classes", first)
        y = torch.from_numpy(rng.choice(sorted(self.bank.classes), size=n)).to(self.device)
        z = normal((n, self.bank.latent), self.seed, "sampled codes", first)
        x = self.bank.decode(z.to(self.trained.net[-1].weight), y)
        return list(zip(x.split(size), y.split(size), strict=True))

    def scores(self, x: Tensor) -> Tensor:
        """The network's logits."""
        return in_blocks(self.trained.net.eval(), x)

    @property
    def trainable(self) -> int:
        """Weights of all class VAEs and of the network."""
        return self.bank.size_of_one * self.spec.classes + self.trained.size

    def state_dict(self) -> dict[str, Tensor]:
        """The bank and the network."""
        bank = named("bank.", self.bank.state_dict())
        return bank | named("classifier.", self.trained.state_dict())

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Continue from what `state_dict` gave."""
        self.bank.load_state_dict(part(state, "bank."))
        self.trained.load_state_dict(part(state, "classifier."))
