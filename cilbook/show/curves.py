"""Accuracy as a function of S: the data that plots and widgets share."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

from matplotlib.colors import to_hex


@dataclass
class Curve:
    """Accuracy in percent, one value per S; the band is its standard error, or None."""

    name: str
    accuracy: list[float]
    band: list[float] | None
    colour: str
    dashed: bool = False

    def __post_init__(self) -> None:
        self.accuracy = [float(value) for value in self.accuracy]
        self.band = None if self.band is None else [float(half) for half in self.band]
        self.colour = to_hex(self.colour)

    def reading(self, i: int) -> str:
        """The number at position i, as text and table give it: ``93.8 ± 0.1``."""
        spread = f" ± {self.band[i]:.1f}" if self.band else ""
        return f"{self.accuracy[i]:.1f}{spread}"

    def edges(self) -> tuple[list[float], list[float]]:
        """The lower and the upper edge of the band, within 0 and 100 percent."""
        halves = self.band or [0.0] * len(self.accuracy)
        pairs = list(zip(self.accuracy, halves, strict=True))
        return [max(0.0, a - h) for a, h in pairs], [min(100.0, a + h) for a, h in pairs]


def check(samples: Sequence[int], curves: Sequence[Curve]) -> None:
    """Raise a ValueError that names the curve, the count and what was expected."""
    _check_samples(samples)
    if not curves:
        raise ValueError("curves is empty; expected at least one curve")
    names = [curve.name for curve in curves]
    if len(set(names)) < len(names):
        raise ValueError(f"curve names must differ, got {names}")
    for curve in curves:
        check_values(curve.name, "accuracy", curve.accuracy, len(samples), 100.0)
        if curve.band is not None:
            check_values(curve.name, "band", curve.band, len(samples), float("inf"))


def _check_samples(samples: Sequence[int]) -> None:
    rising = all(a < b for a, b in zip(samples, samples[1:], strict=False))
    if len(samples) < 2 or samples[0] < 1 or not rising:
        raise ValueError(
            "samples must be two or more increasing whole numbers from 1 up, "
            f"got {list(samples)}"
        )


def check_values(name: str, what: str, values: list[float], count: int, top: float) -> None:
    """Raise a ValueError unless there are ``count`` values, all from 0 to ``top``."""
    if len(values) != count:
        raise ValueError(
            f"curve {name!r}: {what} has {len(values)} values for {count} values of S"
        )
    for value in values:
        if not isfinite(value) or not 0 <= value <= top:
            limit = "0 to 100" if isfinite(top) else "0 or more"
            raise ValueError(f"curve {name!r}: {what} {value} is not {limit}")
