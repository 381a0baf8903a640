"""The forgetting player: two methods side by side, task after task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cilbook.show.widgets.controls import Select, Slider, Values
from cilbook.show.widgets.elements import Element, tag
from cilbook.show.widgets.explorer import Explorer
from cilbook.show.widgets.history import History
from cilbook.show.widgets.matrix import LARGEST, matrix
from cilbook.show.widgets.tables import Row, Table

WIDTH, HEIGHT = 340, 206
LEFT, RIGHT, TOP, BOTTOM = 34.0, 336.0, 40.0, 160.0


class MethodPanel:
    """Accuracy per task, and the confusion matrix, of the method chosen on one side."""

    wide = False

    def __init__(self, side: str, histories: Mapping[str, History]) -> None:
        self.follows, self.side, self.histories = [side, "task"], side, histories

    def draw(self, values: Values, now: Any) -> Element:
        """Bars above, the matrix under them."""
        title, task = values[self.side], values["task"]
        history = self.histories[title]
        label = f"Accuracy per task, {self.text(values, now)}"
        return tag(
            "div",
            tag("p", title, class_="cil-title", style=f"--colour:{history.colour}"),
            _bars(history, task, label),
            matrix(history, task),
        )

    def text(self, values: Values, now: Any) -> str:
        """The mean over the tasks so far and the accuracy on each."""
        title, task = values[self.side], values["task"]
        history = self.histories[title]
        known = [(j, a) for j, a in enumerate(history.row(task)) if a is not None]
        mean = sum(a for _, a in known) / len(known)
        each = ", ".join(f"task {j + 1} {a:.1f}%" for j, a in known)
        return f"{title} after {history.moment(task)}: mean {mean:.1f}% ({each})"


class ForgettingPlayer(Explorer):
    """Stored runs by title; a slider over tasks, and any two of them side by side.

    After each task: the accuracy on every task so far (`accuracy_matrix`) and the
    confusion matrix (`confusion`). A run that learns all tasks at once, as joint does, is
    the same at every position.

    >>> run = {"method": "none", "accuracy_matrix": [[99.0, None], [0.0, 98.0]]}
    >>> run |= {"config": {"class_order": [1, 0]}, "confusion": [[[9, 0], [0, 0]]] * 2}
    >>> player = ForgettingPlayer({"None": run, "None again": run})
    >>> player.panels[0].text({"left": "None", "task": 2}, None)
    'None after task 2: mean 49.0% (task 1 0.0%, task 2 98.0%)'
    """

    def __init__(
        self,
        runs: Mapping[str, Mapping[str, Any]],
        left: str | None = None,
        right: str | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        """`left` and `right` are shown first; `names` are those of the classes."""
        titles = list(runs)
        if len(titles) < 2:
            raise ValueError(f"runs must hold two or more runs by title, got {titles}")
        self.histories = {t: History.of_run(t, run, names) for t, run in runs.items()}
        counts = {t: history.tasks for t, history in self.histories.items()}
        if len(set(counts.values())) > 1:
            raise ValueError(f"runs must have the same number of tasks, got {counts}")
        tasks = range(1, counts[titles[0]] + 1)
        super().__init__(
            "Forgetting, task after task",
            [
                Select("left", "first method", titles, _place("left", left, titles, 0)),
                Select("right", "second method", titles, _place("right", right, titles, 1)),
                Slider("task", "learned so far", tasks, caption=_caption),
            ],
            [MethodPanel(side, self.histories) for side in ("left", "right")],
            [_table(i, history) for i, history in enumerate(self.histories.values())],
        )


def _place(side: str, title: str | None, titles: list[str], default: int) -> int:
    if title is None:
        return default
    if title not in titles:
        raise ValueError(f"{side} is {title!r}; the runs are {titles}")
    return titles.index(title)


def _caption(task: int) -> str:
    return f"{task} task" if task == 1 else f"{task} tasks"


def _table(place: int, history: History) -> Table:
    """One row per moment, one column per task; in sight while the method is chosen."""
    stages = [history.tasks] if history.at_once else range(1, history.tasks + 1)
    rows = [
        Row(
            "all tasks" if history.at_once else history.moment(i),
            ["–" if a is None else f"{a:.1f}" for a in history.row(i)],
            [] if history.at_once else [{"task": i - 1}],
        )
        for i in stages
    ]
    heads = ["after", *(f"task {j + 1}" for j in range(history.tasks))]
    caption = f"{history.title}: accuracy (%) on each task"
    if len(history.names) <= LARGEST:
        tasks = (history.classes_of(j) for j in range(history.tasks))
        caption += f"; their classes: {' | '.join(tasks)}"
    return Table(f"{caption}.", heads, rows, [{"left": place}, {"right": place}])


def _bars(history: History, task: int, label: str) -> Element:
    """A bar for every task; a task not yet met has an empty frame."""
    step = (RIGHT - LEFT) / history.tasks
    line = "" if history.at_once else "; the line: when just learned"
    shapes = [tag("text", f"accuracy (%){line}", x=0, y=12)]
    for value in (0, 50, 100):
        y = _height(value)
        shapes.append(tag("line", class_="cil-grid", x1=LEFT, x2=RIGHT, y1=y, y2=y))
        shapes.append(tag("text", str(value), class_="cil-y", x=LEFT - 6, y=y))
    for j, accuracy in enumerate(history.row(task)):
        shapes.append(_bar(history, j, accuracy, LEFT + step * (j + 0.5), step))
    shapes.append(tag("text", "task", class_="cil-x", x=(LEFT + RIGHT) / 2, y=HEIGHT - 6))
    return tag(
        "svg",
        *shapes,
        class_="cil-plot",
        style=f"--colour:{history.colour}",
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img",
        aria_label=label,
    )


def _bar(
    history: History, j: int, accuracy: float | None, middle: float, step: float
) -> Element:
    """The bar of one task, its number, and a line where it stood when just learned."""
    left, wide, reach = middle - 0.34 * step, 0.68 * step, 0.42 * step
    top = BOTTOM if accuracy is None else _height(accuracy)
    fresh = None if accuracy is None else history.just_learned(j)
    line = BOTTOM if fresh is None else _height(fresh)
    digits = 0 if history.tasks > 6 else 1
    return tag(
        "g",
        tag(
            "path",
            class_="cil-wait",
            d=f"M{left:.1f} {BOTTOM}V{TOP}h{wide:.1f}V{BOTTOM}",
            visibility=_shown(accuracy is None),
        ),
        tag("rect", class_="cil-fill", x=left, y=top, width=wide, height=BOTTOM - top),
        tag(
            "path",
            class_="cil-was-here",
            d=f"M{middle - reach:.1f} {line:.1f}h{2 * reach:.1f}",
            visibility=_shown(fresh is not None),
        ),
        tag(
            "text",
            "" if accuracy is None else f"{accuracy:.{digits}f}",
            class_="cil-x cil-number",
            x=middle,
            y=top - 6,
        ),
        tag("text", str(j + 1), class_="cil-x", x=middle, y=BOTTOM + 18),
        class_="cil-curve",
    )


def _shown(yes: bool) -> str:
    return "visible" if yes else "hidden"


def _height(value: float) -> float:
    return BOTTOM - value / 100 * (BOTTOM - TOP)
