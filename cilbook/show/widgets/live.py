"""The face with a kernel: widgets for the controls, and a view that follows them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import ipywidgets

from cilbook.show.widgets.controls import Control, Slider, Values


class View(Protocol):
    """The figure at these values as HTML."""

    def __call__(self, values: Values, now: Any = None, note: str = "") -> str:
        """`now` was recomputed; the note stands under the figure."""


class LiveFace:
    """Controls by name, and the view that follows them."""

    def __init__(
        self,
        controls: Sequence[Control],
        start: Values,
        view: View,
        recompute: Callable[[Values], Any] | None,
    ) -> None:
        self._controls, self._view, self._recompute = controls, view, recompute
        wait = recompute is not None
        self.controls = {c.name: c.widget(start, wait) for c in controls}
        self.view = ipywidgets.HTML(view(start))
        self._adjusting = False
        self._shown: tuple[Values, Any] = (start, None)
        for name, widget in self.controls.items():
            widget.observe(lambda _, name=name: self._moved(name), names="value")

    @property
    def values(self) -> dict[str, Any]:
        """What is chosen now."""
        return {name: widget.value for name, widget in self.controls.items()}

    def _moved(self, name: str) -> None:
        """Follow a control, and first let the sliders that depend on it follow."""
        if self._adjusting:
            return
        self._adjusting = True
        try:
            for control in self._controls:
                if isinstance(control, Slider) and control.within == name:
                    self._adjust(control)
        finally:
            self._adjusting = False
        self._show()

    def _adjust(self, control: Slider) -> None:
        """Give a slider the values of the new choice; keep its value, or else its place."""
        widget, options = self.controls[control.name], control.live_options(self.values)
        values = [value for _, value in options]
        place = min(widget.index, len(values) - 1)
        keep = widget.value if widget.value in values else values[place]
        widget.options = options
        widget.value = keep

    def _show(self) -> None:
        """Show the values chosen; until they are computed, what was shown before."""
        values = self.values
        if self._recompute is None:
            self.view.value = self._view(values)
            return
        chosen = [(c.label, c.caption(values[c.name])) for c in self._controls]
        place = ", ".join(f"{label} = {caption}" for label, caption in chosen)
        self.view.value = self._view(*self._shown, note=f"computing {place} …")
        try:
            now = self._recompute(values)
        except Exception as error:
            self.view.value = self._view(*self._shown, note=f"{place} failed: {error}")
            raise
        self._shown = (values, now)
        self.view.value = self._view(values, now)
