"""Tables that need no runs: which method can learn where, and with which numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cilbook.experiments import paper
from cilbook.experiments.request import default_settings, find_benchmark
from cilbook.methods import METHODS, Learner


@dataclass(frozen=True)
class Listing:
    """Records under a name and a caption, for `formats`."""

    number: str
    caption: str
    rows: list[dict[str, Any]]

    def records(self) -> list[dict[str, Any]]:
        """One mapping per row."""
        return self.rows


def applicability() -> Listing:
    """Where each method can learn, from what its class declares; the paper's word beside.

    >>> {row["method"]: row["task_free"] for row in applicability().rows}["gc"]
    True
    """
    caption = (
        "Which streams a method can learn from; what it does at a boundary, if not all."
    )
    return Listing("applicability", caption, [_learns_from(m) for m in METHODS])


def _learns_from(name: str) -> dict[str, Any]:
    method = METHODS[name]
    return {
        "method": name,
        "batch_wise": True,
        "streaming": not (method.looks_again or method.one_task),
        "task_free": not method.needs_boundaries,
        "paper_task_free": paper.TASK_FREE.get(name),
        "why": _why(method),
    }


def _why(method: type[Learner]) -> str | None:
    again = ", looking at its data again" if method.looks_again else ""
    return method.why_boundaries + again or None


def hyperparameters(benchmarks: Sequence[str]) -> Listing:
    """The searched settings: what the paper explored, and what budget `paper` uses."""
    caption = (
        "Hyperparameters: the values explored in the paper (on the test set, seed 1) "
        "and those used here; digits: ours."
    )
    rows = []
    for (method, field), (symbol, explored) in paper.EXPLORED.items():
        row = {"method": method, "setting": field, "symbol": symbol, "explored": explored}
        rows.append(row | {b: _value(b, method, field) for b in benchmarks})
    return Listing("hyperparameters", caption, rows)


def _value(benchmark: str, method: str, field: str) -> float | None:
    if paper.leaves_out(benchmark, method):
        return None
    spec = find_benchmark(benchmark).for_method(method)
    return getattr(default_settings(spec, method, "paper"), field)
