r"""Elastic weight consolidation (Kirkpatrick et al., 2017), one quadratic term per task.

    L = CE + lambda/2 sum_{k<t} sum_i F_i^(k) (theta_i - theta_i^(k))^2

    F^(k) = mean_x sum_c p_c(x) (d log p_c(x) / d theta)^2,  p = softmax of active classes

The Fisher information says how much the predictions depend on each weight; it is estimated
after each task from 1000 of its samples, in eval mode.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.func import functional_call, jacrev, vmap
from torch.nn.utils import parameters_to_vector

from cilbook.benchmarks.spec import Images
from cilbook.methods.none import FineTuning, NetworkSettings
from cilbook.random import stream

_JACOBIAN = 2**25  # numbers held at once: samples x classes x weights


@dataclass(frozen=True)
class EWCSettings(NetworkSettings):
    """Settings of EWC."""

    strength: float = 1e4  # lambda
    fisher_samples: int = 1000


class EWC(FineTuning):
    """A network whose important weights are held where each task left them."""

    title = "EWC"
    settings_type = EWCSettings
    needs_boundaries = True

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.fishers: list[Tensor] = []  # one [weights] per finished task
        self.anchors: list[Tensor] = []  # theta^(k), likewise

    def loss(self, x: Tensor, y: Tensor) -> Tensor:
        """Cross-entropy and the pull towards the anchors."""
        return super().loss(x, y) + self.settings.strength * self.penalty()

    def penalty(self) -> Tensor:
        """1/2 sum_k sum_i F_i (theta_i - anchor_i)^2."""
        theta = parameters_to_vector(self.net.parameters())
        terms = zip(self.fishers, self.anchors, strict=True)
        pulls = [(f * (theta - anchor).square()).sum() for f, anchor in terms]
        return sum(pulls, theta.new_zeros(())) / 2

    def end_task(self, data: Images) -> None:
        """Look at the task's data once more, for the Fisher information."""
        rng = stream(self.seed, "fisher", len(self.fishers))
        chosen = rng.permutation(len(data))[: self.settings.fisher_samples]
        x, _ = data.batch(torch.from_numpy(chosen).to(self.device))
        self.fishers.append(self.fisher(x))
        self.anchors.append(parameters_to_vector(self.net.parameters()).detach().clone())

    def fisher(self, x: Tensor) -> Tensor:
        """The diagonal Fisher information of the weights, mean over x, [weights]."""
        self.net.eval()
        weights = {k: v.detach() for k, v in self.net.named_parameters()}
        buffers = dict(self.net.named_buffers())
        active = torch.tensor(self.active, device=x.device)

        def log_p(weights: Mapping[str, Tensor], one: Tensor) -> tuple[Tensor, Tensor]:
            logits = functional_call(self.net, (weights, buffers), (one[None],))
            values = logits[0, active].log_softmax(0)
            return values, values

        per_sample = vmap(jacrev(log_p, has_aux=True), in_dims=(None, 0))
        size = max(1, _JACOBIAN // (len(active) * self.trainable))
        total = {name: torch.zeros_like(weight) for name, weight in weights.items()}
        for chunk in x.split(size):
            jacobians, values = per_sample(
                weights, chunk
            )  # [n, classes, ...], [n, classes]
            for name, jacobian in jacobians.items():
                p = values.exp().view(*values.shape, *[1] * (jacobian.dim() - 2))
                total[name] += (p * jacobian.square()).sum((0, 1))
        return parameters_to_vector(total.values()) / len(x)

    def state_dict(self) -> dict[str, Tensor]:
        """The network, and what each task left behind."""
        state = super().state_dict()
        state |= {f"fisher.{k}": f for k, f in enumerate(self.fishers)}
        return state | {f"anchor.{k}": a for k, a in enumerate(self.anchors)}

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Continue from what `state_dict` gave."""
        super().load_state_dict(state)
        tasks = sum(name.startswith("fisher.") for name in state)
        self.fishers = [state[f"fisher.{k}"].to(self.device) for k in range(tasks)]
        self.anchors = [state[f"anchor.{k}"].to(self.device) for k in range(tasks)]
