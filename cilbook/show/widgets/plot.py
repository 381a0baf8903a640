"""Line plots as SVG: two axes, and lines, bands and marks between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

from cilbook.show.widgets.elements import Element, at, path, tag

RECOMPUTED = "M0-6 6 0 0 6-6 0Z"  # a diamond: a number computed just now
DOT_GAP = 0.09  # of an axis: from zero to the smallest number of a log axis


@dataclass(frozen=True)
class Axis:
    """Numbers between two places of a drawing; ticks are {number: label}."""

    label: str
    ticks: Mapping[float, str]
    low: float
    high: float
    begin: float  # where `low` stands
    end: float

    def place(self, value: float) -> float:
        """Where a number stands; what lies beyond the axis stands at its end."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(self.begin + share * (self.end - self.begin), 1)

    def places(self, values: Sequence[float]) -> list[float]:
        """Where each number stands."""
        return [self.place(value) for value in values]


@dataclass(frozen=True)
class LogAxis(Axis):
    """Numbers by their logarithm; a zero, which has none, stands apart at the begin."""

    zero: bool = False

    def place(self, value: float) -> float:
        """Where a number stands."""
        gap = DOT_GAP if self.zero else 0.0
        if value <= 0:
            return round(self.begin, 1)
        first, last = log10(self.low), log10(self.high)
        share = (min(max(log10(value), first), last) - first) / (last - first)
        return round(self.begin + (gap + (1 - gap) * share) * (self.end - self.begin), 1)


@dataclass(frozen=True)
class Plot:
    """The drawing area of a size, with its axes."""

    width: int
    height: int
    x: Axis
    y: Axis

    def svg(self, label: str, *shapes: Element) -> Element:
        """The whole drawing; the label says in words what is to be seen."""
        return tag(
            "svg",
            *self._rules(),
            *shapes,
            class_="cil-plot",
            viewBox=f"0 0 {self.width} {self.height}",
            role="img",
            aria_label=label,
        )

    def cursor(self, value: float) -> Element:
        """A vertical line at a number of the x axis."""
        return tag(
            "line",
            class_="cil-cursor",
            y1=self.y.end,
            y2=self.y.begin,
            transform=at(self.x.place(value), 0),
        )

    def line(self, xs: Sequence[float], ys: Sequence[float]) -> Element:
        """A line through these points."""
        return tag("polyline", points=path(self.x.places(xs), self.y.places(ys)))

    def band(
        self, xs: Sequence[float], lows: Sequence[float], highs: Sequence[float]
    ) -> Element:
        """The area between two lines."""
        around = [*xs, *reversed(xs)]
        rim = [*highs, *reversed(lows)]
        return tag("polygon", points=path(self.x.places(around), self.y.places(rim)))

    def marker(self, x: float, y: float) -> Element:
        """A dot: the stored number at the current position."""
        place = at(self.x.place(x), self.y.place(y))
        return tag("circle", class_="cil-marker", r=5, transform=place)

    def fresh(self, x: float, y: float) -> Element:
        """A diamond: the number recomputed at the current position."""
        place = at(self.x.place(x), self.y.place(y))
        return tag("path", class_="cil-fresh", d=RECOMPUTED, transform=place)

    def _rules(self) -> list[Element]:
        left, right = self.x.begin, self.x.end
        found = [tag("text", self.y.label, x=0, y=self.y.end - 16)]
        for value, label in self.y.ticks.items():
            y = self.y.place(value)
            found.append(tag("line", class_="cil-grid", x1=left, x2=right, y1=y, y2=y))
            found.append(tag("text", label, class_="cil-y", x=left - 8, y=y))
        for value, label in self.x.ticks.items():
            place = self.x.place(value)
            found.append(tag("text", label, class_="cil-x", x=place, y=self.y.begin + 24))
        middle = (left + right) / 2
        found.append(tag("text", self.x.label, class_="cil-x", x=middle, y=self.height - 8))
        return found


def percent_axis(label: str, values: Sequence[float], begin: float, end: float) -> Axis:
    """An axis around these percentages."""
    ticks = percent_ticks(min(values), max(values))
    labels = {tick: f"{tick:g}" for tick in ticks}
    return Axis(label, labels, ticks[0], ticks[-1], begin, end)


def log_axis(label: str, values: Sequence[float], begin: float, end: float) -> LogAxis:
    """A log axis from the first to the last of these rising numbers, zero apart."""
    positive = [value for value in values if value > 0]
    ticks = ([0] if values[0] == 0 else []) + log_ticks(positive)
    labels = {tick: short(tick) for tick in ticks}
    return LogAxis(
        label, labels, positive[0], positive[-1], begin, end, zero=values[0] == 0
    )


def percent_ticks(low: float, high: float) -> list[float]:
    """Two to seven round ticks around the data, within 0 and 100 percent.

    >>> percent_ticks(62.0, 97.5)
    [60, 70, 80, 90, 100]
    """
    span = max(high - low, 1.0)
    step = next(s for s in (0.2, 0.5, 1, 2, 5, 10, 20) if span / s <= 5)
    first, last = floor(low / step), ceil(high / step)
    if first == last:
        first, last = max(0, first - 1), min(round(100 / step), last + 1)
    return [round(k * step, 1) for k in range(first, last + 1)]


def log_ticks(values: Sequence[float]) -> list[float]:
    """Powers of ten inside the rising values; 1-2-5 steps or the ends when there are few.

    >>> log_ticks([1, 3, 10000]), log_ticks([0.5, 4])
    ([1, 10, 100, 1000, 10000], [0.5, 1, 2])
    """
    decades = range(floor(log10(values[0])), ceil(log10(values[-1])) + 1)
    for leads in ((1,), (1, 2, 5)):
        steps = [_round(lead, k) for k in decades for lead in leads]
        ticks = [tick for tick in steps if values[0] <= tick <= values[-1]]
        if len(ticks) > 2:
            return ticks[:: -(-len(ticks) // 7)]
    return [values[0], values[-1]]


def short(value: float) -> str:
    """A number as a label: with thousands separators, or as a power of ten.

    >>> short(1000), short(0.05), short(1e6), short(3e5)
    ('1,000', '0.05', '10⁶', '3·10⁵')
    """
    if value == 0 or 1e-3 <= abs(value) < 1e5:
        return f"{value:,.10g}"
    exponent = floor(log10(abs(value)))
    lead = value / 10.0**exponent
    power = "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return power if round(lead, 6) == 1 else f"{lead:g}·{power}"


def _round(lead: int, exponent: int) -> float:
    return lead * 10**exponent if exponent >= 0 else round(lead * 10.0**exponent, -exponent)
