"""The panel of accuracy against S: lines with bands, and a cursor at the current S."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cilbook.show.curves import Curve, check
from cilbook.show.widgets.controls import Values
from cilbook.show.widgets.elements import Element, tag
from cilbook.show.widgets.plot import Plot, log_axis, percent_axis
from cilbook.show.widgets.tables import Row, Table

WIDTH, HEIGHT = 560, 320
LEFT, RIGHT, TOP, BOTTOM = 46.0, 534.0, 36.0, 260.0  # the plotting area


class AccuracyLines:
    """The curves of one benchmark over its own grid of S."""

    def __init__(self, samples: Sequence[int], curves: Sequence[Curve]) -> None:
        check(samples, curves)
        self.samples, self.curves = samples, curves
        edges = [edge for curve in curves for side in curve.edges() for edge in side]
        self.plot = Plot(
            WIDTH,
            HEIGHT,
            log_axis("importance samples S (log scale)", samples, LEFT, RIGHT),
            percent_axis("accuracy (%)", edges, BOTTOM, TOP),
        )

    def draw(self, samples: int, now: Mapping[str, float]) -> list[Element]:
        """A legend and the drawing."""
        shapes = [self._shapes(curve, samples, now) for curve in self.curves]
        drawing = self.plot.svg(self._summary(), self.plot.cursor(samples), *shapes)
        return [tag("ul", *map(key, self.curves), class_="cil-legend"), drawing]

    def text(self, samples: int, now: Mapping[str, float]) -> str:
        """Every curve's accuracy; a recomputed one stands before the stored one."""
        i = self.samples.index(samples)
        readings = [_reading(curve, i, now) for curve in self.curves]
        return " · ".join([f"S = {samples:,}", *readings])

    def table(self, benchmark: str, at: dict[str, int]) -> Table:
        """One row per S, one column per curve."""
        rows = [
            Row(f"{s:,}", [c.reading(i) for c in self.curves], [at | {"samples": i}])
            for i, s in enumerate(self.samples)
        ]
        heads = ["S", *(curve.name for curve in self.curves)]
        return Table(self._caption(benchmark), heads, rows, [at] if at else [])

    def _shapes(self, curve: Curve, samples: int, now: Mapping[str, float]) -> Element:
        """Band, line and marker of one curve, and what was recomputed."""
        i, shapes = self.samples.index(samples), []
        if curve.band is not None:
            shapes.append(self.plot.band(self.samples, *curve.edges()))
        shapes.append(self.plot.line(self.samples, curve.accuracy))
        shapes.append(self.plot.marker(samples, curve.accuracy[i]))
        if curve.name in now:
            shapes.append(self.plot.fresh(samples, now[curve.name]))
        return tag("g", *shapes, **_looks(curve))

    def _caption(self, benchmark: str) -> str:
        spread = any(curve.band is not None for curve in self.curves)
        note = "; ± is one standard error over seeds, the shaded band" if spread else ""
        where = f"{benchmark}: accuracy" if benchmark else "Accuracy"
        return f"{where} (%) for each number of importance samples S{note}."

    def _summary(self) -> str:
        first, last = f"S = {self.samples[0]:,}", f"S = {self.samples[-1]:,}"
        ends = "; ".join(
            f"{c.name} {c.accuracy[0]:.1f}% at {first}, {c.accuracy[-1]:.1f}% at {last}"
            for c in self.curves
        )
        return f"Accuracy against the number of importance samples S. {ends}."


class AccuracyPanel:
    """The curves of the benchmark that is chosen; a single one has the name ``""``."""

    follows, wide = ["benchmark", "samples"], True

    def __init__(self, lines: Mapping[str, AccuracyLines]) -> None:
        self.lines = lines

    def draw(self, values: Values, now: Any) -> Element:
        """Legend and drawing of this benchmark at this S."""
        parts = self.lines[values.get("benchmark", "")].draw(values["samples"], now or {})
        return tag("div", *parts)

    def text(self, values: Values, now: Any) -> str:
        """The numbers at this S."""
        return self.lines[values.get("benchmark", "")].text(values["samples"], now or {})


def key(curve: Curve) -> Element:
    """One legend entry: a sample of the line, and the name."""
    line = tag("path", d="M1 5H25")
    sample = tag("svg", line, width=26, height=10, aria_hidden="true", **_looks(curve))
    return tag("li", sample, curve.name)


def _looks(curve: Curve) -> dict[str, str]:
    kind = "cil-curve cil-dashed" if curve.dashed else "cil-curve"
    return {"class_": kind, "style": f"--colour:{curve.colour}"}


def _reading(curve: Curve, i: int, now: Mapping[str, float]) -> str:
    stored = curve.reading(i)
    if curve.name in now:
        return f"{curve.name} {now[curve.name]:.1f}% recomputed (stored {stored}%)"
    return f"{curve.name} {stored}%"
