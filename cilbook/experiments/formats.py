"""A table as text: Markdown, CSV, HTML, JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pandas as pd

from cilbook.experiments.listings import Listing
from cilbook.experiments.tables import Table

_DASH = "–"
_PER_CENT = ("mean", "sem", "paper_mean", "paper_sem")


def as_markdown(table: Table | Listing) -> str:
    """The caption, then one line per row, numbers with two decimals."""
    frame = _for_reading(table)
    lines = [list(frame.columns), ["---"] * len(frame.columns), *frame.values.tolist()]
    text = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"{table.caption}\n\n{text}"


def as_html(table: Table | Listing) -> str:
    """A table element, its text escaped."""
    text = _for_reading(table).to_html(index=False, escape=True, border=0)
    return text.replace("  <thead>", f"  <caption>{table.caption}</caption>\n  <thead>", 1)


def as_csv(table: Table | Listing) -> str:
    """Every digit; empty where there is no number."""
    records = [
        {name: _listed(value) for name, value in record.items()}
        for record in table.records()
    ]
    return pd.DataFrame(records).to_csv(index=False).rstrip("\n")


def as_json(table: Table | Listing) -> str:
    """The table's number and its rows."""
    return json.dumps({"table": table.number, "rows": table.records()})


FORMATS: dict[str, Callable[[Table | Listing], str]] = {
    "md": as_markdown,
    "csv": as_csv,
    "html": as_html,
    "json": as_json,
}


def _for_reading(table: Table | Listing) -> pd.DataFrame:
    shown = [
        {name: _text(name, value) for name, value in record.items()}
        for record in table.records()
    ]
    return pd.DataFrame(shown)


def _text(name: str, value: Any) -> str:
    if value is None or value == []:
        return _DASH
    if isinstance(value, bool):
        return "yes" if value else "no"
    if name == "difference":
        return f"{value:+.2f}"
    if name in _PER_CENT:
        return f"{value:.2f}"
    return _plain(_listed(value))


def _listed(value: Any) -> Any:
    """A list as words; anything else as it is."""
    return ", ".join(map(_plain, value)) if isinstance(value, list) else value


def _plain(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
