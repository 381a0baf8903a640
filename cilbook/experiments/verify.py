"""Verifying a stored run: make it again and compare.

On the same CPU, with the same threads and versions, all numbers must be equal to the last
bit; elsewhere, and on a GPU, whose sums have no fixed order, the final accuracies must be
within one point.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from cilbook.errors import BadInput, RunFailed
from cilbook.experiments.request import Plan
from cilbook.experiments.results import read
from cilbook.experiments.run import run

TOLERANCE = 1.0  # points
_FINAL = ("accuracy", "accuracy_plain", "accuracy_by_task_mean")
_MACHINE = ("cpu", "device", "threads", "versions")
_NOT_COMPARED = ("seconds", "provenance", "bank")


@dataclass(frozen=True)
class Comparison:
    """A stored run beside its repetition."""

    changed: list[str]  # what is not the same here: cpu, device, threads, versions
    different: list[str]  # the numbers that break the rule, as sentences

    @property
    def rule(self) -> str:
        """Which rule was applied, and why."""
        if not self.changed:
            return "bit for bit, because CPU, device, threads and versions are the same"
        changed = ", ".join(self.changed)
        return f"within {TOLERANCE} point, because this is different here: {changed}"


def verify(path: Path, *, progress: bool = False) -> Comparison:
    """Repeat a stored run, as near to its machine as this one comes, and compare."""
    stored = _stored(path)
    plan = Plan.of(stored)
    threads = stored["config"].get("threads", 1)
    cuda = stored["config"].get("device") == "cuda" and torch.cuda.is_available()
    device = "cuda" if cuda else "cpu"
    again = run(plan, device=device, threads=threads, progress=progress)
    return compare(stored, again)


def _stored(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise BadInput(f"there is no file {path}")
    stored = read(path)
    if stored is None:
        raise BadInput(f"{path} is not a run that can be verified")
    return stored


def compare(stored: dict[str, Any], again: dict[str, Any]) -> Comparison:
    """Apply the rule that fits the two machines."""
    then, now = stored.get("provenance", {}), again["provenance"]
    if then.get("data_sha256") != now["data_sha256"]:
        raise RunFailed("the data here are not those of the stored run")
    changed = [name for name in _MACHINE if then.get(name) != now[name]]
    if again["config"]["device"] == "cuda":
        changed.append("the order of a GPU's sums")
    names = _FINAL if changed else [n for n in stored if n not in _NOT_COMPARED]
    different = [
        _difference(name, stored.get(name), again.get(name))
        for name in names
        if not _agree(stored.get(name), again.get(name), exactly=not changed)
    ]
    return Comparison(changed, different)


def _agree(stored: Any, again: Any, *, exactly: bool) -> bool:
    if exactly:
        return stored == again
    return stored is not None and abs(stored - again) <= TOLERANCE


def _difference(name: str, stored: Any, again: Any) -> str:
    if isinstance(stored, float):
        return f"{name} was {stored} and is {again}"
    return f"{name} differs"
