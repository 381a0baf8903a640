r"""The path integral of synaptic intelligence: which weights brought the loss down.

    omega_i <- omega_i - g_i (theta_i after - theta_i before)      at every step
    Omega_i <- Omega_i + omega_i / ((theta_i end - theta_i start)^2 + xi)   after a task

`g` is the gradient of the total loss. With a maximum, Omega is clipped to [0, maximum] and
carried over so. A piece that methods compose: SI uses it for all weights, others for some.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import torch
from torch import Tensor, nn
from torch.nn.utils import parameters_to_vector

_STATE = ("start", "running", "importance")


class PathIntegral:
    """Running omega and consolidated Omega of some weights, as flat vectors.

    Over many small steps the omegas add up to what the loss came down by. Here it is
    2 a^2 + b^2 / 2, and falls from 2.5 to 0; a did four fifths of that:

    >>> weight = nn.Parameter(torch.tensor([1.0, 1.0]))
    >>> path = PathIntegral([weight], damping=0.1)
    >>> for _ in range(400):
    ...     before = path.position()
    ...     weight.grad = torch.tensor([4.0, 1.0]) * weight.detach()
    ...     weight.data -= 0.01 * weight.grad
    ...     path.follow(before)
    >>> [round(omega, 1) for omega in path.running.tolist()]
    [2.0, 0.5]
    """

    def __init__(
        self,
        weights: Iterable[nn.Parameter],
        damping: float,
        maximum: float | None = None,
    ):
        self.weights, self.damping, self.maximum = list(weights), damping, maximum
        self.start = self.position()  # theta where the task began, and the last one ended
        self.running = torch.zeros_like(self.start)  # omega
        self.importance = torch.zeros_like(self.start)  # Omega

    def position(self) -> Tensor:
        """The weights now."""
        return parameters_to_vector(self.weights).detach().clone()

    def penalty(self) -> Tensor:
        """sum_i Omega_i (theta_i - theta_i at the end of the last task)^2."""
        theta = parameters_to_vector(self.weights)
        return (self.importance * (theta - self.start).square()).sum()

    def follow(self, before: Tensor) -> None:
        """Account for the step just made from `before`, along the gradients it used."""
        gradient = parameters_to_vector(
            [torch.zeros_like(w) if w.grad is None else w.grad for w in self.weights]
        )
        self.running -= gradient * (self.position() - before)

    def consolidate(self) -> None:
        """Turn the finished task's omega into importance."""
        end = self.position()
        moved = (end - self.start).square()
        importance = self.importance + self.running / (moved + self.damping)
        clipped = self.maximum is not None
        self.importance = importance.clamp(0, self.maximum) if clipped else importance
        self.running = torch.zeros_like(end)
        self.start = end

    def state_dict(self) -> dict[str, Tensor]:
        """The three vectors."""
        return {name: getattr(self, name) for name in _STATE}

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Continue from what `state_dict` gave."""
        for name in _STATE:
            setattr(self, name, state[name].to(self.start.device, copy=True))
