"""The picture on the front page: what is learned, and what is left of it."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cilbook.show import style
from cilbook.show.curves import Curve
from cilbook.show.plots import _label_ends

WIDTH, HEIGHT = 7.6, 5.4


def accuracy_over_tasks(curves: Sequence[Curve], drawn: np.ndarray | None = None) -> Figure:
    """Accuracy after each task, under the images that its models draw.

    `drawn` holds grey images in [0, 1], [tasks, rows, columns, height, width].

    >>> gc = Curve("gc", [99.0, 98.0], [0.1, 0.2], style.colour("gc"))
    >>> figure = accuracy_over_tasks([gc], np.zeros((2, 2, 2, 8, 8)))
    """
    tasks = _count_tasks(curves, drawn)
    with style.use():
        figure, (top, axes) = plt.subplots(
            2, 1, figsize=(WIDTH, HEIGHT), height_ratios=[1, 3.2], sharex=True
        )
        plt.close(figure)
        _draw_images(top, drawn)
        steps = range(1, tasks + 1)
        for curve in sorted(curves, key=lambda curve: curve.accuracy[-1]):
            low, high = curve.edges()
            axes.fill_between(steps, low, high, color=curve.colour, alpha=0.16, lw=0)
            line = "--" if curve.dashed else "-"
            axes.plot(steps, curve.accuracy, line, color=curve.colour, marker="o")
        axes.set_xticks(steps, [f"task {step}" for step in steps])
        axes.set(xlim=(0.5, tasks + 0.5), ylim=(0, 102), ylabel="accuracy (%)")
        axes.grid(axis="x", visible=False)
        _label_ends(axes, tasks, curves)
    return figure


def _count_tasks(curves: Sequence[Curve], drawn: np.ndarray | None) -> int:
    if not curves:
        raise ValueError("curves is empty; expected at least one curve")
    counts = {curve.name: len(curve.accuracy) for curve in curves}
    tasks = counts[curves[0].name]
    if drawn is not None:
        if drawn.ndim != 5:
            raise ValueError(
                "drawn must be [tasks, rows, columns, height, width], "
                f"got shape {drawn.shape}"
            )
        counts["drawn"] = len(drawn)
    if set(counts.values()) != {tasks}:
        raise ValueError(f"curves and images must have as many tasks, got {counts}")
    return tasks


def _draw_images(axes: Axes, drawn: np.ndarray | None) -> None:
    """Each task's images above its tick."""
    axes.axis("off")
    if drawn is None:
        return
    for task, grid in enumerate(drawn, start=1):
        rows, columns, height, width = grid.shape
        mosaic = grid.transpose(0, 2, 1, 3).reshape(rows * height, columns * width)
        place = [task - 0.47, 0, 0.94, 1]
        box = axes.inset_axes(place, transform=axes.get_xaxis_transform())
        box.imshow(mosaic, cmap="gray_r", vmin=0, vmax=1)
        box.axis("off")
