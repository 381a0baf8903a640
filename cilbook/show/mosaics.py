"""Small pictures in rows and columns; each function returns one Figure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cilbook.show import style

WIDTH, LARGEST = 6.4, 0.8  # inches: of a mosaic, and of one picture


def images(
    grid: np.ndarray | Sequence[np.ndarray],
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    titles: Sequence[Sequence[str]] | None = None,
) -> Figure:
    """Pictures [rows, columns, height, width] in [0, 1], or with 3 colours at the end.

    The labels are optional. A place that is masked (`numpy.ma`) stays bare, and so does
    the end of a row that is shorter than the longest.

    >>> figure = images(np.zeros((2, 3, 8, 8)), rows=["seen", "drawn"])
    >>> figure = images([np.zeros((1, 8, 8)), np.zeros((2, 8, 8))])
    """
    mosaic = _Mosaic(_filled_up(grid), rows, columns, titles)
    with style.use():
        figure, axes = plt.subplots(figsize=mosaic.inches)
        plt.close(figure)
        mosaic.draw(axes)
    return figure


def image_sets(
    sets: Mapping[str, np.ndarray], columns: Mapping[str, Sequence[str]] | None = None
) -> Figure:
    """Several grids of pictures one below the other, each under its name.

    A grid is what `images` takes; `columns` holds the labels of each grid's columns.

    >>> grids = {"grey": np.zeros((2, 3, 8, 8)), "colour": np.zeros((1, 2, 4, 4, 3))}
    >>> figure = image_sets(grids, {"colour": ["cat", "dog"]})
    """
    if not sets:
        raise ValueError("sets is empty; expected at least one grid of pictures")
    labels = columns or {}
    mosaics = {name: _Mosaic(grid, None, labels.get(name)) for name, grid in sets.items()}
    heights = [mosaic.inches[1] + 0.3 for mosaic in mosaics.values()]
    width = max(mosaic.inches[0] for mosaic in mosaics.values())
    with style.use():
        figure, panels = plt.subplots(
            len(sets),
            1,
            figsize=(width, sum(heights)),
            height_ratios=heights,
            squeeze=False,
        )
        plt.close(figure)
        for axes, (name, mosaic) in zip(panels[:, 0], mosaics.items(), strict=True):
            mosaic.draw(axes)
            axes.set_title(name, parse_math=False)
    return figure


def _filled_up(rows: np.ndarray | Sequence[np.ndarray]) -> np.ndarray:
    """Rows of pictures as one grid, masked where a row has ended."""
    counts = {len(row) for row in rows}
    if len(counts) <= 1:
        return rows
    sizes = {tuple(row.shape[1:]) for row in rows}
    if len(sizes) > 1:
        raise ValueError(f"all pictures must have one size, got {sorted(sizes)}")
    grid = np.ma.masked_all((len(rows), max(counts), *sizes.pop()))
    for place, row in zip(grid, rows, strict=True):
        place[: len(row)] = row
    return grid


class _Mosaic:
    """A grid of pictures with its labels, checked, and where each picture goes."""

    def __init__(
        self,
        grid: np.ndarray,
        rows: Sequence[str] | None = None,
        columns: Sequence[str] | None = None,
        titles: Sequence[Sequence[str]] | None = None,
    ) -> None:
        self.grid = np.ma.asarray(grid, dtype=float)
        self.rows, self.columns, self.titles = rows, columns, titles
        self._check()
        self.counts, self.size = self.grid.shape[:2], self.grid.shape[2:4]
        gap = self.size * np.array([0.35 if titles else 0.08, 0.08])
        self.step = self.size + np.maximum(1, gap.round().astype(int))
        self.canvas = self.counts * self.step

    def _check(self) -> None:
        grid = self.grid
        if not (grid.ndim == 4 or grid.ndim == 5 and grid.shape[4] == 3):
            raise ValueError(
                "grid must be [rows, columns, height, width], or with 3 colours at the "
                f"end, got shape {grid.shape}"
            )
        if not (grid.min() >= 0 and grid.max() <= 1):
            raise ValueError(
                f"values must be in [0, 1], got {grid.min():g} to {grid.max():g}"
            )
        _check_count("rows", self.rows, grid.shape[0])
        _check_count("columns", self.columns, grid.shape[1])
        _check_count("titles", self.titles, grid.shape[0])
        for line in self.titles or []:
            _check_count("a row of titles", line, grid.shape[1])

    @property
    def inches(self) -> tuple[float, float]:
        """The size of a figure that holds it and its labels."""
        height, width = self.canvas
        scale = min(WIDTH / width, WIDTH / height, LARGEST / self.size[1])
        return width * scale + 0.6, height * scale + 0.4

    def draw(self, axes: Axes) -> None:
        """Pictures and labels."""
        axes.imshow(self._pixels(), cmap="gray", vmin=0, vmax=1)
        axes.grid(False)
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0, colors=style.INK)
        axes.set_yticks(*_ticks(self.rows, self.step[0], self.size[0]))
        axes.set_xticks(*_ticks(self.columns, self.step[1], self.size[1]))
        axes.tick_params(axis="x", labelsize=self._column_font())
        axes.xaxis.tick_top()
        self._write_titles(axes)

    def _column_font(self) -> float:
        """The size of the columns' labels: as large as fits the longest of their lines."""
        lines = [line for label in self.columns or [""] for line in label.split("\n")]
        step = (self.inches[0] - 0.6) * self.step[1] / self.canvas[1]
        return min(10, 100 * step / max(1, *map(len, lines)))

    def _pixels(self) -> np.ndarray:
        """All pictures on one canvas; what is masked, like the gaps, stays bare."""
        colours = self.grid.shape[4:]
        pixels = np.ma.array(np.zeros((*self.canvas, *colours)), mask=True)
        for place, (top, left) in self._corners():
            picture = self.grid[place]
            pixels[top : top + self.size[0], left : left + self.size[1]] = picture
        if not colours:
            return pixels
        shown = ~np.ma.getmaskarray(pixels).any(2)
        return np.dstack([pixels.filled(1), shown])

    def _corners(self) -> Iterator[tuple[tuple[int, int], np.ndarray]]:
        """Each place, and the upper left corner of its picture."""
        for place in np.ndindex(*self.counts):
            yield place, place * self.step

    def _write_titles(self, axes: Axes) -> None:
        """Write each title in the gap under its picture."""
        if self.titles is None:
            return
        for (i, j), (top, left) in self._corners():
            axes.text(
                left + (self.size[1] - 1) / 2,
                top + (self.size[0] + self.step[0] - 1) / 2,
                self.titles[i][j],
                ha="center",
                va="center",
                fontsize=8,
                parse_math=False,
            )


def _check_count(what: str, labels: Sequence | None, count: int) -> None:
    if labels is not None and len(labels) != count:
        raise ValueError(f"{what} has {len(labels)} labels, the grid has {count}")


def _ticks(
    labels: Sequence[str] | None, step: int, size: int
) -> tuple[list[float], Sequence[str]]:
    """Where the labels stand along an axis, and the labels."""
    labels = labels or []
    return [k * step + (size - 1) / 2 for k in range(len(labels))], labels
