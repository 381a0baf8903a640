"""A confusion matrix as a table whose cells are shaded; a picture if it is too large."""

from __future__ import annotations

import numpy as np

from cilbook.show.widgets.elements import Element, tag
from cilbook.show.widgets.history import History
from cilbook.show.widgets.pictures import picture, png

LARGEST = 20  # classes that a table can hold
CAPTION = "Test images: true class down, decision across."


def matrix(history: History, task: int) -> Element:
    """Counts after a task: a row per true class, a column per predicted class."""
    counts = history.counts(task)
    if counts is None:
        return tag("p", "Which classes were mixed up is stored for the last task alone.")
    if len(counts) > LARGEST:
        return _large(history.title, counts)
    heads = [tag("th", name, scope="col") for name in history.names]
    rows = [
        tag("tr", tag("th", name, scope="row"), *map(_cell, row, _shares(row)))
        for name, row in zip(history.names, counts, strict=True)
    ]
    return tag(
        "table",
        tag("caption", CAPTION),
        tag("thead", tag("tr", tag("td", ""), *heads)),
        tag("tbody", *rows),
        class_="cil-matrix",
        style=f"--colour:{history.colour}",
    )


def _shares(row: list[int]) -> list[float]:
    return [count / max(sum(row), 1) for count in row]


def _cell(count: int, share: float) -> Element:
    """A count, shaded by its share of the true class; nothing for a zero."""
    shade = f"--share:{share:.2f}"
    return tag("td", str(count) if count else "", class_="cil-cell", style=shade)


def _large(title: str, counts: list[list[int]]) -> Element:
    """All cells as pixels, dark where the share of the true class is large."""
    size = len(counts)
    shares = np.array([_shares(row) for row in counts])
    right = 100 * np.trace(shares) / size
    label = f"Confusion matrix of {title}: {right:.1f}% on the diagonal, mean over classes"
    shown = picture(png(1 - np.sqrt(shares)), (size, size), (0, 0, size, size), label)
    return tag("div", tag("p", CAPTION), shown)
