"""The book's matplotlib figures; each function returns one Figure."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator

from cilbook.show import style
from cilbook.show.curves import Curve, check


def accuracy_over_samples(samples: Sequence[int], curves: Sequence[Curve]) -> Figure:
    """Accuracy against S on a log axis, with bands and a label at each curve's end.

    >>> gc = Curve("gc", [70.0, 90.0], [1.0, 0.5], style.colour("gc"))
    >>> figure = accuracy_over_samples([1, 100], [gc])
    """
    check(samples, curves)
    with style.use():
        figure, axes = _canvas(6.4, 3.6)
        for curve in curves:
            _draw_curve(axes, samples, curve)
        _samples_axis(axes)
        axes.set_ylabel("accuracy (%)")
        axes.margins(x=0.03)
        _label_ends(axes, samples[-1], curves)
    return figure


def error_over_samples(samples: Sequence[int], errors: np.ndarray) -> Figure:
    """The error of an estimate of log p(x) against S: mean, and one standard deviation.

    `errors` is [S, repetitions], in nats.

    >>> figure = error_over_samples([1, 100], [[-2.0, -1.0], [-0.2, 0.1]])
    """
    errors = np.asarray(errors, dtype=float)
    if errors.ndim != 2 or len(errors) != len(samples):
        raise ValueError(
            f"errors must be [{len(samples)} values of S, repetitions], "
            f"got shape {errors.shape}"
        )
    mean, deviation, shade = errors.mean(1), errors.std(1), style.colour("gc")
    low, high = mean - deviation, mean + deviation
    with style.use():
        figure, axes = _canvas(6.4, 3.2)
        axes.axhline(0, color=style.MUTED, linestyle="--", lw=1.5)
        axes.fill_between(samples, low, high, color=shade, alpha=0.16, lw=0)
        axes.plot(samples, mean, "o-", color=shade)
        _samples_axis(axes)
        axes.set_ylabel("error of log p(x) (nats)")
    return figure


def margin_histograms(
    margins: Mapping[str, Sequence[float]], noise: Mapping[str, float]
) -> Figure:
    """By how many nats the true class wins, a histogram for each way of scoring.

    The grey band is the way's noise to both sides of zero, where a lead is not safe.

    >>> figure = margin_histograms({"a": [1.0, 2.0], "b": [-1.0, 8.0]}, {"a": 1, "b": 2})
    """
    if not margins or margins.keys() != noise.keys():
        raise ValueError(
            f"margins and noise must name the same ways, got {list(margins)} "
            f"and {list(noise)}"
        )
    values = {way: np.asarray(of, dtype=float) for way, of in margins.items()}
    edges = np.histogram_bin_edges(np.concatenate([*values.values()]), bins=45)
    with style.use():
        size = (6.4, 2.0 * len(values))
        figure, panels = plt.subplots(
            len(values), 1, figsize=size, sharex=True, squeeze=False
        )
        plt.close(figure)
        for axes, (way, of) in zip(panels[:, 0], values.items(), strict=True):
            axes.axvspan(-noise[way], noise[way], color="0.85")
            axes.hist(of, bins=edges, color=style.colour("gc"))
            axes.set_title(way, parse_math=False)
            axes.set_ylabel("images")
        axes.set_xlabel("margin of the true class (nats)")
    return figure


def stream(labels: Sequence[int]) -> Figure:
    """Class over time: the share of each class in a stream, from start to end.

    >>> figure = stream([3, 3, 3, 7, 3, 7, 7])
    """
    labels = np.asarray(labels)
    if labels.ndim != 1 or len(labels) == 0:
        raise ValueError(f"labels must be [samples], got shape {labels.shape}")
    classes, rows = np.unique(labels, return_inverse=True)
    moments = np.arange(len(labels)) * min(len(labels), 240) // len(labels)
    shares = np.zeros((len(classes), moments[-1] + 1))
    np.add.at(shares, (rows, moments), 1)
    shares /= shares.sum(0)
    with style.use():
        figure, axes = _canvas(6.4, 1.2 + min(0.2 * len(classes), 3.2))
        shown = axes.imshow(
            shares,
            aspect="auto",
            cmap=LinearSegmentedColormap.from_list("share", ["white", style.INK]),
            vmin=0,
            interpolation="nearest",
            extent=(0, len(labels), len(classes) - 0.5, -0.5),
        )
        every = -(-len(classes) // 20)
        axes.set_yticks(range(0, len(classes), every), classes[::every])
        axes.grid(False)
        axes.set_xlabel("samples seen")
        axes.set_ylabel("class")
        figure.colorbar(shown, label="share of the stream")
    return figure


def _canvas(width: float, height: float) -> tuple[Figure, Axes]:
    """A closed figure: shown once, by its cell, and never again by pyplot."""
    figure, axes = plt.subplots(figsize=(width, height))
    plt.close(figure)
    return figure, axes


def _samples_axis(axes: Axes) -> None:
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda s, _: f"{s:,.0f}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("importance samples S")


def _draw_curve(axes: Axes, samples: Sequence[int], curve: Curve) -> None:
    if curve.band is not None:
        low, high = curve.edges()
        axes.fill_between(samples, low, high, color=curve.colour, alpha=0.16, lw=0)
    line, mark = ("--", "") if curve.dashed else ("-", "o")
    axes.plot(samples, curve.accuracy, color=curve.colour, linestyle=line, marker=mark)


def _label_ends(axes: Axes, last: int, curves: Sequence[Curve]) -> None:
    """Write each name beside its curve's end."""
    low, high = axes.get_ylim()
    curves = sorted(curves, key=lambda curve: curve.accuracy[-1])
    heights = spread([curve.accuracy[-1] for curve in curves], (high - low) * 0.07)
    for curve, height in zip(curves, heights, strict=True):
        axes.annotate(
            curve.name,
            xy=(last, height),
            xytext=(9, 0),
            textcoords="offset points",
            va="center",
            color=style.ink(curve.colour),
            fontweight="bold",
            annotation_clip=False,
            parse_math=False,
        )


def spread(heights: Sequence[float], gap: float) -> np.ndarray:
    """Push sorted heights apart, both ways, until neighbours are a gap apart."""
    heights = np.array(heights, dtype=float)
    for _ in range(100):
        short = np.maximum(0, gap - np.diff(heights)) / 2
        heights[:-1] -= short
        heights[1:] += short
    return heights
