"""The panels an explorer is composed of.

A panel draws itself at one position of the slider and hands its script twin, the
function of the same kind in ``assets/explorer.js``, what that needs to move on.
"""

from collections.abc import Mapping, Sequence
from html import escape
from math import ceil, floor, log10
from typing import Any, Protocol

from cilbook.show.curves import Curve, check

WIDTH, HEIGHT = 560, 320
LEFT, RIGHT, TOP, BOTTOM = 46, 534, 36, 260  # the plotting area inside the drawing
RECOMPUTED = "M0-6 6 0 0 6-6 0Z"  # a diamond: a number computed just now


class Panel(Protocol):
    """What an explorer asks of a panel; ``now`` holds numbers recomputed live."""

    kind: str

    def data(self) -> dict[str, Any]:
        """What the script twin needs, ready for JSON."""

    def text(self, i: int, now: Mapping[str, float]) -> str:
        """Its part of the readout at position i."""

    def figure(self, i: int, now: Mapping[str, float]) -> str:
        """Its drawing at position i, as HTML."""

    def table(self) -> str:
        """All its numbers, as an HTML table."""

    def plain(self) -> str:
        """All its numbers, as plain text."""


class CurvesPanel:
    """Accuracy against S: lines with bands, and a cursor at the current S."""

    kind = "curves"

    def __init__(self, samples: Sequence[int], curves: Sequence[Curve]) -> None:
        check(samples, curves)
        self.samples, self.curves = samples, curves
        edges = [edge for curve in curves for side in curve.edges() for edge in side]
        self.y_ticks = percent_ticks(min(edges), max(edges))
        self.columns = [self._x(s) for s in samples]

    def data(self) -> dict[str, Any]:
        """Where the cursor (x) and the marker of each curve (y) stand."""
        heights = [[self._y(a) for a in curve.accuracy] for curve in self.curves]
        return {"kind": self.kind, "x": self.columns, "y": heights}

    def text(self, i: int, now: Mapping[str, float]) -> str:
        """Every curve's accuracy; a recomputed one stands before the stored one."""
        return " · ".join(self._reading(curve, i, now) for curve in self.curves)

    def figure(self, i: int, now: Mapping[str, float]) -> str:
        """A legend and the drawing."""
        keys = "".join(_key(curve) for curve in self.curves)
        shapes = "".join(self._shapes(curve, i, now) for curve in self.curves)
        cursor = (
            f'<line class="cil-cursor" y1="{TOP}" y2="{BOTTOM}" '
            f'transform="translate({self.columns[i]} 0)"/>'
        )
        return (
            f'<ul class="cil-legend">{keys}</ul>\n'
            f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
            f'aria-label="{escape(self._summary())}">\n'
            f"{self._axes()}{cursor}{shapes}</svg>"
        )

    def table(self) -> str:
        """One row per S, one column per curve."""
        heads = "".join(f'<th scope="col">{escape(c.name)}</th>' for c in self.curves)
        rows = "\n".join(self._row(i) for i in range(len(self.samples)))
        return (
            f"<table>\n<caption>{self._caption()}</caption>\n"
            f'<thead><tr><th scope="col">S</th>{heads}</tr></thead>\n'
            f"<tbody>\n{rows}\n</tbody>\n</table>"
        )

    def plain(self) -> str:
        """The same table, aligned with spaces."""
        columns = [["S", *(f"{s:,}" for s in self.samples)]]
        for curve in self.curves:
            readings = [curve.reading(i) for i in range(len(self.samples))]
            columns.append([curve.name, *readings])
        widths = [max(map(len, column)) for column in columns]
        lines = zip(*columns, strict=True)
        return "\n".join(
            "  ".join(cell.rjust(w) for cell, w in zip(line, widths, strict=True))
            for line in lines
        )

    def _x(self, samples: float) -> float:
        first, last = log10(self.samples[0]), log10(self.samples[-1])
        share = (log10(samples) - first) / (last - first)
        return round(LEFT + share * (RIGHT - LEFT), 1)

    def _y(self, accuracy: float) -> float:
        """A height in the drawing; what lies beyond the axis stands at its end."""
        low, high = self.y_ticks[0], self.y_ticks[-1]
        share = (min(max(accuracy, low), high) - low) / (high - low)
        return round(BOTTOM - share * (BOTTOM - TOP), 1)

    def _reading(self, curve: Curve, i: int, now: Mapping[str, float]) -> str:
        if curve.name in now:
            stored = curve.reading(i)
            return f"{curve.name} {now[curve.name]:.1f}% recomputed (stored {stored}%)"
        return f"{curve.name} {curve.reading(i)}%"

    def _axes(self) -> str:
        lines = [f'<text x="0" y="{TOP - 16}">accuracy (%)</text>\n']
        for value in self.y_ticks:
            y = self._y(value)
            lines.append(f'<line class="cil-grid" x1="{LEFT}" x2="{RIGHT}" y1="{y}" ')
            lines.append(f'y2="{y}"/><text class="cil-y" x="{LEFT - 8}" y="{y}">')
            lines.append(f"{value:g}</text>\n")
        for value in sample_ticks(self.samples):
            x = self._x(value)
            lines.append(f'<text class="cil-x" x="{x}" y="{BOTTOM + 24}">{value:,}')
            lines.append("</text>\n")
        middle = (LEFT + RIGHT) / 2
        lines.append(f'<text class="cil-x" x="{middle:g}" y="{HEIGHT - 8}">')
        return "".join(lines) + "importance samples S (log scale)</text>\n"

    def _shapes(self, curve: Curve, i: int, now: Mapping[str, float]) -> str:
        """Band, line and marker of one curve, and what was recomputed."""
        x, y = self.columns[i], self._y(curve.accuracy[i])
        band = ""
        if curve.band is not None:
            low, high = curve.edges()
            rim = self._points(high) + self._points(low)[::-1]
            band = f'<polygon points="{" ".join(rim)}"/>'
        fresh = ""
        if curve.name in now:
            place = f"{x} {self._y(now[curve.name])}"
            fresh = f'<path d="{RECOMPUTED}" transform="translate({place})"/>'
        line = " ".join(self._points(curve.accuracy))
        return (
            f'<g class="{_classes(curve)}" style="--colour:{curve.colour}">{band}'
            f'<polyline points="{line}"/>'
            f'<circle class="cil-marker" r="5" transform="translate({x} {y})"/>'
            f"{fresh}</g>\n"
        )

    def _points(self, values: Sequence[float]) -> list[str]:
        return [
            f"{x},{self._y(value)}" for x, value in zip(self.columns, values, strict=True)
        ]

    def _row(self, i: int) -> str:
        cells = "".join(f"<td>{curve.reading(i)}</td>" for curve in self.curves)
        head = f'<th scope="row">{self.samples[i]:,}</th>'
        return f'<tr data-position="{i}">{head}{cells}</tr>'

    def _caption(self) -> str:
        spread = any(curve.band is not None for curve in self.curves)
        note = "; ± is one standard error over seeds, the shaded band" if spread else ""
        return f"Accuracy (%) for each number of importance samples S{note}."

    def _summary(self) -> str:
        first, last = f"S = {self.samples[0]:,}", f"S = {self.samples[-1]:,}"
        ends = "; ".join(
            f"{c.name} {c.accuracy[0]:.1f}% at {first}, {c.accuracy[-1]:.1f}% at {last}"
            for c in self.curves
        )
        return f"Accuracy against the number of importance samples S. {ends}."


def percent_ticks(low: float, high: float) -> list[float]:
    """Four to seven round ticks around the data, within 0 and 100 percent.

    >>> percent_ticks(62.0, 97.5)
    [60, 70, 80, 90, 100]
    """
    span = max(high - low, 1.0)
    step = next(s for s in (0.2, 0.5, 1, 2, 5, 10, 20) if span / s <= 5)
    first, last = floor(low / step), ceil(high / step)
    if first == last:
        first, last = max(0, first - 1), min(round(100 / step), last + 1)
    return [round(k * step, 1) for k in range(first, last + 1)]


def sample_ticks(samples: Sequence[int]) -> list[int]:
    """Powers of ten inside the grid of S; 1-2-5 steps or its ends when it is short."""
    decades = [10**k for k in range(ceil(log10(samples[-1])) + 1)]
    for leads in ((1,), (1, 2, 5)):
        steps = [lead * decade for decade in decades for lead in leads]
        ticks = [tick for tick in steps if samples[0] <= tick <= samples[-1]]
        if len(ticks) > 2:
            return ticks
    return [samples[0], samples[-1]]


def _classes(curve: Curve) -> str:
    return "cil-curve cil-dashed" if curve.dashed else "cil-curve"


def _key(curve: Curve) -> str:
    """One legend entry: a sample of the line, and the name."""
    return (
        f'<li><svg class="{_classes(curve)}" style="--colour:{curve.colour}" '
        'width="26" height="10" aria-hidden="true"><path d="M1 5H25"/></svg>'
        f"{escape(curve.name)}</li>"
    )
