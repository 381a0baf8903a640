"""One slider over S with two faces.

With a kernel it is a live ipywidgets view that can recompute; in a static page it is
self-contained HTML that moves through stored numbers. Its display bundle carries both.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from html import escape
from importlib.resources import files
from typing import Any

import ipywidgets

from cilbook.show.curves import Curve, check_values
from cilbook.show.panels import CurvesPanel, Panel

SLIDER_LABEL = "importance samples S"
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


class SExplorer:
    """Accuracy at each S: stored curves, and live numbers from ``evaluate(S)``.

    >>> gc = Curve("gc", [70.0, 90.0], None, "#D55E00")
    >>> SExplorer([1, 100], [gc])
      S    gc
      1  70.0
    100  90.0
    """

    def __init__(
        self,
        samples: Sequence[int],
        curves: Sequence[Curve],
        evaluate: Callable[[int], Mapping[str, float]] | None = None,
    ) -> None:
        self.samples = [int(s) for s in samples]
        self.names = [curve.name for curve in curves]
        self.evaluate = evaluate
        self.panels: list[Panel] = [CurvesPanel(self.samples, curves)]

    def text(self, i: int, now: Mapping[str, float] | None = None) -> str:
        """The readout at position i."""
        parts = [panel.text(i, now or {}) for panel in self.panels]
        return " · ".join([f"S = {self.samples[i]:,}", *parts])

    @cached_property
    def live(self) -> ipywidgets.VBox:
        """The face with a kernel: a slider, and a view that follows it."""
        slider = ipywidgets.SelectionSlider(
            options=[(f"{s:,}", s) for s in self.samples],
            description="S",
            continuous_update=False,
            layout=ipywidgets.Layout(width="100%", max_width="720px"),
        )
        view = ipywidgets.HTML(self._view(0, {}, self.text(0)))
        slider.observe(lambda change: self._follow(change["new"], view), names="value")
        return ipywidgets.VBox([slider, view])

    def html(self) -> str:
        """The face without a kernel: one element that needs nothing from outside."""
        tables = "\n".join(panel.table() for panel in self.panels)
        return (
            f'<div class="cil-explorer">\n<style>\n{_asset("explorer.css")}</style>\n'
            f'<script type="application/json">{_script_json(self._data())}</script>\n'
            f"{self._figures(0, {})}\n{self._controls()}\n"
            f'<div class="cil-tables" tabindex="0" role="group" '
            f'aria-label="all numbers of the figure">\n{tables}\n</div>\n'
            f"<script>\n{_asset('explorer.js')}</script>\n</div>"
        )

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, Any]:
        view = {
            "version_major": 2,
            "version_minor": 0,
            "model_id": self.live.model_id,
        }
        return {WIDGET_VIEW: view, "text/html": self.html(), "text/plain": repr(self)}

    def __repr__(self) -> str:
        return "\n\n".join(panel.plain() for panel in self.panels)

    def _data(self) -> dict[str, Any]:
        return {
            "texts": [self.text(i) for i in range(len(self.samples))],
            "panels": [panel.data() for panel in self.panels],
        }

    def _figures(self, i: int, now: Mapping[str, float]) -> str:
        return "\n".join(
            f'<div class="cil-panel">\n{panel.figure(i, now)}\n</div>'
            for panel in self.panels
        )

    def _controls(self) -> str:
        """Slider and readout; hidden until the script that serves them runs."""
        text = escape(self.text(0))
        return (
            f'<div class="cil-controls" hidden>\n<label>{SLIDER_LABEL} '
            f'<input type="range" min="0" max="{len(self.samples) - 1}" step="1" '
            f'value="0" aria-label="{SLIDER_LABEL}" aria-valuetext="{text}"></label>\n'
            f'<output aria-live="off">{text}</output>\n</div>'
        )

    def _view(self, i: int, now: Mapping[str, float], text: str) -> str:
        """What the live face shows under its slider; the script leaves it alone."""
        return (
            f'<div class="cil-explorer" data-ready>\n<style>{_asset("explorer.css")}'
            f"</style>\n{self._figures(i, now)}\n"
            f"<output>{escape(text)}</output>\n</div>"
        )

    def _follow(self, samples: int, view: ipywidgets.HTML) -> None:
        """Show position S, recomputed if that is possible."""
        i = self.samples.index(samples)
        if self.evaluate is None:
            view.value = self._view(i, {}, self.text(i))
            return
        view.value = self._view(i, {}, f"computing S = {samples:,} …")
        try:
            now = self._recompute(samples)
        except Exception as error:
            view.value = self._view(i, {}, f"S = {samples:,} failed: {error}")
            raise
        view.value = self._view(i, now, self.text(i, now))

    def _recompute(self, samples: int) -> dict[str, float]:
        now = {name: float(value) for name, value in self.evaluate(samples).items()}
        unknown = sorted(set(now) - set(self.names))
        if unknown:
            raise ValueError(f"evaluate gave {unknown}; the curves are {self.names}")
        for name, value in now.items():
            check_values(name, "recomputed accuracy", [value], 1, 100.0)
        return now


def _asset(name: str) -> str:
    return (files("cilbook.show") / "assets" / name).read_text(encoding="utf-8")


def _script_json(data: Any) -> str:
    """JSON that cannot end or comment out the script element around it."""
    return json.dumps(data).replace("<", "\\u003c")
