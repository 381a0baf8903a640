"""What a stored run knew after each task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cilbook.show import style


@dataclass
class History:
    """Accuracies [stage][task] and confusion counts [stage][true][predicted] of a run.

    Tasks count from 1. A run that learns all at once has a single stage; a run with many
    classes keeps the counts of its last stage alone.
    """

    title: str
    colour: str
    accuracy: list[list[float | None]]
    confusion: list[list[list[int]]]
    names: list[str]  # of the classes, in the order in which they came

    @classmethod
    def of_run(
        cls, title: str, run: Mapping[str, Any], names: Sequence[str] | None = None
    ) -> History:
        """Read it from a stored run; a ValueError says what is missing there."""
        rows, counts = run.get("accuracy_matrix"), run.get("confusion")
        if not rows or not counts:
            missing = "confusion" if rows else "accuracy_matrix"
            raise ValueError(f"run {title!r} has no {missing}; a task-free run has none")
        arrived = in_order_of_arrival(run)
        names = [str(c) for c in (names or range(len(arrived)))]
        if len(names) != len(arrived):
            raise ValueError(
                f"names has {len(names)} entries, run {title!r} has {len(arrived)} classes"
            )
        came = [names[label] for label in arrived]
        return cls(title, style.colour(run["method"]), rows, counts, came)

    @property
    def tasks(self) -> int:
        """How many tasks there are."""
        return len(self.accuracy[0])

    @property
    def at_once(self) -> bool:
        """Whether all tasks were learned together."""
        return len(self.accuracy) == 1 < self.tasks

    def row(self, task: int) -> list[float | None]:
        """The accuracy on each task after this one; None for tasks not yet met."""
        return self.accuracy[0] if self.at_once else self.accuracy[task - 1]

    def just_learned(self, j: int) -> float | None:
        """The accuracy on task j (from 0) right after it, if there was such a moment."""
        return None if self.at_once else self.accuracy[j][j]

    def moment(self, task: int) -> str:
        """After what that was, in words."""
        return "all tasks at once" if self.at_once else f"task {task}"

    def counts(self, task: int) -> list[list[int]] | None:
        """Confusion counts [true][predicted] after this task; None if not stored."""
        if len(self.confusion) == len(self.accuracy):
            return self.confusion[0 if self.at_once else task - 1]
        return self.confusion[-1] if task == self.tasks else None

    def classes_of(self, j: int) -> str:
        """The names of the classes of task j (from 0)."""
        size = len(self.names) // self.tasks
        return ", ".join(self.names[j * size : (j + 1) * size])


def in_order_of_arrival(run: Mapping[str, Any]) -> list[int]:
    """The data set's own classes in the order in which a run met them.

    A run counts classes as they come; `class_order` says which number each class got.

    >>> in_order_of_arrival({"config": {"class_order": [2, 0, 1]}})
    [1, 2, 0]
    """
    order = [int(place) for place in run["config"]["class_order"]]
    return sorted(range(len(order)), key=order.__getitem__)
