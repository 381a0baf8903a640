"""A sweep: many runs in worker processes; what is stored already is not run again.

Killing it, or one of its workers, loses nothing but the time since the last checkpoints:
every run is claimed by the process that makes it, and the same sweep goes on where it
stopped. Sweeps that share a store share the work.
"""

from __future__ import annotations

import sys
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from time import monotonic
from typing import Any
from warnings import warn

from tqdm.auto import tqdm

from cilbook.benchmarks import BENCHMARKS
from cilbook.errors import BadInput
from cilbook.experiments import paper
from cilbook.experiments.checkpoint import INTERVAL
from cilbook.experiments.request import (
    NotDefined,
    Request,
    check_budget,
    default_iterations,
)
from cilbook.experiments.results import Store
from cilbook.experiments.run import check_machine
from cilbook.experiments.tables import Table, table_2
from cilbook.experiments.workers import Team
from cilbook.methods import METHODS

_TRIES = 2
_POLL = 1.0  # seconds until a run that another sweep makes is asked for again


@dataclass(frozen=True)
class Failure:
    """A run that did not finish, and why."""

    key: str
    error: str


def plan_sweep(
    benchmarks: Sequence[str],
    methods: Sequence[str],
    seeds: int | Sequence[int],
    *,
    budget: str = "quick",
    samples: int | None = None,
    likelihood: str | None = None,
    changes: Mapping[str, Any] | None = None,
) -> list[Request]:
    """Every run of a sweep; `seeds` is a list, or how many of the paper's.

    S, the likelihood and changed settings go to the methods that take them. A method that
    a benchmark does not define is left out.
    """
    check_budget(budget)
    estimator = {"samples": samples, "likelihood": likelihood}
    estimator = {name: value for name, value in estimator.items() if value is not None}
    changes = changes or {}
    pairs = [(benchmark, method) for benchmark in benchmarks for method in methods]
    taken = {pair: _taken(*pair, budget) for pair in pairs}
    useless = {*estimator, *changes}.difference(*taken.values())  # refused by `resolve`
    requests = []
    for pair in pairs:
        names = taken[pair] | useless
        numbers = {name: value for name, value in estimator.items() if name in names}
        own_changes = {name: value for name, value in changes.items() if name in names}
        own_seeds = paper.seeds(pair[1], seeds) if isinstance(seeds, int) else seeds
        asked = [
            Request(*pair, seed, budget, **numbers, changes=own_changes)
            for seed in own_seeds
        ]
        try:
            for request in asked:
                request.resolve()
        except NotDefined:
            continue
        requests += asked
    if not requests:
        raise BadInput("there is nothing to run: no benchmark here defines these methods")
    return requests


def _taken(benchmark: str, method: str, budget: str) -> set[str]:
    """The names that a method takes; of an unknown one nothing is known."""
    if method not in METHODS or benchmark not in BENCHMARKS:
        return set()
    learner = METHODS[method]
    names = {f.name for f in fields(learner.settings_type)}
    spec = BENCHMARKS[benchmark].for_method(method)
    if default_iterations(spec, learner, budget) is not None:
        names.add("iterations")
    return names


def sweep(
    requests: Sequence[Request],
    store: Store,
    *,
    workers: int = 1,
    device: str = "auto",
    threads: int = 1,
    data_dir: Path | None = None,
    interval: float = INTERVAL,
    progress: bool = False,
) -> list[Failure]:
    """Make every run that is missing from the store; those that failed, with their errors.

    A failed run is tried once more, unless what was asked for cannot be done at all.
    """
    if workers < 1:
        raise BadInput(f"workers must be at least 1, got {workers}")
    check_machine(device, threads)
    store.create()
    runs = {request.resolve().key: request for request in requests}
    missing = [k for k, r in runs.items() if store.find(r.resolve()) is None]
    options = {"device": device, "threads": threads, "data_dir": data_dir}
    bar = tqdm(
        total=len(runs),
        initial=len(runs) - len(missing),
        desc="runs",
        unit="run",
        disable=not progress,
    )
    size = min(workers, len(missing))
    with bar, Team(size, store, options | {"interval": interval}) as team:
        return _make({key: runs[key] for key in missing}, team, bar)


def _make(runs: Mapping[str, Request], team: Team, bar: tqdm) -> list[Failure]:
    ready, elsewhere = deque(runs), []
    tries: Counter[str] = Counter()
    failures, next_poll = [], monotonic()
    while ready or elsewhere or team.busy:
        if elsewhere and monotonic() >= next_poll:
            ready.extend(elsewhere)
            elsewhere, next_poll = [], monotonic() + _POLL
        while ready and team.idle:
            key = ready.popleft()
            team.give(key, runs[key])
        for key, answer in team.answers(timeout=_POLL):
            for text in answer.warnings:
                warn(text, stacklevel=2)
            if answer.kind == "elsewhere":
                elsewhere.append(key)
                continue
            tries[key] += 1
            if answer.kind == "failed" and tries[key] < _TRIES:
                ready.append(key)
                continue
            if answer.kind != "done":
                failures.append(Failure(key, answer.error))
                bar.set_postfix(failed=len(failures))
            bar.update()
        if sys.stderr.isatty():
            bar.refresh()
    return failures


def table_of(requests: Sequence[Request], store: Store) -> Table:
    """The table that a sweep ends with: its own runs, beside the paper's Table 2."""
    plans = [request.resolve() for request in requests]
    runs = (run for plan in plans if (run := store.find(plan)) is not None)
    pairs = list(dict.fromkeys((plan.spec.name, plan.method) for plan in plans))
    budgets = dict.fromkeys(plan.budget for plan in plans)
    return Table("2", " and ".join(budgets), table_2(runs, pairs))
