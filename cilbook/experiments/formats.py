"""A table as text: Markdown, CSV, HTML, JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pandas as pd

from cilbook.experiments.tables import Table

_DASH = "–"


def as_markdown(table: Table) -> str:
    """The caption, then one line per row, numbers with two decimals."""
    frame = _for_reading(table)
    lines = [list(frame.columns), ["---"] * len(frame.columns), *frame.values.tolist()]
    text = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"{table.caption}\n\n{text}"


def as_html(table: Table) -> str:
    """A table element, its text escaped."""
    text = _for_reading(table).to_html(index=False, escape=True, border=0)
    return text.replace("  <thead>", f"  <caption>{table.caption}</caption>\n  <thead>", 1)


def as_csv(table: Table) -> str:
    """Every digit; empty where there is no number."""
    records = [row.as_dict() | {"samples": _samples(row.samples)} for row in table.rows]
    return pd.DataFrame(records).to_csv(index=False).rstrip("\n")


def as_json(table: Table) -> str:
    """The table's number and its rows."""
    rows = [row.as_dict() for row in table.rows]
    return json.dumps({"table": table.number, "rows": rows})


FORMATS: dict[str, Callable[[Table], str]] = {
    "md": as_markdown,
    "csv": as_csv,
    "html": as_html,
    "json": as_json,
}


def _for_reading(table: Table) -> pd.DataFrame:
    shown = []
    for row in table.rows:
        cells = row.as_dict() | {"samples": _samples(row.samples) or None}
        if row.difference is not None:
            cells["difference"] = f"{row.difference:+.2f}"
        shown.append({name: _text(value) for name, value in cells.items()})
    return pd.DataFrame(shown)


def _text(value: Any) -> str:
    if value is None:
        return _DASH
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def _samples(samples: int | list[int] | None) -> str:
    if samples is None:
        return ""
    return " and ".join(map(str, samples if isinstance(samples, list) else [samples]))
