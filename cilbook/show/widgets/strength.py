"""The strength explorer: what a penalty keeps, and what it costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from cilbook.show import style
from cilbook.show.widgets.controls import Select, Slider, Values
from cilbook.show.widgets.elements import Element, tag
from cilbook.show.widgets.explorer import Explorer
from cilbook.show.widgets.plot import Plot, log_axis, percent_axis, short
from cilbook.show.widgets.tables import Row, Table

WIDTH, HEIGHT = 340, 280
LEFT, RIGHT, TOP, BOTTOM = 40.0, 330.0, 40.0, 224.0
Evaluate = Callable[[float], tuple[float, float]]


@dataclass
class StrengthStudy:
    """A method's accuracy (%) on old and on new tasks at each strength of its penalty.

    `strengths` rise and may start at 0; ``evaluate(strength)`` gives both numbers anew.
    """

    method: str
    strengths: Sequence[float]
    old: Sequence[float]
    new: Sequence[float]
    symbol: str = "strength"
    evaluate: Evaluate | None = None

    def __post_init__(self) -> None:
        self.colour = style.colour(self.method)
        self.strengths = [float(s) for s in self.strengths]
        s = self.strengths
        rising = all(a < b for a, b in zip(s, s[1:], strict=False))
        if len([v for v in s if v > 0]) < 2 or not rising or s[0] < 0:
            raise ValueError(
                f"strengths of {self.method!r} must increase from 0 or more, with two or "
                f"more above 0, got {s}"
            )
        self.old = _checked(self.method, "old", self.old, len(s))
        self.new = _checked(self.method, "new", self.new, len(s))

    def caption(self, strength: float) -> str:
        """The strength as the reader sees it."""
        return f"{self.symbol} = {short(strength)}"

    def pair(self, strength: float) -> tuple[float, float]:
        """Old and new accuracy as stored."""
        i = self.strengths.index(strength)
        return self.old[i], self.new[i]


class _StrengthPanel:
    """What both panels know: the studies, and what old and new tasks are called."""

    follows, wide = ["method", "strength"], False

    def __init__(self, studies: Mapping[str, StrengthStudy], tasks: Sequence[str]) -> None:
        self.studies, self.tasks = studies, tasks
        numbers = [a for study in studies.values() for a in (*study.old, *study.new)]
        self.numbers = numbers  # of all methods: the axes stay when the method changes


class StrengthLines(_StrengthPanel):
    """Both accuracies against the strength: old tasks solid, the new one dashed."""

    def draw(self, values: Values, now: Any) -> Element:
        """A legend, and the lines of the method that is chosen."""
        study, strength = self.studies[values["method"]], values["strength"]
        x = log_axis(f"penalty {study.symbol} (log scale)", study.strengths, LEFT, RIGHT)
        plot = Plot(
            WIDTH, HEIGHT, x, percent_axis("accuracy (%)", self.numbers, BOTTOM, TOP)
        )
        groups = []
        for k, accuracies in enumerate((study.old, study.new)):
            shapes = [plot.line(study.strengths, accuracies)]
            shapes.append(plot.marker(strength, study.pair(strength)[k]))
            if now is not None:
                shapes.append(plot.fresh(strength, now[k]))
            groups.append(tag("g", *shapes, **_looks(study, dashed=k == 1)))
        label = f"Accuracy against the strength of the penalty of {values['method']}"
        drawing = plot.svg(label, plot.cursor(strength), *groups)
        keys = [_key(study, name, dashed=k == 1) for k, name in enumerate(self.tasks)]
        return tag("div", tag("ul", *keys, class_="cil-legend"), drawing)

    def text(self, values: Values, now: Any) -> str:
        """Their mean: what is best if both count the same."""
        study = self.studies[values["method"]]
        means = [(a + b) / 2 for a, b in zip(study.old, study.new, strict=True)]
        best = study.strengths[means.index(max(means))]
        here = means[study.strengths.index(values["strength"])]
        return (
            f"mean of both {here:.1f}% · best on this grid {max(means):.1f}% "
            f"at {study.caption(best)}"
        )


class StrengthTrade(_StrengthPanel):
    """Old against new: every strength a dot, the method that is chosen in its colour."""

    def draw(self, values: Values, now: Any) -> Element:
        """The path from no penalty to the strongest, and the current dot."""
        x = percent_axis(f"{self.tasks[0]} (%)", self.numbers, LEFT, RIGHT)
        y = percent_axis(f"{self.tasks[1]} (%)", self.numbers, BOTTOM, TOP)
        plot = Plot(WIDTH, HEIGHT, x, y)
        paths = [self._path(plot, t, t == values["method"]) for t in self.studies]
        study = self.studies[values["method"]]
        marks = [plot.marker(*study.pair(values["strength"]))]
        if now is not None:
            marks.append(plot.fresh(*now))
        current = tag("g", *marks, **_looks(study))
        names = ", ".join(self.studies)
        label = f"{self.tasks[1]} against {self.tasks[0]} at every strength: {names}"
        keys = [
            _key(study, title, faint=title != values["method"])
            for title, study in self.studies.items()
        ]
        drawing = plot.svg(label, *paths, current)
        return tag("div", tag("ul", *keys, class_="cil-legend"), drawing)

    def text(self, values: Values, now: Any) -> str:
        """Both numbers; recomputed ones stand before the stored ones."""
        study = self.studies[values["method"]]
        pair = study.pair(values["strength"])
        readings = []
        for k, name in enumerate(self.tasks):
            stored = f"{pair[k]:.1f}%"
            fresh = f"{now[k]:.1f}% recomputed (stored {stored})" if now else stored
            readings.append(f"{name} {fresh}")
        where = f"{values['method']}, {study.caption(values['strength'])}"
        return " · ".join([where, *readings])

    def _path(self, plot: Plot, title: str, chosen: bool) -> Element:
        study = self.studies[title]
        dots = [
            tag("circle", class_="cil-dot", r=2.5, cx=plot.x.place(a), cy=plot.y.place(b))
            for a, b in zip(study.old, study.new, strict=True)
        ]
        line = plot.line(study.old, study.new)
        return tag("g", line, *dots, **_looks(study, faint=not chosen))


class StrengthExplorer(Explorer):
    """The strength of a penalty as a slider: old-task against new-task accuracy.

    >>> ewc = StrengthStudy("ewc", [0, 1, 10], [20, 40, 60], [99, 90, 50], symbol="λ")
    >>> StrengthExplorer({"EWC": ewc})
    EWC: accuracy (%) at each strength λ of the penalty.
     λ  old tasks  new task
     0       20.0      99.0
     1       40.0      90.0
    10       60.0      50.0
    """

    def __init__(
        self,
        studies: Mapping[str, StrengthStudy],
        tasks: Sequence[str] = ("old tasks", "new task"),
    ) -> None:
        """`studies` by the title of the method; `tasks` names what old and new are."""
        if not studies:
            raise ValueError("studies is empty; expected at least one method")
        if len(tasks) != 2:
            raise ValueError(f"tasks must be two names, of old and new, got {list(tasks)}")
        self.studies = dict(studies)
        grids = {title: study.strengths for title, study in studies.items()}
        live = any(study.evaluate for study in studies.values())
        super().__init__(
            "What a penalty keeps and costs",
            [
                Select("method", "method", list(studies)),
                Slider("strength", "penalty", grids, within="method", caption=short),
            ],
            [StrengthTrade(studies, tasks), StrengthLines(studies, tasks)],
            [_table(i, t, s, tasks) for i, (t, s) in enumerate(studies.items())],
            self._recompute if live else None,
        )

    def _recompute(self, values: Values) -> tuple[float, float] | None:
        study = self.studies[values["method"]]
        if study.evaluate is None:
            return None
        found = _checked(study.method, "evaluate", study.evaluate(values["strength"]), 2)
        return found[0], found[1]


def _table(place: int, title: str, study: StrengthStudy, tasks: Sequence[str]) -> Table:
    rows = [
        Row(short(s), [f"{a:.1f}", f"{b:.1f}"], [{"method": place, "strength": i}])
        for i, (s, a, b) in enumerate(
            zip(study.strengths, study.old, study.new, strict=True)
        )
    ]
    caption = f"{title}: accuracy (%) at each strength {study.symbol} of the penalty."
    return Table(caption, [study.symbol, *tasks], rows, [{"method": place}])


def _checked(method: str, name: str, values: Any, count: int) -> list[float]:
    found = [float(value) for value in values]
    if len(found) != count:
        raise ValueError(f"{name} of {method!r} has {len(found)} values, expected {count}")
    for value in found:
        if not (isfinite(value) and 0 <= value <= 100):
            raise ValueError(f"{name} of {method!r}: accuracy {value} is not 0 to 100")
    return found


def _looks(
    study: StrengthStudy, dashed: bool = False, faint: bool = False
) -> dict[str, str]:
    kind = "cil-curve" + " cil-dashed" * dashed + " cil-faint" * faint
    return {"class_": kind, "style": f"--colour:{study.colour}"}


def _key(study: StrengthStudy, name: str, **looks: bool) -> Element:
    """One legend entry: a sample of the line, and the name."""
    line = tag("path", d="M1 5H25")
    look = _looks(study, **looks)
    return tag(
        "li", tag("svg", line, width=26, height=10, aria_hidden="true", **look), name
    )
