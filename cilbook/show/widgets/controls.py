"""The controls of an explorer: a choice among names, and a slider over values.

Each has two faces: an element of the static page, and an ipywidgets widget that versions
7 and 8 both know.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ipywidgets

from cilbook.show.widgets.elements import Element, tag

Values = Mapping[str, Any]  # the name of each control, and what is chosen there


@dataclass
class Select:
    """A choice among names."""

    name: str
    label: str
    options: Sequence[str]
    start: int = 0

    def choices(self, values: Values) -> Sequence[str]:
        """What can be chosen."""
        return self.options

    def caption(self, option: str) -> str:
        """An option as the reader sees it."""
        return option

    def element(self, chosen: Values) -> Element:
        """The control in the static page."""
        marks = [{"selected": ""} if o == chosen[self.name] else {} for o in self.options]
        options = [
            tag("option", option, value=i, **mark)
            for i, (option, mark) in enumerate(zip(self.options, marks, strict=True))
        ]
        return tag(
            "label", tag("span", self.label), tag("select", *options, autocomplete="off")
        )

    def widget(self, chosen: Values, wait: bool) -> ipywidgets.Dropdown:
        """The control with a kernel."""
        return ipywidgets.Dropdown(
            options=list(self.options), value=chosen[self.name], **_looks(self.label)
        )


@dataclass
class Slider:
    """A slider over values; they may depend on what another control has chosen.

    >>> Slider("s", "samples S", {"digits": [1, 10], "mnist": [1]}, within="data").choices(
    ...     {"data": "mnist"}
    ... )
    [1]
    """

    name: str
    label: str
    values: Sequence[Any] | Mapping[str, Sequence[Any]]
    start: int = 0
    within: str | None = None
    caption: Callable[[Any], str] = str
    live_values: Sequence[Any] | None = None  # with a kernel, if there it can be finer

    def choices(self, values: Values) -> Sequence[Any]:
        """What can be chosen, given what the other controls have chosen."""
        return self.values[values[self.within]] if self.within else self.values

    def element(self, chosen: Values) -> Element:
        """The control in the static page."""
        choices, value = self.choices(chosen), chosen[self.name]
        slider = tag(
            "input",
            type="range",
            min=0,
            max=len(choices) - 1,
            step=1,
            autocomplete="off",
            value=list(choices).index(value),
            aria_label=self.label,
            aria_valuetext=self.caption(value),
        )
        shown = tag("span", self.caption(value), class_="cil-value")
        return tag("label", tag("span", self.label), slider, shown)

    def widget(self, chosen: Values, wait: bool) -> ipywidgets.SelectionSlider:
        """The control with a kernel; with `wait` it reports only when it is let go."""
        return ipywidgets.SelectionSlider(
            options=self.live_options(chosen),
            value=chosen[self.name],
            continuous_update=not wait,
            **_looks(self.label),
        )

    def live_options(self, chosen: Values) -> list[tuple[str, Any]]:
        """Captions and values of the live face."""
        values = self.live_values or self.choices(chosen)
        return [(self.caption(value), value) for value in values]


Control = Select | Slider


def start_values(controls: Sequence[Control]) -> dict[str, Any]:
    """What is chosen at first."""
    chosen: dict[str, Any] = {}
    for control in controls:
        chosen[control.name] = control.choices(chosen)[control.start]
    return chosen


def positions(controls: Sequence[Control]) -> dict[tuple[int, ...], dict[str, Any]]:
    """All positions of these controls, by their numbers, and what is chosen there.

    A slider within a select must stand after it.

    >>> places = positions([Select("of", "of", ["a", "b"]), Slider("n", "n", [5, 7])])
    >>> places[1, 0]
    {'of': 'b', 'n': 5}
    """
    found: dict[tuple[int, ...], dict[str, Any]] = {(): {}}
    for control in controls:
        found = {
            (*key, i): {**chosen, control.name: value}
            for key, chosen in found.items()
            for i, value in enumerate(control.choices(chosen))
        }
    return found


def _looks(label: str) -> dict[str, Any]:
    return {
        "description": label,
        "style": {"description_width": "initial"},
        "layout": ipywidgets.Layout(width="100%", max_width="720px"),
    }
