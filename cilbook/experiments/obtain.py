"""Runs for a page: read where they are stored, made where they are missing."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from cilbook.bank import VAEBank
from cilbook.benchmarks.files import digest_of
from cilbook.errors import BadInput
from cilbook.experiments.claim import claim, clear
from cilbook.experiments.request import Plan, Request
from cilbook.experiments.results import Store, committed
from cilbook.experiments.run import choose_device, run
from cilbook.methods.generative_classifier import new_bank

Run = dict[str, Any]


def default_store() -> Store:
    """The folder named by CILBOOK_RESULTS, or ./results.

    Among the chapters that would be the book's own runs; there it is ../results.
    """
    named = os.environ.get("CILBOOK_RESULTS")
    folder = Path(named or "results")
    if not named and folder.resolve() == committed().folder.resolve():
        folder = Path("..", "results")
    return Store(folder)


def obtain(
    requests: Sequence[Request], *, device: str = "auto", store: Store | None = None
) -> list[Run]:
    """The runs asked for, from the store; a missing one is made now and kept."""
    store = store or default_store()
    return [obtain_one(r, store, device=device, progress=True) for r in requests]


def obtain_one(
    request: Request | Plan,
    store: Store,
    *,
    anew: bool = False,
    wait: bool = True,
    **options: Any,
) -> Run | None:
    """A run from the store, or made now and kept; `anew`: made now in any case.

    Only one process makes it. Another waits, or gets None if it does not `wait`. The
    options are those of `run`.
    """
    plan = request if isinstance(request, Plan) else request.resolve()
    if not anew and (result := store.find(plan)) is not None:
        return result
    folder = store.work_folder(plan)
    with claim(folder, wait=wait) as ours:
        if not ours:
            return None
        result = None if anew else store.find(plan)
        if result is None:
            result = run(request, work=folder, **options)
            store.save(plan, result)
        clear(folder)
    return result


def obtain_bank(
    request: Request | Plan,
    *,
    device: str = "auto",
    store: Store | None = None,
    **options: Any,
) -> tuple[Run, VAEBank]:
    """A generative classifier's run and its trained VAEs, from the store.

    Where the run is missing, or was stored without them, it is made now, and both are kept.
    The options are those of `run`.
    """
    plan = request if isinstance(request, Plan) else request.resolve()
    store, where = store or default_store(), choose_device(device)
    path = store.bank_path(plan)
    options |= {"device": device, "progress": True, "keep_bank": path}
    result = obtain_one(plan, store, **options)
    if not (path.exists() and _is_bank_of(result, path)):
        result = obtain_one(plan, store, anew=True, **options)
    return result, _read_bank(plan, path, where)


def _is_bank_of(run: Run, path: Path) -> bool:
    return "bank" in run and digest_of(path) == run["bank"]["sha256"]


def _read_bank(plan: Plan, path: Path, device: torch.device | str) -> VAEBank:
    bank = new_bank(plan.spec, plan.settings, plan.seed, device)
    bank.load(path)
    return bank


def committed_runs(benchmark: str, method: str, budget: str, **config: Any) -> list[Run]:
    """The book's own runs of a method, those with these numbers in `config`.

    One per seed, in the order of seeds; of several the one with the largest S.
    """
    runs = [
        run
        for run in committed()
        if (run["benchmark"], run["method"], run["budget"]) == (benchmark, method, budget)
        and all(run["config"].get(name) == value for name, value in config.items())
    ]
    runs.sort(key=lambda run: (run["seed"], run["config"].get("samples") or 0))
    return list({run["seed"]: run for run in runs}.values())


def committed_bank(benchmark: str) -> VAEBank | None:
    """The trained VAEs that come with the book, or None where there are none.

    The file must be the one that its run recorded.

    >>> committed_bank("mnist").sample(3, 2).shape, committed_bank("core50")
    (torch.Size([2, 784]), None)
    """
    for stored in committed():
        if stored["benchmark"] == benchmark and "bank" in stored:
            plan = Plan.of(stored)
            path = committed().bank_path(plan)
            if not _is_bank_of(stored, path):
                raise BadInput(f"{path} is damaged: its run recorded another sha256")
            return _read_bank(plan, path, "cpu")
    return None
