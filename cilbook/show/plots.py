"""The book's matplotlib figures; each function returns one Figure."""

import math
from collections.abc import Sequence

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
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(FuncFormatter(lambda s, _: f"{s:,.0f}"))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xlabel("importance samples S")
        axes.set_ylabel("accuracy (%)")
        axes.margins(x=0.03)
        _label_ends(axes, samples[-1], curves)
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


def images(
    grid: np.ndarray,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    titles: Sequence[Sequence[str]] | None = None,
) -> Figure:
    """Grey images [rows, columns, height, width] in [0, 1], with optional labels.

    >>> figure = images(np.zeros((2, 3, 8, 8)), rows=["seen", "drawn"])
    """
    grid = np.asarray(grid, dtype=float)
    _check_grid(grid, rows, columns, titles)
    gap = grid.shape[2:] * np.array([0.35 if titles else 0.08, 0.08])
    gap = np.maximum(1, gap.round().astype(int))
    step = grid.shape[2:] + gap
    with style.use():
        figure, axes = _canvas(*_image_size(grid.shape[:2] * step, grid.shape[3]))
        axes.imshow(_mosaic(grid, step), cmap="gray", vmin=0, vmax=1)
        axes.grid(False)
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0, colors=style.INK)
        _label_axis(axes.set_yticks, rows, step[0], grid.shape[2])
        _label_axis(axes.set_xticks, columns, step[1], grid.shape[3])
        axes.xaxis.tick_top()
        _title_images(axes, titles, step, grid.shape[2:])
    return figure


def grey(x: np.ndarray) -> np.ndarray:
    """Inputs as grey pictures [n, height, width] in [0, 1], whatever they are.

    Colours are averaged. A vector is folded into the smallest square that holds it: the
    image again, if it was one.

    >>> grey(np.zeros((5, 64))).shape, grey(np.zeros((5, 3, 32, 32))).shape
    ((5, 8, 8), (5, 32, 32))
    """
    x = np.asarray(x, dtype=float)
    if x.ndim not in (2, 3, 4):
        raise ValueError(f"inputs must be vectors or images, got shape {x.shape}")
    if x.ndim == 2:
        side = math.isqrt(x.shape[1] - 1) + 1
        x = np.pad(x, [(0, 0), (0, side**2 - x.shape[1])]).reshape(-1, side, side)
    if x.ndim == 4:
        x = x.mean(1)
    low, high = min(0.0, x.min()), max(1.0, x.max())
    return (x - low) / (high - low)


def _canvas(width: float, height: float) -> tuple[Figure, Axes]:
    """A closed figure: shown once, by its cell, and never again by pyplot."""
    figure, axes = plt.subplots(figsize=(width, height))
    plt.close(figure)
    return figure, axes


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
    heights = _spread([curve.accuracy[-1] for curve in curves], (high - low) * 0.07)
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


def _spread(heights: Sequence[float], gap: float) -> np.ndarray:
    """Push sorted heights apart, both ways, until neighbours are a gap apart."""
    heights = np.array(heights, dtype=float)
    for _ in range(100):
        short = np.maximum(0, gap - np.diff(heights)) / 2
        heights[:-1] -= short
        heights[1:] += short
    return heights


def _check_grid(
    grid: np.ndarray,
    rows: Sequence[str] | None,
    columns: Sequence[str] | None,
    titles: Sequence[Sequence[str]] | None,
) -> None:
    if grid.ndim != 4:
        raise ValueError(
            f"grid must be [rows, columns, height, width], got shape {grid.shape}"
        )
    if not (grid.min() >= 0 and grid.max() <= 1):
        raise ValueError(
            f"grey values must be in [0, 1], got {grid.min():g} to {grid.max():g}"
        )
    _check_count("rows", rows, grid.shape[0])
    _check_count("columns", columns, grid.shape[1])
    _check_count("titles", titles, grid.shape[0])
    for line in titles or []:
        _check_count("a row of titles", line, grid.shape[1])


def _check_count(what: str, labels: Sequence | None, count: int) -> None:
    if labels is not None and len(labels) != count:
        raise ValueError(f"{what} has {len(labels)} labels, the grid has {count}")


def _image_size(pixels: np.ndarray, width: int) -> tuple[float, float]:
    """The figure in inches, for so many pixels in all and this width of an image."""
    scale = min(6.4 / pixels[1], 6.4 / pixels[0], 0.8 / width)
    return pixels[1] * scale + 0.6, pixels[0] * scale + 0.4


def _mosaic(grid: np.ndarray, step: np.ndarray) -> np.ma.MaskedArray:
    """All images on one canvas; the gaps between them are masked, so they stay bare."""
    canvas = np.ma.masked_all(grid.shape[:2] * step)
    for (i, j), (top, left) in _corners(grid.shape[:2], step):
        canvas[top : top + grid.shape[2], left : left + grid.shape[3]] = grid[i, j]
    return canvas


def _corners(counts: tuple[int, int], step: np.ndarray):
    for i, j in np.ndindex(*counts):
        yield (i, j), (i * step[0], j * step[1])


def _label_axis(set_ticks, labels: Sequence[str] | None, step: int, size: int) -> None:
    labels = labels or []
    set_ticks([k * step + (size - 1) / 2 for k in range(len(labels))], labels)


def _title_images(
    axes: Axes,
    titles: Sequence[Sequence[str]] | None,
    step: np.ndarray,
    size: tuple[int, int],
) -> None:
    """Write each title in the gap under its image."""
    if titles is None:
        return
    counts = (len(titles), len(titles[0]))
    for (i, j), (top, left) in _corners(counts, step):
        axes.text(
            left + (size[1] - 1) / 2,
            top + (size[0] + step[0] - 1) / 2,
            titles[i][j],
            ha="center",
            va="center",
            fontsize=8,
            parse_math=False,
        )
