"""Tables of stored runs, each beside what it is compared with."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean, stdev
from typing import Any

import pandas as pd

NO_BREAK = "\N{NARROW NO-BREAK SPACE}"


def mean_and_sem(values: Sequence[float]) -> tuple[float, float | None]:
    """The mean and its standard error sd/sqrt(n); None for a single value.

    >>> mean_and_sem([1.0, 3.0])
    (2.0, 1.0)
    """
    if len(values) == 1:
        return values[0], None
    return mean(values), stdev(values) / len(values) ** 0.5


def by_samples(runs: Sequence[dict[str, Any]]) -> dict[int, tuple[float, float | None]]:
    """Accuracy at each S that all the runs have, {S: (mean, SEM)}."""
    shared = set.intersection(*({*run["by_samples"]} for run in runs))
    return {
        s: mean_and_sem([run["by_samples"][str(s)] for run in runs])
        for s in sorted(int(s) for s in shared)
    }


def samples_table(rows: dict[str, dict[int, tuple[float, float | None]]]) -> pd.DataFrame:
    """One row per name and one column per S, as text "mean ± SEM"."""
    columns = sorted({s for cells in rows.values() for s in cells})
    titles = {s: f"S = {s:,}".replace(",", NO_BREAK) for s in columns}
    texts = {titles[s]: [_text(cells.get(s)) for cells in rows.values()] for s in columns}
    return pd.DataFrame(texts, index=list(rows))


def _text(cell: tuple[float, float | None] | None) -> str:
    if cell is None:
        return "–"
    average, error = cell
    return f"{average:.2f}" if error is None else f"{average:.2f} ± {error:.2f}"
