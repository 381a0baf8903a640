"""Figures of forgetting: accuracy mini-batch by mini-batch, and task by task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from cilbook.show import style

# From the first task's line to the last one's: none is the colour of a method.
RAMP = "#003F5C", "#7D4F8E", "#E0515F"


def forgetting_curves(
    steps: Sequence[float], accuracies: np.ndarray, starts: Sequence[float]
) -> Figure:
    """Accuracy on every task while the tasks are learned in turn.

    `accuracies` is [steps, tasks], in per cent; a task's line begins where the task does.

    >>> figure = forgetting_curves([0, 1, 2], [[50, 0], [99, 0], [0, 99]], [0, 1])
    """
    accuracies = np.asarray(accuracies, dtype=float)
    if accuracies.shape != (len(steps), len(starts)):
        raise ValueError(
            f"accuracies must be [{len(steps)} steps, {len(starts)} tasks], "
            f"got shape {accuracies.shape}"
        )
    steps, starts = np.asarray(steps, dtype=float), np.asarray(starts, dtype=float)
    ends = [*starts[1:], steps[-1]]
    with style.use():
        figure, axes = plt.subplots(figsize=(6.8, 3.4))
        plt.close(figure)
        for task, shade in enumerate(task_colours(len(starts))):
            met = steps >= starts[task]
            axes.plot(steps[met], accuracies[met, task], color=shade)
            axes.axvline(starts[task], color=style.GRID, lw=1, zorder=0)
            middle = (starts[task] + ends[task]) / 2
            name = f"task {task + 1}" if len(starts) <= 6 else str(task + 1)
            axes.text(middle, 106, name, ha="center", color=style.ink(shade))
        axes.set(ylim=(-3, 104), xlabel="mini-batches seen", ylabel="accuracy (%)")
        axes.margins(x=0.01)
        axes.grid(axis="x", visible=False)
    return figure


def output_curves(outputs: Mapping[str, Sequence[float]], half_lost: float) -> Figure:
    """Outputs for images of an old task while a new one is learned, old classes first.

    The dotted line stands at the mini-batch where half of the old task is lost.

    >>> figure = output_curves({"old": [9.0, 5.0], "new": [-9.0, 6.0]}, half_lost=1)
    """
    lengths = {len(values) for values in outputs.values()}
    if len(lengths) != 1:
        raise ValueError(f"outputs must be equally long, got lengths {sorted(lengths)}")
    with style.use():
        figure, axes = plt.subplots(figsize=(6.4, 3.2))
        plt.close(figure)
        shades = task_colours(max(2, len(outputs)))
        for i, (name, values) in enumerate(outputs.items()):
            axes.plot(values, "--" if i else "-", color=shades[i], label=name)
        axes.axvline(half_lost, color=style.MUTED, linestyle=":", label="half lost")
        axes.set(xlabel="mini-batches of the new task", ylabel="largest output")
        axes.legend()
    return figure


def task_colours(tasks: int) -> list[str]:
    """A colour for each task, from dark blue to red.

    >>> len(task_colours(5))
    5
    """
    ramp = LinearSegmentedColormap.from_list("tasks", RAMP)
    return [ramp(place) for place in np.linspace(0, 1, tasks)]


def accuracy_matrices(
    matrices: Mapping[str, Sequence[Sequence[float | None]]],
) -> Figure:
    """Accuracy matrices by title, side by side: row i after task i, column j on task j.

    A row may stop at the last task that has been met, or go on with None.

    >>> figure = accuracy_matrices({"None": [[99.0, None], [0.0, 98.0]]})
    """
    if not matrices:
        raise ValueError("matrices is empty; expected at least one")
    with style.use():
        count = len(matrices)
        figure, panels = plt.subplots(
            1, count, figsize=(0.6 + 3.1 * count, 3.3), squeeze=False
        )
        plt.close(figure)
        for axes, (title, rows) in zip(panels[0], matrices.items(), strict=True):
            _draw_matrix(axes, rows)
            axes.set_title(title)
        panels[0][0].set_ylabel("after task")
    return figure


def _draw_matrix(axes: Axes, rows: Sequence[Sequence[float | None]]) -> None:
    tasks = max(len(row) for row in rows)
    values = np.full((len(rows), tasks), np.nan)
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            values[i, j] = np.nan if value is None else value
    shades = LinearSegmentedColormap.from_list("accuracy", ["#F4F5F7", style.INK])
    axes.imshow(values, cmap=shades, vmin=0, vmax=100)
    for i, j in zip(*np.nonzero(~np.isnan(values)), strict=True):
        word = "white" if values[i, j] > 50 else style.INK
        size = 10 if tasks <= 6 else 7
        text = f"{values[i, j]:.0f}"
        axes.text(j, i, text, ha="center", va="center", color=word, fontsize=size)
    axes.set_xticks(range(tasks), range(1, tasks + 1))
    axes.set_yticks(range(len(rows)), range(1, len(rows) + 1))
    axes.tick_params(length=0)
    axes.set_xlabel("accuracy (%) on task")
    axes.grid(False)
    axes.spines[:].set_visible(False)
