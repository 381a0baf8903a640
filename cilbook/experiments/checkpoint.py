"""Checkpoints: where a long run stands, so that a killed one goes on to the same numbers.

Random numbers belong to addresses, so a position is enough: the learner's state, how many
tasks and mini-batches it has learned, the scores of the finished stages, and the blocks of
likelihoods that are done.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from time import perf_counter
from typing import Any
from warnings import warn

from safetensors import SafetensorError
from torch import Tensor

from cilbook.likelihood.importance_sampling import Partial
from cilbook.methods import Learner
from cilbook.storage import named, part, read_tensors, write_tensors

INTERVAL = 300.0  # seconds between two checkpoints


@dataclass
class Progress:
    """How far a run has come."""

    task: int = 0  # tasks finished
    iteration: int = 0  # mini-batches of the next one learned; 0: it has not begun
    stages: list[Tensor] = field(default_factory=list)  # test scores after each task
    likelihoods: Partial | None = None
    seconds: dict[str, float] = field(
        default_factory=lambda: {"train": 0.0, "predict": 0.0}
    )
    _since: float = field(default_factory=perf_counter)

    def spent(self, on: str) -> None:
        """Count the time since the last call (or the beginning) as spent on this."""
        now = perf_counter()
        self.seconds[on] += now - self._since
        self._since = now

    def pause(self) -> None:
        """Count the time since the last call as spent on nothing."""
        self._since = perf_counter()


class Checkpoint:
    """A file that holds the latest position of one run; without a folder, nothing."""

    def __init__(
        self, folder: Path | None, made_by: Mapping[str, Any], interval: float = INTERVAL
    ):
        self.path = None if folder is None else folder / "checkpoint.safetensors"
        self.made_by = json.loads(json.dumps(made_by))
        self.interval = inf if folder is None else interval
        self._next = perf_counter() + self.interval

    def keep(self, learner: Learner, progress: Progress, spent_on: str) -> None:
        """Write where the run stands, if it is time."""
        if perf_counter() < self._next:
            return
        progress.spent(spent_on)
        self._write(learner, progress)
        progress.pause()
        self._next = perf_counter() + self.interval

    def resume(self, learner: Learner) -> Progress:
        """Put the learner where the last checkpoint left it, or at the beginning."""
        if self.path is None or not self.path.exists():
            return Progress()
        try:
            tensors, texts = read_tensors(self.path)
            notes, made_by = json.loads(texts["notes"]), json.loads(texts["made_by"])
        except (OSError, SafetensorError, ValueError, KeyError) as error:
            warn(f"{self.path} is damaged, the run starts anew: {error}", stacklevel=2)
            return Progress()
        changed = [k for k, v in self.made_by.items() if made_by.get(k) != v]
        if changed:
            names = ", ".join(changed)
            warn(f"{self.path} is of other {names}, the run starts anew", stacklevel=2)
            return Progress()
        learner.load_state_dict(part(tensors, "learner."))
        return _progress(tensors, notes)

    def _write(self, learner: Learner, progress: Progress) -> None:
        """Whole or not at all; a checkpoint that cannot be written is no reason to stop."""
        tensors = named("learner.", learner.state_dict())
        tensors |= {f"stage.{i}": v for i, v in enumerate(progress.stages)}
        notes = {"task": progress.task, "iteration": progress.iteration}
        notes |= {"stages": len(progress.stages), "seconds": progress.seconds}
        if (likelihoods := progress.likelihoods) is not None:
            tensors |= {f"likelihood.{s}": v for s, v in likelihoods.scores.items()}
            tensors["likelihood error"] = likelihoods.error
            notes |= {"done": likelihoods.done, "total": likelihoods.total}
        texts = {"notes": json.dumps(notes), "made_by": json.dumps(self.made_by)}
        try:
            write_tensors(self.path, tensors, **texts)
        except (OSError, SafetensorError) as error:
            warn(f"the run goes on, but its checkpoint is not kept: {error}", stacklevel=2)


def _progress(tensors: Mapping[str, Tensor], notes: Mapping[str, Any]) -> Progress:
    likelihoods = None
    if scores := {int(s): v for s, v in part(tensors, "likelihood.").items()}:
        error, blocks = tensors["likelihood error"], (notes["done"], notes["total"])
        likelihoods = Partial(scores, error, *blocks)
    return Progress(
        task=notes["task"],
        iteration=notes["iteration"],
        stages=[tensors[f"stage.{i}"] for i in range(notes["stages"])],
        likelihoods=likelihoods,
        seconds=notes["seconds"],
    )
