"""Tables of stored runs, each beside what it is compared with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from math import hypot
from statistics import mean, stdev
from typing import Any
from warnings import warn

import pandas as pd

from cilbook.errors import BadInput
from cilbook.experiments import paper
from cilbook.experiments.request import (
    BUDGETS,
    Plan,
    check_budget,
    default_iterations,
    default_settings,
    find_benchmark,
)
from cilbook.likelihood.engine import SAMPLERS
from cilbook.methods import METHODS

Run = dict[str, Any]
Pair = tuple[str, str]  # benchmark, method

PAPER_SAMPLER = (*SAMPLERS, None)  # None: not a gc run
METRICS = {"joint": "accuracy_plain", "gc": "accuracy", "gen-samples": "accuracy"}
METRIC = "accuracy_by_task_mean"  # of all other methods
QUESTIONS = {
    "among all classes": "accuracy_matrix",
    "within the task": "accuracy_matrix_within_task",
}
NO_BREAK = "\N{NARROW NO-BREAK SPACE}"

_CAPTIONS = {
    "2": "accuracy (%) after the last task",
    "3": "accuracy (%) of Bayes' rule, and of a network trained on the VAEs' samples",
    "4": "accuracy (%) against the number of importance samples",
}


@dataclass(frozen=True)
class Row:
    """Our runs of a method on a benchmark beside the published number."""

    benchmark: str
    method: str
    samples: int | list[int] | None  # S; a list where seeds differ
    n: int
    mean: float | None
    sem: float | None
    paper_mean: float | None
    paper_sem: float | None

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's."""
        if self.mean is None or self.paper_mean is None:
            return None
        return self.mean - self.paper_mean

    @property
    def verdict(self) -> str:
        """Whether we found what the paper did: within two standard errors + 0.3 points."""
        if self.n == 0:
            return "not run"
        if self.paper_mean is None:
            return "not in the paper"
        if self.n == 1:
            return "one seed"
        margin = 2 * hypot(self.sem, self.paper_sem) + 0.3
        return "yes" if abs(self.difference) <= margin else "no"

    def as_dict(self) -> dict[str, Any]:
        """All columns, the two computed ones last."""
        return asdict(self) | {"difference": self.difference, "verdict": self.verdict}


@dataclass(frozen=True)
class Table:
    """Rows under the number that their table has in the paper."""

    number: str
    budget: str
    rows: list[Row]

    def records(self) -> list[dict[str, Any]]:
        """One mapping per row."""
        return [row.as_dict() for row in self.rows]

    @property
    def caption(self) -> str:
        """What the numbers are."""
        return f"Table {self.number}: {_CAPTIONS[self.number]}, budget {self.budget}."


def paper_table(
    number: str, runs: Iterable[Run], budget: str, benchmarks: Sequence[str]
) -> Table:
    """A table of the paper from stored runs of a budget."""
    check_budget(budget)
    for benchmark in benchmarks:
        find_benchmark(benchmark)
    runs = paper_runs(runs, budget)
    if number == "2":
        methods = [method for method in METHODS if method != "gen-samples"]
        return Table(number, budget, table_2(runs, all_pairs(benchmarks, methods)))
    if number == "3":
        return Table(number, budget, table_2(runs, all_pairs(benchmarks, paper.TABLE_3)))
    return Table(number, budget, table_4(runs, benchmarks))


def paper_runs(runs: Iterable[Run], budget: str) -> Iterator[Run]:
    """Those that may stand in a table of the paper: its settings, its sampler."""
    for run in runs:
        if run["budget"] != budget or run.get("estimator") not in PAPER_SAMPLER:
            continue
        if _has_defaults(run):
            yield run
        else:
            name = f"{run['benchmark']} {run['method']} seed {run['seed']}"
            reason = f"its settings are not those of budget {budget} here"
            warn(f"{name} is left out: {reason}", stacklevel=2)


def _has_defaults(run: Run) -> bool:
    """Whether the run's numbers are those of its budget today, whatever its S."""
    try:
        plan = Plan.of(run)
    except BadInput:  # a benchmark or method that is not known here
        return False
    settings = asdict(default_settings(plan.spec, plan.method, run["budget"]))
    settings["iterations"] = default_iterations(plan.spec, plan.learner_type, run["budget"])
    config = run["config"]
    return all(
        config.get(name, value) == value
        for name, value in settings.items()
        if name not in ("samples", "likelihood")
    )


def table_2(runs: Iterable[Run], pairs: Sequence[Pair]) -> list[Row]:
    """The accuracy after the last task of each method on each benchmark."""
    found = _by_seed(runs)
    rows = []
    for benchmark, method in pairs:
        mine = found.get((benchmark, method), {}).values()
        published = paper.published(benchmark, method)
        if any(run["budget"] == "custom" for run in mine):
            published = None
        values = [run["value"] for run in mine]
        samples = sorted({run["samples"] for run in mine if run["samples"] is not None})
        one = samples[0] if len(samples) == 1 else samples or None
        rows.append(_row(benchmark, method, one, values, published))
    return rows


def table_4(runs: Iterable[Run], benchmarks: Sequence[str]) -> list[Row]:
    """The generative classifier's accuracy at each S, from the same trained models."""
    found = _by_seed(runs)
    rows = []
    for benchmark in benchmarks:
        mine = found.get((benchmark, "gc"), {}).values()
        for s in paper.SAMPLES:
            at_s = [run["by_samples"].get(str(s)) for run in mine]
            values = [value for value in at_s if value is not None]
            published = paper.TABLE_4.get(benchmark, {}).get(s)
            rows.append(_row(benchmark, "gc", s, values, published))
    return rows


def all_pairs(benchmarks: Sequence[str], methods: Iterable[str]) -> list[Pair]:
    """These methods on every benchmark, but for those that the paper leaves out."""
    return [(b, m) for b in benchmarks for m in methods if not paper.leaves_out(b, m)]


def _by_seed(runs: Iterable[Run]) -> dict[Pair, dict[int, Run]]:
    """What tables need of each run; of a seed's runs the one with the largest S."""
    found: dict[Pair, dict[int, Run]] = {}
    for run in runs:
        seeds = found.setdefault((run["benchmark"], run["method"]), {})
        brief = {
            "budget": run["budget"],
            "value": run[METRICS.get(run["method"], METRIC)],
            "samples": run["config"].get("samples"),
            "by_samples": run.get("by_samples") or {},
        }
        known = seeds.get(run["seed"])
        if known is None or (brief["samples"] or 0) > (known["samples"] or 0):
            seeds[run["seed"]] = brief
    return found


def _row(
    benchmark: str,
    method: str,
    samples: int | list[int] | None,
    values: Sequence[float],
    published: tuple[float, float] | None,
) -> Row:
    ours = mean_and_sem(values) if values else (None, None)
    theirs = published or (None, None)
    return Row(benchmark, method, samples, len(values), *ours, *theirs)


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


def by_question(runs: Sequence[Run]) -> dict[str, tuple[float, float | None]]:
    """The final mean over tasks, {question: (mean, SEM)}: one net, asked in two ways.

    >>> run = {
    ...     "accuracy_matrix": [[99.0, None], [0.0, 98.0]],
    ...     "accuracy_matrix_within_task": [[99.0, None], [96.0, 98.0]],
    ... }
    >>> by_question([run])
    {'among all classes': (49.0, None), 'within the task': (97.0, None)}
    """
    return {
        question: mean_and_sem([mean(run[matrix][-1]) for run in runs])
        for question, matrix in QUESTIONS.items()
    }


def samples_table(rows: dict[str, dict[int, tuple[float, float | None]]]) -> pd.DataFrame:
    """One row per name and one column per S, as text "mean ± SEM"."""
    columns = sorted({s for cells in rows.values() for s in cells})
    titles = {s: f"S = {s:,}".replace(",", NO_BREAK) for s in columns}
    texts = {titles[s]: [_text(cells.get(s)) for cells in rows.values()] for s in columns}
    return pd.DataFrame(texts, index=list(rows))


def methods_table(
    made: Iterable[Run],
    stored: Iterable[Run],
    methods: Sequence[str],
    benchmarks: Sequence[str],
) -> pd.DataFrame:
    """Table 2 for a page: a column per method, a row per origin of the runs.

    `made` are the page's own runs, `stored` those that come with the book. A row without
    any run is left out; a benchmark of the paper ends with a row that compares.
    """
    made, stored = list(made), list(paper_runs(stored, "paper"))
    rows: dict[str, list[str]] = {}
    for benchmark in benchmarks:
        title = find_benchmark(benchmark).title
        pairs = [(benchmark, method) for method in methods]
        for whose, runs in (("made here", made), ("stored", stored)):
            for budget in BUDGETS:
                found = table_2([r for r in runs if r["budget"] == budget], pairs)
                if any(row.n for row in found):
                    name = f"{title}, budget {budget}, {whose}"
                    rows[name] = [_counted(row.n, row.mean, row.sem) for row in found]
        if benchmark in paper.BENCHMARKS:
            found = table_2([r for r in stored if r["budget"] == "paper"], pairs)
            published = [
                _counted(paper.SEEDS, row.paper_mean, row.paper_sem) for row in found
            ]
            rows[f"{title}, the paper's"] = published
            rows[f"{title}: do the stored runs agree?"] = [row.verdict for row in found]
    return pd.DataFrame(rows, index=[METHODS[method].title for method in methods]).T


def _counted(n: int, average: float | None, error: float | None) -> str:
    if not n or average is None:
        return _text(None)
    return f"{_text((average, error))} (n{NO_BREAK}={NO_BREAK}{n})"


def _text(cell: tuple[float, float | None] | None) -> str:
    if cell is None:
        return "–"
    average, error = cell
    text = f"{average:.2f}"
    return text if error is None else f"{text}{NO_BREAK}±{NO_BREAK}{error:.2f}"
