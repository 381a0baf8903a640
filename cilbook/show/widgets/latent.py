"""The latent explorer: two latent dimensions of a class's VAE, and what they decode to."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from torch import Tensor

from cilbook.nets.vae import VAE
from cilbook.show.widgets.controls import Select, Slider, Values
from cilbook.show.widgets.elements import Element, at, tag
from cilbook.show.widgets.explorer import Explorer
from cilbook.show.widgets.pictures import as_images, picture, png, sprite
from cilbook.show.widgets.tables import Row, Table
from cilbook.show.widgets.walk import Pictures, Walk

Decode = Callable[[Any, tuple[float, float]], Any]
FINER = 4  # live steps for one stored step


class LatentGrid:
    """The decoded images [second, first, height, width(, 3)] of one class."""

    def __init__(self, name: str, images: Any, positions: list[float]) -> None:
        self.name, self.positions = name, positions
        self.images = as_images(f"grids[{name!r}]", images, 2)
        n = len(positions)
        if self.images.shape[:2] != (n, n):
            raise ValueError(
                f"grids[{name!r}] is {self.images.shape[0]} by {self.images.shape[1]} "
                f"images, expected {n} by {n}, one for each of the positions"
            )
        self.sheet = sprite(self.images[::-1])  # the second dimension grows upwards
        self.centre = self.images[n // 2, n // 2]

    def image(self, z: tuple[float, float]) -> np.ndarray:
        """The stored image at this place."""
        column, row = self.place(z)
        return self.images[row, column]

    def place(self, z: tuple[float, float]) -> tuple[int, int]:
        """The numbers of a stored place along the first and the second dimension."""
        return self.positions.index(z[0]), self.positions.index(z[1])

    def change(self, image: np.ndarray) -> float:
        """How far an image is from that at the centre: root mean square over pixels."""
        return float(np.sqrt(np.mean((image - self.centre) ** 2)))


class _LatentPanel:
    """What both panels know: the grids, and the image at the values of the controls."""

    follows, wide = ["label", "first", "second"], False

    def __init__(self, grids: Mapping[str, LatentGrid], dimensions: Sequence[str]) -> None:
        self.grids, self.dimensions = grids, dimensions

    def at(self, values: Values) -> str:
        """The place in words."""
        first, second = self.dimensions
        z = _number(values["first"]), _number(values["second"])
        return f"class {values['label']} at {first} = {z[0]}, {second} = {z[1]}"


class DecodedImage(_LatentPanel):
    """The image at the current place, large."""

    def draw(self, values: Values, now: Any) -> Element:
        """The stored image, or the one decoded just now."""
        grid, image = self._image(values, now)
        label = f"The image decoded for {self.at(values)}"
        height, width = image.shape[:2]
        if now is not None:
            return picture(png(image), (width, height), (0, 0, width, height), label)
        n, (column, row) = len(grid.positions), grid.place(_z(values))
        view = (column * width, (n - 1 - row) * height, width, height)
        return picture(grid.sheet, (n * width, n * height), view, label)

    def text(self, values: Values, now: Any) -> str:
        """The place, how bright the image is, and how far from the one at the centre."""
        grid, image = self._image(values, now)
        decoded = " · decoded now" if now is not None else ""
        return (
            f"{self.at(values)} · mean pixel {image.mean():.2f} · change from the centre "
            f"{grid.change(image):.2f}{decoded}"
        )

    def _image(self, values: Values, now: Any) -> tuple[LatentGrid, np.ndarray]:
        grid = self.grids[values["label"]]
        return grid, grid.image(_z(values)) if now is None else now


class LatentMap(_LatentPanel):
    """All stored images on one sheet, with a frame at the current place."""

    def draw(self, values: Values, now: Any) -> Element:
        """The sheet and the frame."""
        grid = self.grids[values["label"]]
        n, (height, width) = len(grid.positions), grid.images.shape[2:4]
        low, high = grid.positions[0], grid.positions[-1]
        column, row = (
            (value - low) / (high - low) * (n - 1) for value in _z(values)
        )  # between stored places when live
        frame = tag(
            "rect",
            class_="cil-frame",
            width=width,
            height=height,
            transform=at(column * width, (n - 1 - row) * height),
        )
        sheet = tag("image", href=grid.sheet, width=n * width, height=n * height)
        return tag(
            "svg",
            sheet,
            frame,
            class_="cil-picture",
            viewBox=f"0 0 {n * width} {n * height}",
            role="img",
            aria_label=f"{n * n} images of class {grid.name}, a frame around the current",
        )

    def text(self, values: Values, now: Any) -> str:
        """Which way the dimensions run."""
        first, second = self.dimensions
        ends = [_number(z) for z in self.grids[values["label"]].positions]
        return f"{first} → and {second} ↑, from {ends[0]} to {ends[-1]}"


class LatentExplorer(Explorer):
    """A class, two sliders through two of its latent dimensions, the decoded image.

    `grids` holds for every class the images [second, first, height, width] (or with 3
    colours at the end, in [0, 1]) at all pairs of `positions`. With ``decode(label, z)``,
    z = (first, second), the live face decodes in finer steps.

    >>> grids = {3: np.zeros((2, 2, 8, 8)), 7: np.ones((2, 2, 8, 8))}
    >>> LatentExplorer(grids, [-1, 1])
    Mean pixel at the centre, and change of the image (RMS) towards the ends.
    class  centre  z1 = −1  z1 = 1  z2 = −1  z2 = 1
        3    0.00     0.00    0.00     0.00    0.00
        7    1.00     0.00    0.00     0.00    0.00
    """

    def __init__(
        self,
        grids: Mapping[Hashable, Any],
        positions: Sequence[float],
        decode: Decode | None = None,
        dimensions: Sequence[str] = ("z1", "z2"),
    ) -> None:
        positions = _checked_positions(positions)
        if not grids:
            raise ValueError("grids is empty; expected the images of at least one class")
        self.labels = {str(label): label for label in grids}
        self.grids = {
            name: LatentGrid(name, grids[label], positions)
            for name, label in self.labels.items()
        }
        self.decode = decode
        live = None if decode is None else _finer(positions)
        middle = len(positions) // 2
        sliders = [
            Slider(
                name,
                dimension,
                positions,
                middle,
                caption=_number,
                live_values=live,
            )
            for name, dimension in zip(("first", "second"), dimensions, strict=True)
        ]
        super().__init__(
            "A walk through a latent space",
            [Select("label", "class", list(self.grids)), *sliders],
            [DecodedImage(self.grids, dimensions), LatentMap(self.grids, dimensions)],
            [_table(self.grids, dimensions, positions)],
            None if decode is None else self._recompute,
        )

    @classmethod
    def from_decoder(
        cls,
        decode: Decode,
        labels: Sequence[Hashable],
        positions: Sequence[float],
        dimensions: Sequence[str] = ("z1", "z2"),
    ) -> LatentExplorer:
        """Decode the grid of every class now.

        >>> flat = lambda label, z: np.full((4, 4), (z[0] + 1) / 2)
        >>> explorer = LatentExplorer.from_decoder(flat, ["a"], [-1.0, 0.0, 1.0])
        >>> explorer.panels[0].text({"label": "a", "first": 1.0, "second": 0.0}, None)
        'class a at z1 = 1, z2 = 0 · mean pixel 1.00 · change from the centre 0.50'
        """
        grids = {
            label: np.array([[decode(label, (x, y)) for x in positions] for y in positions])
            for label in labels
        }
        return cls(grids, positions, decode, dimensions)

    @classmethod
    def from_vaes(
        cls, vaes: Mapping[Hashable, tuple[VAE, Pictures]], positions: Sequence[float]
    ) -> LatentExplorer:
        """Walk each VAE's code along the two directions that change its image most.

        With each VAE comes what makes pictures of its images, `Spec.as_images` say.

        >>> from cilbook.benchmarks import BENCHMARKS
        >>> spec = BENCHMARKS["digits"]
        >>> one = {"a": (spec.class_vae(), spec.as_images)}
        >>> LatentExplorer.from_vaes(one, [-1, 0, 1]).grids["a"].images.shape
        (3, 3, 8, 8)
        """
        walks = {label: Walk(*pair) for label, pair in vaes.items()}
        places = [(x, y) for y in positions for x in positions]
        n = len(positions)
        grids = {
            label: walk.pictures(places).unflatten(0, (n, n))
            for label, walk in walks.items()
        }

        def decode(label: Hashable, z: tuple[float, float]) -> Tensor:
            return walks[label].pictures([z])[0]

        return cls(grids, positions, decode, ("u1", "u2"))

    def _recompute(self, values: Values) -> np.ndarray:
        found = self.decode(self.labels[values["label"]], _z(values))
        image = as_images("the decoded image", found, 0)
        expected = self.grids[values["label"]].centre.shape
        if image.shape != expected:
            raise ValueError(f"decode gave shape {image.shape}, the grid has {expected}")
        return image


def _z(values: Values) -> tuple[float, float]:
    return values["first"], values["second"]


def _number(value: float) -> str:
    """A coordinate with a proper minus sign."""
    return f"{round(value, 2):g}".replace("-", "−")


def _checked_positions(positions: Sequence[float]) -> list[float]:
    found = [float(z) for z in positions]
    if len(found) < 2 or any(not a < b for a, b in zip(found, found[1:], strict=False)):
        raise ValueError(f"positions must be two or more increasing numbers, got {found}")
    return found


def _finer(positions: Sequence[float]) -> list[float]:
    """Steps between the positions, which are all among them."""
    pairs = zip(positions, positions[1:], strict=False)
    return [a + (b - a) * k / FINER for a, b in pairs for k in range(FINER)] + [
        positions[-1]
    ]


def _table(
    grids: Mapping[str, LatentGrid], dimensions: Sequence[str], positions: Sequence[float]
) -> Table:
    ends, middle = (positions[0], positions[-1]), positions[len(positions) // 2]
    places = [(z, middle) for z in ends] + [(middle, z) for z in ends]
    heads = [f"{name} = {_number(z)}" for name in dimensions for z in ends]
    rows = []
    for i, (name, grid) in enumerate(grids.items()):
        changes = [f"{grid.change(grid.image(place)):.2f}" for place in places]
        rows.append(Row(name, [f"{grid.centre.mean():.2f}", *changes], [{"label": i}]))
    caption = "Mean pixel at the centre, and change of the image (RMS) towards the ends."
    return Table(caption, ["class", "centre", *heads], rows)
