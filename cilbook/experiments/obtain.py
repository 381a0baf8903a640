"""Runs for a page: read where they are stored, made where they are missing."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cilbook.experiments.request import Request
from cilbook.experiments.results import Store, committed
from cilbook.experiments.run import run

Run = dict[str, Any]


def default_store() -> Store:
    """The folder named by CILBOOK_RESULTS, or ./results."""
    return Store(Path(os.environ.get("CILBOOK_RESULTS", "results")))


def obtain(
    requests: Sequence[Request], *, device: str = "auto", store: Store | None = None
) -> list[Run]:
    """The runs asked for, from the store; a missing one is made now and kept."""
    store = store or default_store()
    found = []
    for request in requests:
        plan = request.resolve()
        result = store.find(plan)
        if result is None:
            result = run(request, device=device, progress=True)
            store.save(plan, result)
        found.append(result)
    return found


def committed_runs(benchmark: str, method: str, budget: str, **config: Any) -> list[Run]:
    """The book's own runs of a method, by seed, those with these numbers in `config`."""
    runs = [
        run
        for run in committed()
        if (run["benchmark"], run["method"], run["budget"]) == (benchmark, method, budget)
        and all(run["config"].get(name) == value for name, value in config.items())
    ]
    return sorted(runs, key=lambda run: run["seed"])
