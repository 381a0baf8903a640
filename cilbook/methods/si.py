r"""Synaptic intelligence (Zenke, Poole and Ganguli, 2017).

    L = CE + c sum_i Omega_i (theta_i - theta_i^prev)^2

Omega is the weight's share in bringing earlier losses down (`path_integral.py`), gathered
while training, so the data are never looked at again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from torch import Tensor, nn

from cilbook.benchmarks.spec import Images
from cilbook.errors import BadInput
from cilbook.methods.none import FineTuning, NetworkSettings
from cilbook.methods.path_integral import PathIntegral
from cilbook.storage import named, part


@dataclass(frozen=True)
class SISettings(NetworkSettings):
    """Settings of SI."""

    strength: float = 1.0  # c
    damping: float = 0.1  # xi

    def __post_init__(self) -> None:
        if self.damping <= 0:
            raise BadInput(f"damping must be larger than 0, got {self.damping}")


class SI(FineTuning):
    """A network whose useful weights are held where the last task left them.

    Moving away costs nothing in the first task; after it, it does:

    >>> from cilbook.benchmarks import BENCHMARKS
    >>> spec, costs = BENCHMARKS["digits"], []
    >>> student = SI(spec, SISettings(), 0, "cpu")
    >>> for classes in [0, 1], [2, 3]:
    ...     data = spec.load(None).train.of_classes(classes)
    ...     student.start_task(classes)
    ...     loss = student.observe(data.x, data.y)
    ...     costs.append(student.path.penalty().item())
    ...     student.end_task(data)
    >>> costs[0], costs[1] > 0
    (0.0, True)
    """

    title = "SI"
    settings_type = SISettings
    needs_boundaries = True
    why_boundaries = "at a boundary it turns what it gathered into importances"

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.path = self.path_integral()

    def path_integral(self) -> PathIntegral:
        """Where the importances are gathered."""
        return PathIntegral(self.guarded(), self.settings.damping)

    def guarded(self) -> Iterable[nn.Parameter]:
        """The weights that the penalty holds: all of them."""
        return self.net.parameters()

    def loss(self, x: Tensor, y: Tensor) -> Tensor:
        """The usual loss and the pull towards where the last task ended."""
        return super().loss(x, y) + self.settings.strength * self.path.penalty()

    def step(self, loss: Tensor) -> None:
        """One Adam step, accounted for in the path integral."""
        before = self.path.position()
        super().step(loss)
        self.path.follow(before)

    def end_task(self, data: Images) -> None:
        """Consolidate; the data are not needed."""
        super().end_task(data)
        self.path.consolidate()

    def state_dict(self) -> dict[str, Tensor]:
        """The network and the path integral."""
        return super().state_dict() | named("path.", self.path.state_dict())

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Continue from what `state_dict` gave."""
        super().load_state_dict(state)
        self.path.load_state_dict(part(state, "path."))
