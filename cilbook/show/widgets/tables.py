"""The numbers of a figure as a table: for print, for screen readers, without a script."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cilbook.show.widgets.elements import Element, tag


@dataclass
class Row:
    """A heading and its cells; `at` says at which positions of the controls it is current.

    Any of these: {control: position}, where controls that are left out may stand anywhere.
    """

    head: str
    cells: Sequence[str]
    at: Sequence[dict[str, int]] = ()


@dataclass
class Table:
    """A caption, column headings and rows; `at` as in a row, for the whole table.

    >>> Table("Accuracy (%)", ["S", "gc"], [Row("1", ["70.0"]), Row("10", ["9.5"])])
    Accuracy (%)
     S    gc
     1  70.0
    10   9.5
    """

    caption: str
    heads: Sequence[str]
    rows: Sequence[Row]
    at: Sequence[dict[str, int]] = ()

    def element(self, names: Sequence[str]) -> Element:
        """As HTML; `names` are those of the controls, in their order."""
        heads = [tag("th", head, scope="col") for head in self.heads]
        rows = [
            tag(
                "tr",
                tag("th", row.head, scope="row"),
                *(tag("td", cell) for cell in row.cells),
                **_place(row.at, names),
            )
            for row in self.rows
        ]
        return tag(
            "table",
            tag("caption", self.caption),
            tag("thead", tag("tr", *heads)),
            tag("tbody", *rows),
            **_place(self.at, names),
        )

    def __repr__(self) -> str:
        lines = [list(self.heads), *([row.head, *row.cells] for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        texts = (
            "  ".join(cell.rjust(w) for cell, w in zip(line, widths, strict=True))
            for line in lines
        )
        return "\n".join([self.caption, *texts])


def _place(at: Sequence[dict[str, int]], names: Sequence[str]) -> dict[str, str]:
    """Where it is current, for the script: one number per control, ``*`` for any."""
    if not at:
        return {}
    places = [" ".join(str(place.get(name, "*")) for name in names) for place in at]
    return {"data_at": ",".join(places)}
