"""Test images and what a classifier thinks of them at each S."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cilbook.show.widgets.pictures import as_images


@dataclass
class Examples:
    """Rows of a test set with their class posteriors, {S: [rows, classes]}.

    Images ([rows, height, width], or with 3 colours at the end, in [0, 1]) and the true
    labels are optional; so are names for the classes, which else go by their numbers.

    >>> one = Examples([435], {1: [[0.4, 0.6]], 10: [[0.9, 0.1]]}, labels=[0])
    >>> one.decision(1, 0), one.decision(10, 0), one.flipped(10, 1, 0)
    (1, 0, True)
    """

    index: Sequence[int]
    posterior: Mapping[int, Any]
    images: Any = None
    labels: Sequence[int] | None = None
    names: Sequence[str] | None = None

    def __post_init__(self) -> None:
        self.index = [int(row) for row in self.index]
        if not self.index:
            raise ValueError("index is empty; expected at least one row of the test set")
        self.posterior = {int(s): _rows(s, p) for s, p in self.posterior.items()}
        if not self.posterior:
            raise ValueError("posterior is empty; expected at least one S")
        self.classes = next(iter(self.posterior.values())).shape[1]
        for samples, rows in self.posterior.items():
            expected = (len(self.index), self.classes)
            if rows.shape != expected:
                raise ValueError(
                    f"posterior[{samples}] has shape {rows.shape}, expected {expected}"
                )
        if self.images is not None:
            self.images = as_images("images", self.images, 1)
            _check_count("images", self.images, len(self.index), "index")
        if self.labels is not None:
            self.labels = self._checked_labels()
        if self.names is not None:
            _check_count("names", self.names, self.classes, "the posterior")

    @classmethod
    def from_run(cls, run: Mapping[str, Any], **extras: Any) -> Examples:
        """The examples of a stored run; extras are `images`, `labels`, `names`.

        Classes are those of the data set, in its own order, whatever the run's order was.
        """
        stored = run.get("examples")
        if not stored:
            raise ValueError(f"the run of {run.get('method')!r} has no examples")
        order = run["config"]["class_order"]  # the column of each class
        posterior = {s: np.asarray(p)[:, order] for s, p in stored["posterior"].items()}
        return cls(stored["index"], posterior, **extras)

    def decision(self, samples: int, row: int) -> int:
        """The most probable class of an example."""
        return int(self.posterior[samples][row].argmax())

    def flipped(self, samples: int, before: int | None, row: int) -> bool:
        """Whether the decision differs from that at S = `before`."""
        return before is not None and (
            self.decision(samples, row) != self.decision(before, row)
        )

    def name(self, label: int) -> str:
        """What a class is called."""
        return str(label) if self.names is None else str(self.names[label])

    def _checked_labels(self) -> list[int]:
        labels = [int(label) for label in self.labels]
        _check_count("labels", labels, len(self.index), "index")
        for label in labels:
            if not 0 <= label < self.classes:
                raise ValueError(
                    f"labels holds {label}; classes are 0 to {self.classes - 1}"
                )
        return labels


def _rows(samples: Any, posterior: Any) -> np.ndarray:
    rows = np.asarray(posterior, dtype=float)
    if rows.ndim != 2:
        raise ValueError(
            f"posterior[{samples}] must be [rows, classes], got shape {rows.shape}"
        )
    if not (rows.min() >= 0 and rows.max() <= 1):
        raise ValueError(
            f"posterior[{samples}] must hold probabilities in [0, 1], "
            f"got {rows.min():g} to {rows.max():g}"
        )
    return rows


def _check_count(name: str, values: Sequence, count: int, other: str) -> None:
    if len(values) != count:
        raise ValueError(f"{name} has {len(values)} entries, {other} has {count}")
