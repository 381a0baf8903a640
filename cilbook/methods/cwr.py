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
from cilbook.storage import named, part


class CWR(FineTuning):
    """A frozen network under an output layer that is stored class by class.

    The hidden layers learn in the first task only:

    >>> from cilbook.benchmarks import BENCHMARKS
    >>> spec, first_weights = BENCHMARKS["digits"], []
    >>> student = CWR(spec, CWR.settings_type(), 0, "cpu")
    >>> for classes in [0, 1], [2, 3]:
    ...     data = spec.load(None).train.of_classes(classes)
    ...     student.start_task(classes)
    ...     loss = student.observe(data.x, data.y)
    ...     student.end_task(data)
    ...     first_weights.append(student.net[0].weight.detach().clone())
    >>> torch.equal(*first_weights)
    True
    """

    title = "CWR"
    needs_boundaries = True
    why_boundaries = (
        "at a boundary it stores the rows of the task's classes; "
        "a later version does without (Lomonaco et al., 2020)"
    )

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.head = ConsolidatedHead(self.net[-1])
        self.tasks = 0  # finished

    def start_task(self, classes: Sequence[int]) -> None:
        """A fresh temporary layer; the hidden layers learn in the first task only."""
        super().start_task(classes)
        self.start_head(classes)
        self._freeze_later()

    def start_head(self, classes: Sequence[int]) -> None:
        """Start from random rows, for old classes too."""
        self.head.start_random(classes, stream(self.seed, "temporary layer", self.tasks))

    def train_mode(self) -> None:
        """Batch-norm statistics are frozen with the hidden layers."""
        self.net.train(self.tasks == 0)

    def end_task(self, data: Images) -> None:
        """Store the rows of the task's classes."""
        self.store_head()
        self.tasks += 1

    def store_head(self) -> None:
        """The rows are kept as they are."""
        self.head.store()

    def _freeze_later(self) -> None:
        self.net[:-1].requires_grad_(self.tasks == 0)

    def state_dict(self) -> dict[str, Tensor]:
        """The network, the stored rows, and where in the sequence we are."""
        state = super().state_dict() | named("head.", self.head.state_dict())
        return state | {"tasks": torch.tensor(self.tasks)}

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Continue from what `state_dict` gave."""
        super().load_state_dict(state)
        self.head.load_state_dict(part(state, "head."))
        self.tasks = state["tasks"].item()
        self._freeze_later()


class CWRPlus(CWR):
    """CWR with zero initialisation and mean-shifted rows.

    >>> from cilbook.benchmarks import BENCHMARKS
    >>> student = CWRPlus(BENCHMARKS["digits"], CWRPlus.settings_type(), 0, "cpu")
    >>> student.start_task([0, 1])
    >>> student.net[-1].weight.any().item()
    False
    """

    title = "CWR+"

    def start_head(self, classes: Sequence[int]) -> None:
        """Start from zero."""
        self.head.start_zero(classes)

    def store_head(self) -> None:
        """Centre the new rows on all rows stored so far."""
        self.head.store_centred(self.active)
