"""Figures of penalties: the way of two weights over two losses, and two questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke

from cilbook.methods import METHODS
from cilbook.show import style
from cilbook.show.forgetting import task_colours

Answers = Mapping[str, tuple[float, float | None]]  # {question: (mean, standard error)}

HEIGHTS = np.array([0.004, 0.012, 0.03, 0.06])  # of contours, in shares of a loss's range


def landscape(
    across: Sequence[float],
    up: Sequence[float],
    task_a: np.ndarray,
    task_b: np.ndarray,
    ways: Mapping[str, tuple[np.ndarray, str]],
) -> Figure:
    """The losses of two tasks over two weights, and ways from the first to the second.

    The losses are [up, across]; `task_a` is shaded where it is low, `task_b` has contours.
    A way is the points [steps, 2] that the weights passed, and a colour; its name stands
    where it ends.

    >>> bowl = np.add.outer(np.arange(-2.0, 3) ** 2, np.arange(-1.0, 2) ** 2)
    >>> way = np.array([[0.0, 0.0], [1.0, 1.0]])
    >>> figure = landscape(
    ...     [-1, 0, 1], [-2, -1, 0, 1, 2], bowl, bowl, {"None": (way, style.colour("none"))}
    ... )
    """
    across, up = np.asarray(across, dtype=float), np.asarray(up, dtype=float)
    maps = [np.asarray(losses, dtype=float) for losses in (task_a, task_b)]
    for name, losses in zip(("task_a", "task_b"), maps, strict=True):
        if losses.shape != (len(up), len(across)):
            raise ValueError(
                f"{name} must be [{len(up)} up, {len(across)} across], "
                f"got shape {losses.shape}"
            )
    with style.use():
        figure, axes = plt.subplots(figsize=(6.4, 4.4))
        plt.close(figure)
        _draw_losses(axes, across, up, *maps)
        for name, (way, colour) in ways.items():
            _draw_way(axes, name, np.asarray(way, dtype=float), colour)
        axes.grid(False)
        axes.set(xlabel="weight 1", ylabel="weight 2")
        axes.set(xlim=across[[0, -1]], ylim=up[[0, -1]])
    return figure


def two_questions(answers: Mapping[str, Answers]) -> Figure:
    """Accuracy (%) of each method for two questions, a row per method.

    >>> figure = two_questions({"ewc": {"all": (20.0, 0.1), "own": (95.0, None)}})
    """
    if not answers:
        raise ValueError("answers is empty; expected at least one method")
    asked = [list(questions) for questions in answers.values()]
    if len(asked[0]) != 2 or any(questions != asked[0] for questions in asked):
        raise ValueError(f"every method must answer the same two questions, got {asked}")
    with style.use():
        figure, axes = plt.subplots(figsize=(6.4, 0.9 + 0.6 * len(answers)))
        plt.close(figure)
        for row, (method, questions) in enumerate(answers.items()):
            _draw_answers(axes, row, method, questions)
        top = next(iter(answers.values()))
        for question, (mean, _) in top.items():
            axes.text(mean, -0.55, question, ha="center", color=style.MUTED)
        axes.set_yticks(range(len(answers)), [METHODS[m].title for m in answers])
        axes.set(xlim=(0, 104), ylim=(len(answers) - 0.5, -0.8), xlabel="accuracy (%)")
        axes.tick_params(axis="y", colors=style.INK)
        axes.grid(axis="y", visible=False)
    return figure


def _draw_losses(
    axes: Axes, across: np.ndarray, up: np.ndarray, a: np.ndarray, b: np.ndarray
) -> None:
    """One loss as shades, darkest where it is low; the other as lines."""
    dark, bright = task_colours(2)
    shades = [to_rgba(dark, alpha) for alpha in (0.34, 0.22, 0.13, 0.06)]
    axes.contourf(across, up, a, levels=[a.min(), *_levels(a)], colors=shades)
    axes.contour(across, up, b, levels=_levels(b), colors=[bright], linewidths=1)
    low = Patch(color=shades[0], label="task A, low loss")
    line = Line2D([], [], color=bright, lw=1, label="task B, contours")
    axes.legend(handles=[low, line], loc="lower left")


def _levels(losses: np.ndarray) -> np.ndarray:
    return losses.min() + HEIGHTS * np.ptp(losses)


def _draw_way(axes: Axes, name: str, way: np.ndarray, colour: str) -> None:
    axes.plot(*way.T, color=colour)
    axes.plot(*way[0], "o", color=style.INK, markersize=6)
    axes.plot(*way[-1], "X", color=colour, markersize=9, markeredgecolor="white")
    axes.annotate(
        name,
        xy=way[-1],
        xytext=(9, 0),
        textcoords="offset points",
        va="center",
        color=style.ink(colour),
        fontweight="bold",
        path_effects=[withStroke(linewidth=3, foreground="white")],
    )


def _draw_answers(axes: Axes, row: int, method: str, answers: Answers) -> None:
    """The first question as a ring, the second as a dot, and the numbers over them."""
    colour = style.colour(method)
    cells = list(answers.values())
    axes.plot([mean for mean, _ in cells], [row, row], color=style.GRID, lw=4, zorder=1)
    for (mean, error), face in zip(cells, ("white", colour), strict=True):
        axes.errorbar(mean, row, xerr=error, fmt="none", ecolor=colour, elinewidth=2)
        axes.plot(mean, row, "o", color=colour, mfc=face, mew=2, markersize=9)
        axes.annotate(
            f"{mean:.1f}",
            xy=(mean, row),
            xytext=(0, 9),
            textcoords="offset points",
            ha="center",
            color=style.ink(colour),
        )
