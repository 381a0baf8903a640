"""What every method is: a Learner with four verbs.

The runner calls `start_task`, then `observe` for each mini-batch, then `end_task`; `scores`
may be asked at any time. A method says which view of the data it consumes and whether it
must be told about task boundaries; nothing else is asked of it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from cilbook.benchmarks.spec import Images, Spec
from cilbook.benchmarks.streams import View
from cilbook.errors import BadInput


@dataclass(frozen=True)
class Settings:
    """The numbers of a method; a subclass's defaults are its values on digits."""


class Learner(ABC):
    """A class-incremental learner."""

    title: ClassVar[str]
    settings_type: ClassVar[type[Settings]]
    view: ClassVar[View] = "iterations"
    needs_boundaries: ClassVar[bool]
    why_boundaries: ClassVar[str] = ""  # what it does at a boundary, if it needs them
    looks_again: ClassVar[bool] = False  # needs the data of a finished task once more
    one_task: ClassVar[bool] = False  # all classes at once, as the Joint bound does
    independent_classes: ClassVar[bool] = False  # a class's score never changes later

    def __init__(
        self, spec: Spec, settings: Settings, seed: int, device: torch.device | str
    ):
        self.spec, self.settings, self.seed = spec, settings, seed
        self.device = torch.device(device)
        self.between_steps: Callable[[], None] = lambda: None  # called in a long `end_task`

    def start_task(self, classes: Sequence[int]) -> None:
        """A task with these classes begins."""

    @abstractmethod
    def observe(self, x: Tensor, y: Tensor) -> Tensor | None:
        """Learn from one mini-batch; its loss, for a method that has one."""

    def end_task(self, data: Images) -> None:
        """The task is over; `data` is all of it, for those that may look again."""

    def observe_task_free(self, batches: Iterable[tuple[Tensor, Tensor]]) -> None:
        """Learn from a stream without boundaries, or say why that cannot be.

        >>> from cilbook.benchmarks import BENCHMARKS
        >>> from cilbook.methods.labels_trick import LabelsTrick
        >>> spec, settings = BENCHMARKS["digits"], LabelsTrick.settings_type()
        >>> try:
        ...     LabelsTrick(spec, settings, 0, "cpu").observe_task_free([])
        ... except BadInput as error:
        ...     print(str(error).split(": ")[1])
        the task says which output units are active
        """
        if self.needs_boundaries:
            raise BadInput(
                f"{self.title} cannot learn from a task-free stream: {self.why_boundaries}"
            )
        for x, y in batches:
            self.observe(x, y)

    @abstractmethod
    def scores(self, x: Tensor) -> Tensor:
        """[n, all classes]; the prediction is the argmax over the classes allowed."""

    @property
    @abstractmethod
    def trainable(self) -> int:
        """How many numbers the method learns."""

    @abstractmethod
    def state_dict(self) -> dict[str, Tensor]:
        """Everything learned so far, as tensors."""

    @abstractmethod
    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Continue from what `state_dict` gave."""
