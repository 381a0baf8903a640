r"""CWR and CWR+ (Lomonaco and Maltoni, 2017; Maltoni and Lomonaco, 2019).

Both learn each task with a temporary output layer and store the rows of its classes
(`consolidated_head.py`); after the first task the hidden layers are frozen.

    CWR:   the temporary layer starts at random;  cw[c] = w[c]
    CWR+:  the temporary layer starts at zero;    cw[c] = w[c] - mean of cw so far

The mean, one number for the weights and one for the biases, is taken with the raw rows of
the current classes already in cw.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from cilbook.benchmarks.spec import Images
from cilbook.methods.consolidated_head import ConsolidatedHead
from cilbook.methods.none import FineTuning
from cilbook.random import stream


class CWR(FineTuning):
    """A frozen network under an output layer that is stored class by class."""

    title = "CWR"
    needs_boundaries = True

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.head = ConsolidatedHead(self.net[-1])
        self.current: list[int] = []
        self.tasks = 0  # finished

    def start_task(self, classes: Sequence[int]) -> None:
        """A fresh temporary layer; the hidden layers learn in the first task only."""
        super().start_task(classes)
        self.current = sorted(classes)
        self.new_layer()
        self.net[:-1].requires_grad_(self.tasks == 0)

    def new_layer(self) -> None:
        """Start from random rows, for old classes too."""
        self.head.randomise(stream(self.seed, "temporary layer", self.tasks))

    def train_mode(self) -> None:
        """Batch-norm statistics are frozen with the hidden layers."""
        self.net.train(self.tasks == 0)

    def end_task(self, data: Images) -> None:
        """Store the rows of the task's classes and classify with all stored ones."""
        self.head.store(self.current)
        self.consolidate()
        self.head.put_in_place()
        self.tasks += 1

    def consolidate(self) -> None:
        """The rows are kept as they are."""

    def state_dict(self) -> dict[str, Tensor]:
        """The network, the stored rows, and where in the sequence we are."""
        head = {f"head.{k}": v for k, v in self.head.state_dict().items()}
        return (
            super().state_dict()
            | head
            | {
                "current": torch.tensor(self.current, dtype=torch.int64),
                "tasks": torch.tensor(self.tasks),
            }
        )

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Continue from what `state_dict` gave."""
        super().load_state_dict(state)
        self.head.load_state_dict({k: state[f"head.{k}"] for k in ("weight", "bias")})
        self.current, self.tasks = state["current"].tolist(), state["tasks"].item()
        self.net[:-1].requires_grad_(self.tasks == 0)


class CWRPlus(CWR):
    """CWR with zero initialisation and mean-shifted rows."""

    title = "CWR+"

    def new_layer(self) -> None:
        """Start from zero."""
        self.head.zero()

    def consolidate(self) -> None:
        """Centre the new rows on all rows stored so far."""
        self.head.shift(self.current, self.active)
