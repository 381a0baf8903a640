r"""AR1 (Maltoni and Lomonaco, 2019): CWR+'s output layer on hidden layers under SI.

    L = CE + c sum_{i hidden} Omega_i (theta_i - theta_i^prev)^2
    Omega <- min(max(Omega + omega / (Delta^2 + xi), 0), Omega_max)   after each task

The hidden layers are not frozen; their importances are clipped, and carried over clipped.
The output layer starts each task at zero, and its rows are stored as in CWR+.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from torch import Tensor, nn

from cilbook.benchmarks.spec import Images
from cilbook.methods.consolidated_head import ConsolidatedHead
from cilbook.methods.cwr import CWR
from cilbook.methods.path_integral import PathIntegral
from cilbook.methods.si import SI, SISettings
from cilbook.storage import named, part


@dataclass(frozen=True)
class AR1Settings(SISettings):
    """Settings of AR1."""

    strength: float = 10.0  # c
    largest: float = 0.1  # Omega_max


class AR1(SI):
    """SI on the hidden layers, clipped, under CWR+'s output layer.

    >>> from cilbook.benchmarks import BENCHMARKS
    >>> spec = BENCHMARKS["digits"]
    >>> student = AR1(spec, AR1Settings(largest=1e-5), 0, "cpu")
    >>> data = spec.load(None).train.of_classes([0, 1])
    >>> student.start_task([0, 1])
    >>> student.net[-1].weight.any().item()
    False
    >>> for _ in range(3):
    ...     loss = student.observe(data.x, data.y)
    >>> student.end_task(data)
    >>> student.path.importance.aminmax()
    torch.return_types.aminmax(
    min=tensor(0.),
    max=tensor(1.0000e-05))
    """

    title = "AR1"
    settings_type = AR1Settings
    why_boundaries = CWR.why_boundaries

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.head = ConsolidatedHead(self.net[-1])

    def path_integral(self) -> PathIntegral:
        """Where the importances are gathered, none above the largest."""
        settings = self.settings
        return PathIntegral(self.guarded(), settings.damping, settings.largest)

    def guarded(self) -> Iterable[nn.Parameter]:
        """The weights that the penalty holds: those of the hidden layers."""
        return self.net[:-1].parameters()

    def start_task(self, classes: Sequence[int]) -> None:
        """A temporary output layer of zeros."""
        super().start_task(classes)
        self.head.start_zero(classes)

    def end_task(self, data: Images) -> None:
        """Consolidate the hidden weights, then the rows of the task's classes."""
        super().end_task(data)
        self.head.store_centred(self.active)

    def state_dict(self) -> dict[str, Tensor]:
        """The network, the path integral and the stored rows."""
        return super().state_dict() | named("head.", self.head.state_dict())

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Continue from what `state_dict` gave."""
        super().load_state_dict(state)
        self.head.load_state_dict(part(state, "head."))
