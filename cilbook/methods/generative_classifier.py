r"""The generative classifier: one VAE per class, and Bayes' rule.

    p(y|x) ~ p(x|y) p(y),   p(x|y) from class y's VAE by importance sampling.

Each sample trains the VAE of its own label and nothing else, so there is nothing to forget:
no boundary, no replay, no order of classes matters. van de Ven, Li and Tolias (2021).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from cilbook.bank import VAEBank
from cilbook.benchmarks.spec import Images, Spec
from cilbook.errors import BadInput
from cilbook.likelihood.engine import SAMPLERS, Way, choose, likelihoods, refusal
from cilbook.likelihood.importance_sampling import Partial, block_by_block
from cilbook.methods.base import Learner, Settings
from cilbook.nets.vae import Observation

_ROWS = 2000  # images between two checkpoints


@dataclass(frozen=True)
class BankSettings(Settings):
    """Settings of the VAE bank."""

    learning_rate: float = 1e-3  # of each class's Adam
    batch: int = 32  # rows per class and step
    trained_as: Observation = "bernoulli"  # observation model of the training loss


@dataclass(frozen=True)
class GenerativeSettings(BankSettings):
    """Settings of the bank and of the likelihood."""

    scored_as: Observation = "gaussian"  # observation model at classification
    prior: Literal["uniform", "counted"] = "uniform"  # p(y)
    samples: int = 100  # importance samples S
    likelihood: Way = "importance-sampling"


def new_bank(
    spec: Spec, settings: BankSettings, seed: int, device: torch.device | str
) -> VAEBank:
    """The benchmark's bank, still without classes.

    >>> from cilbook.benchmarks import BENCHMARKS
    >>> bank = new_bank(BENCHMARKS["mnist"], BankSettings(), seed=0, device="cpu")
    >>> bank.classes, bank.size_of_one
    ([], 150134)
    """
    return VAEBank(
        spec.class_vae,
        observation=settings.trained_as,
        learning_rate=settings.learning_rate,
        seed=seed,
        device=device,
    )


class GenerativeClassifier(Learner):
    """A VAE bank that classifies by the largest log p(x|y) + log p(y).

    A new class leaves the VAEs of the old ones as they are:

    >>> from cilbook.benchmarks import BENCHMARKS
    >>> spec, sevens = BENCHMARKS["digits"], []
    >>> student = GenerativeClassifier(spec, GenerativeSettings(samples=5), 0, "cpu")
    >>> for label in (7, 4):
    ...     data = spec.load(None).train.of_classes([label])
    ...     loss = student.observe(data.x, data.y)
    ...     sevens.append(student.bank[7].mean.weight.clone())
    >>> torch.equal(*sevens)
    True
    >>> student.scores(data.x[:9]).isfinite().all(0).nonzero().flatten().tolist()
    [4, 7]
    """

    title = "Generative classifier"
    settings_type = GenerativeSettings
    view = "per_class"
    needs_boundaries = False
    independent_classes = True

    def __init__(
        self,
        spec: Spec,
        settings: GenerativeSettings,
        seed: int,
        device: torch.device | str,
    ):
        super().__init__(spec, settings, seed, device)
        self.bank = new_bank(spec, settings, seed, device)
        how = self.estimator, settings.scored_as
        if reason := refusal(self.bank.template, *how):
            raise BadInput(reason)
        self.counts = torch.zeros(spec.classes, dtype=torch.int64)
        self._counts_before = self.counts

    @property
    def estimator(self) -> Way:
        """How log p(x|y) is computed; what `auto` stands for, where it was asked for."""
        way, settings = self.settings.likelihood, self.settings
        return choose(self.bank.template, settings.scored_as) if way == "auto" else way

    def start_task(self, classes: Sequence[int]) -> None:
        """Remember the counts, because a task's mini-batches show samples repeatedly."""
        self._counts_before = self.counts

    def observe(self, x: Tensor, y: Tensor) -> Tensor:
        """One Adam step for each class present, on its own rows."""
        losses = self.bank.learn(x, y)
        self.counts = self.counts + self._count(y)
        return losses

    def end_task(self, data: Images) -> None:
        """Count the task's samples, each once."""
        self.counts = self._counts_before + self._count(data.y)

    def _count(self, y: Tensor) -> Tensor:
        return torch.bincount(y.cpu(), minlength=self.spec.classes)

    def scores(self, x: Tensor) -> Tensor:
        """log p(x|y) + log p(y) at the settings' S."""
        s = self.settings.samples
        return self.scores_by_samples(x, [s])[s]

    def scores_by_samples(self, x: Tensor, grid: Sequence[int]) -> dict[int, Tensor]:
        """The scores at every S of a grid, {S: [n, all classes]}, from one pass."""
        *_, likelihoods = self.likelihoods(x, grid)
        return self.with_prior(likelihoods)

    def likelihoods(
        self, x: Tensor, grid: Sequence[int], partial: Partial | None = None
    ) -> Iterator[Partial]:
        """log p(x|y) at every S of a grid, block by block; `partial` is continued.

        What is no sampler has one estimate, whatever the grid; it stands under its last S.
        """
        if self.estimator in SAMPLERS:
            how = {"observation": self.settings.scored_as, "seed": self.seed}
            how |= {"gram": self.estimator == "gram", "partial": partial}
            yield from block_by_block(self.bank, x, grid, **how)
        else:
            yield from self._by_rows(x, grid[-1], partial)

    def _by_rows(self, x: Tensor, s: int, partial: Partial | None) -> Iterator[Partial]:
        if partial is None:
            scores = x.new_empty(len(x), len(self.bank.classes))
            blocks = -(-len(x) // _ROWS)
            partial = Partial({s: scores}, torch.empty_like(scores), done=0, total=blocks)
        yield partial
        how = {"samples": s, "observation": self.settings.scored_as, "seed": self.seed}
        how["log_prior"] = self.log_prior()[self.bank.classes].to(x)
        while partial.done < partial.total:
            rows = slice(partial.done * _ROWS, (partial.done + 1) * _ROWS)
            found = likelihoods(self.bank, x[rows], self.estimator, **how)
            partial.scores[s][rows], partial.error[rows] = found.log_p, found.standard_error
            partial.done += 1
            yield partial

    def with_prior(self, likelihoods: Partial) -> dict[int, Tensor]:
        """The scores log p(x|y) + log p(y), {S: [n, all classes]}."""
        prior = self.log_prior()
        return {s: self._in_columns(v) + prior.to(v) for s, v in likelihoods.scores.items()}

    def log_prior(self) -> Tensor:
        """log p(y), [all classes]; -inf for a class never seen."""
        counted = self.settings.prior == "counted"
        n = self.counts.double() if counted else (self.counts > 0).double()
        return n.log() - n.sum().clamp(min=1).log()

    def _in_columns(self, likelihoods: Tensor) -> Tensor:
        """From the bank's order of classes to columns by label; 0 where there is none."""
        scores = likelihoods.new_zeros(len(likelihoods), self.spec.classes)
        scores[:, self.bank.classes] = likelihoods
        return scores

    @property
    def trainable(self) -> int:
        """Weights of all class VAEs, of the classes still to come too."""
        return self.bank.size_of_one * self.spec.classes

    def state_dict(self) -> dict[str, Tensor]:
        """The bank and the counts."""
        return self.bank.state_dict() | {
            "counts": self.counts,
            "counts_before": self._counts_before,
        }

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Continue from what `state_dict` gave."""
        self.bank.load_state_dict(state)
        self.counts, self._counts_before = state["counts"], state["counts_before"]
