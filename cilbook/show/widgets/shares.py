"""A stream as a drawing: the share of each class over time, and what mini-batches hold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cilbook.show.widgets.elements import Element, number, tag

WIDTH, LEFT, RIGHT, TOP = 560, 46.0, 550.0, 24.0
WINDOWS = 84  # of the drawing, at most
LETTER = 12  # the height of a line of text


def share_plot(
    labels: np.ndarray,
    names: dict[int, str],
    boundaries: Sequence[int],
    caption: str,
) -> Element:
    """A row per class, in the order of `names`; its height is the share of that class.

    >>> share_plot(np.array([7, 7, 3]), {7: "7", 3: "3"}, [2], "Two classes").name
    'svg'
    """
    shares, edges = window_shares(labels, list(names))
    step = min(30.0, 320 / len(shares))  # from row to row
    bottom = TOP + step * len(shares)
    xs = _x(edges / len(labels))
    rows = [_row(xs, row, TOP + step * (k + 1), step) for k, row in enumerate(shares)]
    meet = [_x(end / len(labels)) for end in boundaries]
    return tag(
        "svg",
        tag("text", "class", x=0, y=14),
        *(tag("line", class_="cil-cursor", x1=x, x2=x, y1=TOP, y2=bottom) for x in meet),
        *rows,
        *_names(list(names.values()), step),
        *_ticks(len(labels), bottom),
        class_="cil-plot",
        viewBox=f"0 0 {WIDTH} {number(bottom + 46)}",
        role="img",
        aria_label=caption,
    )


def window_shares(
    labels: np.ndarray, classes: Sequence[int]
) -> tuple[np.ndarray, np.ndarray]:
    """Shares [classes, windows] of the classes in windows of a stream, and their edges.

    >>> window_shares(np.array([7, 7, 3, 7]), [7, 3])[0].tolist()
    [[1.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0]]
    """
    windows = min(len(labels), WINDOWS)
    edges = np.arange(windows + 1) * len(labels) // windows
    hits = (labels[None] == np.array(classes)[:, None]).astype(float)
    return np.add.reduceat(hits, edges[:-1], axis=1) / np.diff(edges), edges


def mixing(labels: np.ndarray, batch: int) -> tuple[float, float]:
    """Means over full mini-batches: how many classes, and the largest share in per cent.

    >>> mixing(np.array([0, 0, 0, 1]), 2)
    (1.5, 75.0)
    """
    full = len(labels) // batch * batch
    counts = [np.unique(b, return_counts=True)[1] for b in labels[:full].reshape(-1, batch)]
    largest = np.mean([count.max() for count in counts])
    return float(np.mean([len(c) for c in counts])), float(100 * largest / batch)


def _x(share: float | np.ndarray) -> float | np.ndarray:
    """Where a moment stands, given as a share of the stream."""
    return LEFT + share * (RIGHT - LEFT)


def _row(xs: np.ndarray, shares: np.ndarray, base: float, step: float) -> Element:
    """The histogram of one class on its own base line; empty windows are left out."""
    d, down = [], True
    for x0, x1, share in zip(xs, xs[1:], shares, strict=False):
        if share > 0:
            lead = f"M{number(x0)} {number(base)}" if down else ""
            d.append(f"{lead}V{number(base - 0.92 * step * share)}H{number(x1)}")
        elif not down:
            d.append(f"V{number(base)}")
        down = share == 0
    if not down:
        d.append(f"V{number(base)}")
    line = tag("line", class_="cil-grid", x1=LEFT, x2=RIGHT, y1=base, y2=base)
    return tag("g", line, tag("path", class_="cil-area", d="".join(d)))


def _names(names: Sequence[str], step: float) -> list[Element]:
    """The names of the classes; of many classes only some."""
    every = -(-LETTER // int(max(step, 1)))
    return [
        tag("text", name, class_="cil-y", x=LEFT - 8, y=TOP + step * (k + 0.6))
        for k, name in list(enumerate(names))[::every]
    ]


def _ticks(count: int, bottom: float) -> list[Element]:
    ticks = [(_x(k / 4), bottom + 18, f"{round(count * k / 4):,}") for k in range(5)]
    places = [*ticks, (_x(0.5), bottom + 40, "samples seen")]
    return [tag("text", text, class_="cil-x", x=x, y=y) for x, y, text in places]
