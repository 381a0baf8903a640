"""What all interactive figures share: one object with two faces.

With a kernel an explorer is a live ipywidgets view, which can recompute; in a static page
it is self-contained HTML that moves through stored drawings. Its display bundle carries
both. A figure is made of controls, of panels that draw themselves for any choice made
there, and of tables that hold the same numbers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cached_property
from html import escape
from importlib.resources import files
from typing import Any, Protocol

import ipywidgets

from cilbook.show.widgets.controls import Control, Values, positions, start_values
from cilbook.show.widgets.elements import Element, Words, condense, tag
from cilbook.show.widgets.live import LiveFace
from cilbook.show.widgets.tables import Table

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


class Panel(Protocol):
    """A part of a figure; ``now`` is what was recomputed live, or None."""

    follows: Sequence[str]  # the names of the controls it depends on
    wide: bool  # whether it takes the whole width of the figure

    def draw(self, values: Values, now: Any) -> Element:
        """The drawing for these values of the controls."""

    def text(self, values: Values, now: Any) -> str:
        """The numbers of the drawing in words."""


class Explorer:
    """Controls, panels and tables; ``recompute`` makes the live face compute anew.

    An explorer is a class of its own that calls this with its parts:

    >>> from cilbook.show.widgets.controls import Slider
    >>> class Square:
    ...     follows, wide = ["x"], True
    ...
    ...     def draw(self, values, now):
    ...         return tag("p", str(values["x"] ** 2))
    ...
    ...     def text(self, values, now):
    ...         return f"the square is {values['x'] ** 2}"
    >>> squares = Explorer("Squares", [Slider("x", "a number", [1, 2, 3])], [Square()], [])
    >>> squares.text({"x": 3})
    'the square is 9'
    """

    def __init__(
        self,
        title: str,
        controls: Sequence[Control],
        panels: Sequence[Panel],
        tables: Sequence[Table],
        recompute: Callable[[Values], Any] | None = None,
    ) -> None:
        self.title = title
        self.controls = list(controls)
        self.panels = list(panels)
        self.tables = list(tables)
        self.recompute = recompute
        self.start = start_values(self.controls)

    def text(self, values: Values, now: Any = None) -> str:
        """The numbers of all panels in words."""
        return "; ".join(panel.text(values, now) for panel in self.panels)

    @cached_property
    def face(self) -> LiveFace:
        """The face with a kernel, part by part."""
        return LiveFace(self.controls, self.start, self.view, self.recompute)

    @cached_property
    def live(self) -> ipywidgets.VBox:
        """The face with a kernel, as one widget."""
        above = ipywidgets.HTML(self._heading())
        below = ipywidgets.HTML(_framed(self._all_numbers().html()))
        return ipywidgets.VBox([above, *self.face.controls.values(), self.face.view, below])

    def view(self, values: Values, now: Any = None, note: str = "") -> str:
        """The figure at these values as HTML, for the live face; no script serves it."""
        panels = [_frame(p, p.draw(values, now), p.text(values, now)) for p in self.panels]
        figure = tag("div", *panels, class_="cil-panels")
        status = tag("p", note, class_="cil-note", role="status")
        return _framed(figure.html() + (status.html() if note else ""))

    def html(self) -> str:
        """The face without a kernel: one element that needs nothing from outside."""
        words = Words()
        parts = [_Still(panel, self.controls, words) for panel in self.panels]
        data = {
            "controls": self._captions(),
            "panels": [part.data for part in parts],
            "words": list(words),
        }
        figure = tag("div", *(part.element for part in parts), class_="cil-panels")
        return (
            f'<div class="cil-explorer" role="group" aria-label="{escape(self.title)}">\n'
            f"<style>\n{_asset('explorer.css')}</style>\n"
            f'<script type="application/json">{_script_json(data)}</script>\n'
            f"{self._heading()}\n{figure.html()}\n"
            f"{self._control_bar().html()}\n{self._all_numbers().html()}\n"
            f"<script>\n{_asset('explorer.js')}</script>\n</div>"
        )

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, Any]:
        view = {"version_major": 2, "version_minor": 0, "model_id": self.live.model_id}
        return {WIDGET_VIEW: view, "text/html": self.html(), "text/plain": repr(self)}

    def __repr__(self) -> str:
        return "\n\n".join(map(repr, self.tables))

    def _heading(self) -> str:
        return tag("p", tag("strong", self.title), class_="cil-title").html()

    def _control_bar(self) -> Element:
        """The controls; hidden until the script that serves them runs."""
        elements = [control.element(self.start) for control in self.controls]
        return tag("div", *elements, class_="cil-controls", hidden="")

    def _all_numbers(self) -> Element:
        names = [control.name for control in self.controls]
        return tag(
            "div",
            *(table.element(names) for table in self.tables),
            class_="cil-tables",
            tabindex=0,
            role="group",
            aria_label=f"{self.title}: all numbers",
        )

    def _captions(self) -> list[dict[str, Any]]:
        """What each position of a control is called; one list per choice it depends on."""
        names = [control.name for control in self.controls]
        found = []
        for control in self.controls:
            within = getattr(control, "within", None)
            lists = [control.choices({})] if within is None else control.values.values()
            captions = [[control.caption(value) for value in values] for values in lists]
            place = None if within is None else names.index(within)
            found.append({"within": place, "captions": captions})
        return found


class _Still:
    """A panel drawn at every position: the first whole, of the others what differs."""

    def __init__(self, panel: Panel, controls: Sequence[Control], words: Words) -> None:
        followed = [control for control in controls if control.name in panel.follows]
        places = positions(followed)
        first = list(places.values()).index(start_values(followed))
        drawings = [panel.draw(values, None) for values in places.values()]
        texts = [panel.text(values, None) for values in places.values()]
        drawing, slots = condense(drawings, words, first)
        self.element = _frame(panel, drawing, texts[first])
        self.data = {
            "follows": [k for k, control in enumerate(controls) if control in followed],
            "positions": [" ".join(map(str, key)) for key in places],
            "texts": words.numbers(texts),
            "slots": slots,
        }


def _framed(inner: str) -> str:
    """A part of the live face, in the figure's style."""
    style = f"<style>{_asset('explorer.css')}</style>"
    return f'<div class="cil-explorer" data-ready="">{style}{inner}</div>'


def _frame(panel: Panel, drawing: Element, text: str) -> Element:
    """A panel with its words under it."""
    kind = "cil-panel cil-wide" if panel.wide else "cil-panel"
    words = tag("output", text, aria_live="off")
    return tag("div", drawing, words, class_=kind)


def _asset(name: str) -> str:
    return (files("cilbook.show") / "assets" / name).read_text(encoding="utf-8")


def _script_json(data: Any) -> str:
    """JSON that cannot end or comment out the script element around it."""
    compact = json.dumps(data, separators=(",", ":"), ensure_ascii=False)
    return compact.replace("<", "\\u003c").replace("\u2028", "\\u2028")
