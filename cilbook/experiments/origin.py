"""Where stored numbers come from: budget, seeds, machine and commit, in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import groupby
from typing import Any

import pandas as pd

from cilbook.benchmarks import BENCHMARKS
from cilbook.methods import METHODS

Run = dict[str, Any]


def origins(runs: Iterable[Run]) -> pd.DataFrame:
    """One row per benchmark, method, budget and S: who made its numbers, and when."""
    ordered = sorted(runs, key=_group)
    rows = [_row(list(group)) for _, group in groupby(ordered, key=_group)]
    return pd.DataFrame(rows)


def origin_banner(runs: Iterable[Run]) -> str:
    """The line of a page that computes nothing and shows stored runs alone, as HTML."""
    runs = list(runs)
    names = [name for name in BENCHMARKS if any(r["benchmark"] == name for r in runs)]
    budgets = _listed(r["budget"] for r in runs)
    told = [
        f"data {', '.join(BENCHMARKS[name].title for name in names)}",
        f"budget <code>{escape(budgets)}</code>",
        f"seeds {ranges([r['seed'] for r in runs])}",
        f"device {escape(_machines(runs))}",
    ]
    return (
        f'<div class="cil-banner"><strong>Read from {len(runs)} stored runs</strong>: '
        f"{' · '.join(told)}.</div>"
    )


def ranges(numbers: Iterable[int]) -> str:
    """Whole numbers with neighbours drawn together.

    >>> ranges([3, 2, 4, 11, 13, 12, 20])
    '2–4, 11–13, 20'
    """
    ordered = sorted(set(numbers))
    parts = []
    for _, run in groupby(enumerate(ordered), key=lambda pair: pair[1] - pair[0]):
        members = [number for _, number in run]
        ends = members if len(members) < 3 else [members[0], members[-1]]
        parts.append(("–" if len(members) > 2 else ", ").join(map(str, ends)))
    return ", ".join(parts)


def _group(run: Run) -> tuple[int, int, str, int, str]:
    """Reading order: as benchmarks and methods are listed, then budget and S."""
    places = [*BENCHMARKS], [*METHODS]
    keys = run["benchmark"], run["method"]
    order = [p.index(k) if k in p else len(p) for p, k in zip(places, keys, strict=True)]
    scored_as = run["config"].get("scored_as") or ""
    return (*order, run["budget"], run["config"].get("samples") or 0, scored_as)


def _row(runs: Sequence[Run]) -> dict[str, str]:
    first = runs[0]
    made = [run["provenance"] for run in runs]
    return {
        "benchmark": first["benchmark"],
        "method": first["method"],
        "budget": first["budget"],
        "S": str(first["config"].get("samples", "–")),
        "runs": str(len(runs)),
        "seeds": ranges(run["seed"] for run in runs),
        "made": _listed(p["created"][:10] for p in made),
        "commit": _listed(str(p["commit"])[:7] for p in made),
        "device": _machines(runs),
    }


def _machines(runs: Sequence[Run]) -> str:
    made = [run["provenance"] for run in runs]
    return _listed(f"{p['device']} ({p['cpu']}, {_threads(p['threads'])})" for p in made)


def _threads(count: int) -> str:
    return "1 thread" if count == 1 else f"{count} threads"


def _listed(words: Iterable[str]) -> str:
    return ", ".join(sorted(set(words)))
