"""HTML and SVG as small trees, and the differences between drawings of one figure.

A figure is drawn once for every position of its controls. The page carries the first
drawing whole and of all others only what differs: `condense` finds that out, so nothing
that draws has to know what moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any

VOID = {"br", "img", "input"}


@dataclass(frozen=True)
class Element:
    """An element: its name, its attributes as text, its children."""

    name: str
    attributes: dict[str, str]
    children: tuple[Element | str, ...] = ()

    def html(self) -> str:
        """This element as HTML; all text and every attribute is escaped."""
        attributes = "".join(f' {k}="{escape(v)}"' for k, v in self.attributes.items())
        if self.name in VOID:
            return f"<{self.name}{attributes}>"
        return f"<{self.name}{attributes}>{self.inner_html()}</{self.name}>"

    def inner_html(self) -> str:
        """What stands between its tags."""
        return "".join(_child_html(child) for child in self.children)


def tag(name: str, *children: Element | str, **attributes: Any) -> Element:
    """An element; ``class_`` gives ``class``, ``aria_label`` gives ``aria-label``.

    Numbers are rounded to a tenth; an attribute that is None is left out.

    >>> tag("circle", class_="dot", cx=1 / 3, aria_hidden="true").html()
    '<circle class="dot" cx="0.3" aria-hidden="true"></circle>'
    """
    kept = {
        key.rstrip("_").replace("_", "-"): number(value)
        for key, value in attributes.items()
        if value is not None
    }
    return Element(name, kept, children)


def number(value: Any) -> str:
    """A coordinate as short text; any text as it is.

    >>> number(2 / 3), number(10.0), number("left")
    ('0.7', '10', 'left')
    """
    return f"{round(value, 1):g}" if isinstance(value, float) else str(value)


def at(x: float, y: float) -> str:
    """A ``transform`` that moves a shape to a place."""
    return f"translate({number(float(x))} {number(float(y))})"


def path(xs: Sequence[float], ys: Sequence[float]) -> str:
    """Places as the ``points`` of a line or an area."""
    return " ".join(
        f"{number(float(x))},{number(float(y))}" for x, y in zip(xs, ys, strict=True)
    )


class Words(dict[str, int]):
    """Every text that a page needs, kept once, and its number."""

    def numbers(self, texts: Sequence[str]) -> list[int]:
        """The numbers of these texts; a new one gets the next number."""
        return [self.setdefault(text, len(self)) for text in texts]


@dataclass
class Slots:
    """What differs between drawings: (element, attribute, one word per drawing).

    The attribute is ``text`` or ``html`` when the content of the element differs. Words
    go by their number; several drawings can share them.
    """

    words: Words
    entries: list[tuple[int, str, list[int]]] = field(default_factory=list)
    elements: int = 0

    def add(self, attribute: str, values: Sequence[str]) -> None:
        """Note one difference of the element that is looked at."""
        self.entries.append((self.elements, attribute, self.words.numbers(values)))


def condense(
    drawings: Sequence[Element], words: Words, first: int = 0
) -> tuple[Element, list[tuple[int, str, list[int]]]]:
    """One drawing whole, elements that change marked ``data-slot``; and the changes.

    >>> drawings = [tag("p", tag("b", word), " now") for word in ("old", "new")]
    >>> whole, changes = condense(drawings, words := Words())
    >>> whole.html()
    '<p><b data-slot="0">old</b> now</p>'
    >>> changes, list(words)
    ([(0, 'text', [0, 1])], ['old', 'new'])
    """
    slots = Slots(words)
    return _merge(drawings, first, slots), slots.entries


def _merge(drawings: Sequence[Element], first: int, slots: Slots) -> Element:
    """The first drawing, marked; drawings are alike in name and kinds of attributes."""
    known, model = len(slots.entries), drawings[first]
    for key in model.attributes:
        values = [drawing.attributes[key] for drawing in drawings]
        if len(set(values)) > 1:
            slots.add(key, values)
    alike = _children_are_alike(drawings)
    if not alike:
        textual = all(_is_text(drawing) for drawing in drawings)
        contents = [
            "".join(drawing.children) if textual else drawing.inner_html()
            for drawing in drawings
        ]
        slots.add("text" if textual else "html", contents)
    marks = {}
    if len(slots.entries) > known:
        marks = {"data-slot": str(slots.elements)}
        slots.elements += 1
    children = model.children
    if alike:
        columns = zip(*(drawing.children for drawing in drawings), strict=True)
        children = tuple(
            column[first] if isinstance(column[0], str) else _merge(column, first, slots)
            for column in columns
        )
    return replace(model, attributes=model.attributes | marks, children=children)


def _children_are_alike(drawings: Sequence[Element]) -> bool:
    """Whether all drawings have the same text and elements of one kind, place by place."""
    return len({tuple(map(_kind, drawing.children)) for drawing in drawings}) == 1


def _kind(child: Element | str) -> Any:
    if isinstance(child, str):
        return child
    return child.name, tuple(child.attributes)


def _is_text(drawing: Element) -> bool:
    return all(isinstance(child, str) for child in drawing.children)


def _child_html(child: Element | str) -> str:
    return escape(child, quote=False) if isinstance(child, str) else child.html()
