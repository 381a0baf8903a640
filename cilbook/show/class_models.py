"""Figures of class models: how each learns, and what each says of every class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from cilbook.show import style
from cilbook.show.forgetting import task_colours
from cilbook.show.plots import spread

LEGIBLE = 20  # so many names or numbers side by side can be read


def loss_curves(losses: Mapping[str, Sequence[float]], window: int = 1) -> Figure:
    """The loss of each class over its steps, a moving average, the name at its end.

    The first tenth of the steps may leave the picture at the top, so that the rest is seen.

    >>> figure = loss_curves({"cat": [3.0, 2.0, 1.0], "dog": [4.0, 2.0, 2.0]}, window=2)
    >>> figure.axes[0].lines[0].get_ydata().tolist()
    [2.5, 1.5]
    """
    lengths = {len(values) for values in losses.values()}
    if len(lengths) != 1 or not 1 <= window <= min(lengths):
        raise ValueError(
            f"losses must be equally long, and at least the window of {window}, "
            f"got lengths {sorted(lengths)}"
        )
    mean = np.ones(window) / window
    smooth = {k: np.convolve(v, mean, mode="valid") for k, v in losses.items()}
    steps = np.arange(window, lengths.pop() + 1)
    with style.use():
        figure, axes = plt.subplots(figsize=(6.4, 3.6))
        plt.close(figure)
        for values, shade in zip(smooth.values(), task_colours(len(smooth)), strict=True):
            axes.plot(steps, values, color=shade, lw=1.5)
        axes.set(xlabel="step", ylabel="loss")
        axes.margins(x=0.02)
        _cut_the_start(axes, [*smooth.values()])
        if len(smooth) <= LEGIBLE:
            _name_the_ends(axes, steps[-1], smooth)
    return figure


def _cut_the_start(axes: Axes, curves: list[np.ndarray]) -> None:
    later = np.concatenate([values[len(values) // 10 :] for values in curves])
    margin = 0.05 * np.ptp(later) or 1.0
    axes.set_ylim(later.min() - margin, later.max() + margin)


def _name_the_ends(axes: Axes, last: int, curves: Mapping[str, np.ndarray]) -> None:
    low, high = axes.get_ylim()
    shades = dict(zip(curves, task_colours(len(curves)), strict=True))
    names = sorted(curves, key=lambda name: curves[name][-1])
    heights = spread([curves[name][-1] for name in names], (high - low) * 0.055)
    for name, height in zip(names, heights, strict=True):
        axes.annotate(
            name,
            xy=(last, height),
            xytext=(9, 0),
            textcoords="offset points",
            va="center",
            color=style.ink(shades[name]),
            annotation_clip=False,
            parse_math=False,
        )


def heatmap(
    values: Sequence[Sequence[float]],
    rows: Sequence[str],
    columns: Sequence[str],
    axes_names: tuple[str, str],
    label: str,
) -> Figure:
    """A matrix of numbers, dark where they are large, the largest of each row in bold.

    `axes_names` says what a row and what a column is, `label` what the numbers are.

    >>> cells = [[-10.0, -12.0], [-15.0, -11.0]]
    >>> figure = heatmap(cells, ["0", "1"], ["0", "1"], ("class", "model"), "nats")
    >>> [text.get_fontweight() for text in figure.axes[0].texts]
    ['bold', 'normal', 'normal', 'bold']
    """
    values = np.asarray(values, dtype=float)
    if values.shape != (len(rows), len(columns)):
        raise ValueError(
            f"values must be [{len(rows)} rows, {len(columns)} columns], "
            f"got shape {values.shape}"
        )
    with style.use():
        size = min(max(values.shape[1] * 0.55, 3.0), 5.6)
        figure, axes = plt.subplots(figsize=(size + 1.6, size * 0.8 + 0.7))
        plt.close(figure)
        shades = LinearSegmentedColormap.from_list("values", ["#FFFFFF", "#8A90A0"])
        shown = axes.imshow(values, cmap=shades, aspect="auto")
        figure.colorbar(shown, label=label)
        every = -(-max(values.shape) // LEGIBLE)
        axes.set_yticks(range(0, len(rows), every), rows[::every])
        axes.set_xticks(range(0, len(columns), every), columns[::every])
        axes.tick_params(length=0)
        axes.set(ylabel=axes_names[0], xlabel=axes_names[1])
        axes.grid(False)
        axes.spines[:].set_visible(False)
        if every == 1:
            _write_numbers(axes, values)
    return figure


def _write_numbers(axes: Axes, values: np.ndarray) -> None:
    best = values.argmax(1)
    for (i, j), value in np.ndenumerate(values):
        axes.text(
            j,
            i,
            f"{value:.0f}".replace("-", "−"),
            ha="center",
            va="center",
            fontsize=8,
            color=style.INK,
            fontweight="bold" if j == best[i] else "normal",
        )
