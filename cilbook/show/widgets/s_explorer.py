"""The S explorer: what more importance samples buy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cilbook.experiments.tables import by_samples
from cilbook.show import style
from cilbook.show.curves import Curve, check_values
from cilbook.show.widgets.accuracy import AccuracyLines, AccuracyPanel
from cilbook.show.widgets.controls import Select, Slider, Values
from cilbook.show.widgets.examples import Examples
from cilbook.show.widgets.explorer import Explorer
from cilbook.show.widgets.posteriors import PosteriorGrid, PosteriorPanel

Evaluate = Callable[[int], Mapping[str, float]]


@dataclass
class SStudy:
    """One benchmark: curves over a grid of S, perhaps examples, perhaps ``evaluate(S)``."""

    samples: Sequence[int]
    curves: Sequence[Curve]
    examples: Examples | None = None
    evaluate: Evaluate | None = None

    def __post_init__(self) -> None:
        self.samples = [int(s) for s in self.samples]

    @classmethod
    def from_runs(
        cls, runs: Sequence[Mapping[str, Any]], name: str = "gc", **extras: Any
    ) -> SStudy:
        """The curve of stored runs of the generative classifier: mean and standard error.

        The examples are those of the first run; `images`, `labels` and `names` of these
        rows may be given with it, and `evaluate`.
        """
        if not runs:
            raise ValueError("runs is empty; expected at least one stored run")
        evaluate = extras.pop("evaluate", None)
        cells = by_samples(runs)
        means, errors = zip(*cells.values(), strict=True)
        band = None if None in errors else list(errors)
        curve = Curve(name, list(means), band, style.colour(runs[0]["method"]))
        examples = Examples.from_run(runs[0], **extras)
        return cls(list(cells), [curve], examples, evaluate)

    @classmethod
    def among(
        cls, runs: Mapping[str, Sequence[Mapping[str, Any]]], shown: str, **extras: Any
    ) -> SStudy:
        """Curves of several kinds of runs, at every S that all have; the first is solid.

        The examples, and what `extras` add to them, are those of the kind that is `shown`.
        """
        studies = {name: cls.from_runs(of, name) for name, of in runs.items()}
        if shown not in studies:
            raise ValueError(f"shown must be one of {list(studies)}, got {shown!r}")
        shared = set.intersection(*({*study.samples} for study in studies.values()))
        curves = []
        for study in studies.values():
            (curve,) = study.curves
            at = [i for i, s in enumerate(study.samples) if s in shared]
            curve.accuracy = [curve.accuracy[i] for i in at]
            curve.band = curve.band and [curve.band[i] for i in at]
            curve.dashed = bool(curves)
            curves.append(curve)
        examples = Examples.from_run(runs[shown][0], **extras)
        return cls(sorted(shared), curves, examples)


class SExplorer(Explorer):
    """Accuracy at each S, and test images whose posteriors change with it.

    Stored curves, and with a kernel live numbers from ``evaluate(S)``, {curve: accuracy}.

    >>> gc = Curve("gc", [70.0, 90.0], None, "#D55E00")
    >>> SExplorer([1, 100], [gc])
    Accuracy (%) for each number of importance samples S.
      S    gc
      1  70.0
    100  90.0
    """

    def __init__(
        self,
        samples: Sequence[int],
        curves: Sequence[Curve],
        evaluate: Evaluate | None = None,
        examples: Examples | None = None,
    ) -> None:
        self._build({"": SStudy(samples, curves, examples, evaluate)})

    @classmethod
    def over(cls, studies: Mapping[str, SStudy]) -> SExplorer:
        """An explorer that switches between benchmarks, by their names.

        >>> gc = Curve("gc", [70.0, 90.0], None, "#D55E00")
        >>> two = {"digits": SStudy([1, 100], [gc]), "MNIST": SStudy([1, 10], [gc])}
        >>> SExplorer.over(two).text({"benchmark": "MNIST", "samples": 10})
        'S = 10 · gc 90.0%'
        """
        if not studies:
            raise ValueError("studies is empty; expected at least one benchmark")
        explorer = cls.__new__(cls)
        explorer._build(dict(studies))
        return explorer

    def _build(self, studies: dict[str, SStudy]) -> None:
        self.studies = studies
        lines = {name: AccuracyLines(s.samples, s.curves) for name, s in studies.items()}
        grids = {
            name: PosteriorGrid(s.samples, s.examples) if s.examples else None
            for name, s in studies.items()
        }
        panels: list[Any] = [AccuracyPanel(lines)]
        if any(grids.values()):
            panels.append(PosteriorPanel(grids))
        tables = []
        for i, name in enumerate(studies):
            at = {"benchmark": i} if name else {}
            tables.append(lines[name].table(name, at))
            if grids[name] is not None:
                tables.append(grids[name].table(name, at))
        live = any(study.evaluate for study in studies.values())
        super().__init__(
            "What more importance samples buy",
            _controls(studies),
            panels,
            tables,
            self._recompute if live else None,
        )

    def _recompute(self, values: Values) -> dict[str, float] | None:
        study = self.studies[values.get("benchmark", "")]
        if study.evaluate is None:
            return None
        found = study.evaluate(values["samples"])
        now = {name: float(value) for name, value in found.items()}
        names = [curve.name for curve in study.curves]
        if unknown := sorted(set(now) - set(names)):
            raise ValueError(f"evaluate gave {unknown}; the curves are {names}")
        for name, value in now.items():
            check_values(name, "recomputed accuracy", [value], 1, 100.0)
        return now


def _controls(studies: Mapping[str, SStudy]) -> list[Select | Slider]:
    """A choice of the benchmark if there are several, and the slider over its S."""
    label = "importance samples S"
    if list(studies) == [""]:
        return [Slider("samples", label, studies[""].samples, caption=_caption)]
    grids = {name: study.samples for name, study in studies.items()}
    return [
        Select("benchmark", "benchmark", list(studies)),
        Slider("samples", label, grids, within="benchmark", caption=_caption),
    ]


def _caption(samples: int) -> str:
    return f"{samples:,}"
