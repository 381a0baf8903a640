"""Table 2 at a glance: a row per method, a column per benchmark, ours over the paper's."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

from cilbook.benchmarks import BENCHMARKS
from cilbook.experiments import paper
from cilbook.experiments.tables import NO_BREAK, Row, Table, paper_table
from cilbook.methods import METHODS

_VERDICTS = {"yes": "✓ agrees", "no": "✗ differs", "one seed": "one seed"}


class Matrix:
    """The stored runs of budget `paper` beside the published numbers, as HTML.

    A benchmark without any run of ours has no column; a method that is not run on a
    benchmark has the paper's number alone.
    """

    def __init__(self, runs: Iterable[dict[str, Any]]):
        self.table: Table = paper_table("2", runs, "paper", paper.BENCHMARKS)
        self.cells = {(row.method, row.benchmark): row for row in self.table.rows}
        ran = {row.benchmark for row in self.table.rows if row.n}
        self.benchmarks = [name for name in paper.BENCHMARKS if name in ran]
        self.methods = [name for name in METHODS if name in paper.TABLE_2]

    def _repr_html_(self) -> str:
        heads = "".join(f'<th scope="col">{_title(b)}</th>' for b in self.benchmarks)
        rows = "\n".join(self._row(method) for method in self.methods)
        return (
            '<div class="cil-matrix" tabindex="0" role="group" '
            'aria-label="ours and the paper\'s accuracies">\n<table>\n'
            f"<caption>{escape(self._caption())}</caption>\n"
            f'<thead><tr><th scope="col">method</th>{heads}</tr></thead>\n'
            f"<tbody>\n{rows}\n</tbody>\n</table>\n</div>"
        )

    def __repr__(self) -> str:
        return f"{self._caption()} {self.counts()}"

    def counts(self) -> str:
        """How many cells agree with the paper, in words.

        >>> Matrix([]).counts()
        'No cell has more than one seed yet.'
        """
        verdicts = [row.verdict for row in self.table.rows]
        yes, no = verdicts.count("yes"), verdicts.count("no")
        if not yes + no:
            return "No cell has more than one seed yet."
        return f"Of {yes + no} cells with more than one seed, {yes} agree with the paper."

    def _caption(self) -> str:
        return (
            "Accuracy (%) after the last task, mean ± standard error over n seeds. First "
            "line of a cell: our stored runs, budget paper. Second line: the paper."
        )

    def _row(self, method: str) -> str:
        cells = (self.cells.get((method, name)) for name in self.benchmarks)
        head = f'<th scope="row">{escape(METHODS[method].title)}</th>'
        return f"<tr>{head}{''.join(map(_cell, cells))}</tr>"


def _title(benchmark: str) -> str:
    return escape(BENCHMARKS[benchmark].title)


def _cell(row: Row | None) -> str:
    """One method on one benchmark; None where the paper has a dash."""
    if row is None:
        return "<td>–</td>"
    published = f"paper {_number(row.paper_mean, row.paper_sem)}"
    if row.n == 0:
        return f'<td><span class="cil-paper">{published}</span></td>'
    samples = "" if row.samples is None else f", S = {_samples(row)}"
    seeds = f'<span class="cil-n">n = {row.n}{samples}</span>'
    kind = f"cil-verdict cil-{row.verdict.replace(' ', '-')}"
    verdict = f'<span class="{kind}">{_VERDICTS[row.verdict]}</span>'
    return (
        f"<td><strong>{_number(row.mean, row.sem)}</strong> {seeds}<br>"
        f'<span class="cil-paper">{published}</span> {verdict}</td>'
    )


def _number(mean: float, sem: float | None) -> str:
    return f"{mean:.2f}" if sem is None else f"{mean:.2f} ± {sem:.2f}"


def _samples(row: Row) -> str:
    values = row.samples if isinstance(row.samples, list) else [row.samples]
    return " and ".join(f"{s:,}".replace(",", NO_BREAK) for s in values)
