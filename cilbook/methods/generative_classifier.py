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
from cilbook.likelihood import closed_form, gram
from cilbook.likelihood.importance_sampling import Partial, block_by_block
from cilbook.likelihood.prior_samples import prior_samples
from cilbook.methods.base import Learner, Settings
from cilbook.nets.vae import VAE, Observation

Likelihood = Literal["importance-sampling", "gram", "closed-form", "prior-samples"]
SAMPLERS = ("importance-sampling", "gram")  # the paper's: an estimate at every S in passing


@dataclass(frozen=True)
class BankSettings(Settings):
    """Settings of the VAE bank."""

    learning_rate: float = 1e-3
    batch: int = 32  # rows per class and step
    trained_as: Observation = "bernoulli"  # observation model of the training loss


@dataclass(frozen=True)
class GenerativeSettings(BankSettings):
    """Settings of the bank and of the likelihood."""

    scored_as: Observation = "gaussian"  # observation model at classification
    prior: Literal["uniform", "counted"] = "uniform"  # p(y)
    samples: int = 100  # importance samples S
    likelihood: Likelihood = "importance-sampling"


def check_likelihood(vae: VAE, settings: GenerativeSettings) -> None:
    """BadInput if the settings' likelihood cannot score such VAEs."""
    way, scored_as = settings.likelihood, settings.scored_as
    needs = {
        "closed-form": (closed_form.applies, "a linear decoder"),
        "gram": (gram.applies, "a decoder whose last layer is linear"),
        "prior-samples": (lambda _, scored: scored == "gaussian", "any decoder"),
    }
    if way in needs:
        applies, what = needs[way]
        if not applies(vae, scored_as):
            raise BadInput(
                f"likelihood {way} is for {what} scored as gaussian; "
                "importance-sampling works for all"
            )


def new_bank(
    spec: Spec, settings: BankSettings, seed: int, device: torch.device | str
) -> VAEBank:
    """The benchmark's bank, still without classes."""
    return VAEBank(
        spec.class_vae,
        observation=settings.trained_as,
        learning_rate=settings.learning_rate,
        seed=seed,
        device=device,
    )


class GenerativeClassifier(Learner):
    """A VAE bank that classifies by the largest log p(x|y) + log p(y)."""

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
        check_likelihood(self.bank.template, settings)
        self.counts = torch.zeros(spec.classes, dtype=torch.int64)
        self._counts_before = self.counts

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
        way, where = self.settings.likelihood, {"seed": self.seed}
        if way in SAMPLERS:
            how = {"observation": self.settings.scored_as, "gram": way == "gram"}
            yield from block_by_block(self.bank, x, grid, **how, **where, partial=partial)
        elif way == "closed-form":
            yield Partial({grid[-1]: closed_form.closed_form(self.bank, x)}, 1, 1)
        else:
            scores = prior_samples(self.bank, x, grid[-1], **where)
            yield Partial({grid[-1]: scores}, 1, 1)

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
