"""The panel of test images whose class posteriors change with S."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cilbook.show.widgets.controls import Values
from cilbook.show.widgets.elements import Element, number, tag
from cilbook.show.widgets.examples import Examples
from cilbook.show.widgets.pictures import picture, png
from cilbook.show.widgets.tables import Row, Table

WIDTH, HEIGHT = 100, 34  # of the bars of one image
FLIP, RIGHT, WRONG = "⇄", "✓", "✗"


class PosteriorGrid:
    """The examples of one benchmark: a card for each."""

    def __init__(self, samples: Sequence[int], examples: Examples) -> None:
        missing = [s for s in samples if s not in examples.posterior]
        if missing:
            raise ValueError(
                f"examples have no posterior at S = {missing}; they have it at "
                f"{list(examples.posterior)}"
            )
        self.samples, self.examples = samples, examples
        self.pictures = None
        if examples.images is not None:
            self.pictures = [png(image) for image in examples.images]

    def before(self, samples: int) -> int | None:
        """The S one step to the left on the slider."""
        i = self.samples.index(samples)
        return self.samples[i - 1] if i else None

    def draw(self, samples: int) -> list[Element]:
        """All cards at this S."""
        return [self._card(samples, row) for row in range(len(self.examples.index))]

    def text(self, samples: int) -> str:
        """How many decisions changed, which, and how many are right."""
        examples, before = self.examples, self.before(samples)
        rows = range(len(examples.index))
        parts = [f"S = {samples:,}"]
        if before is not None:
            flips = [
                examples.index[r] for r in rows if examples.flipped(samples, before, r)
            ]
            which = f" (test rows {', '.join(map(str, flips))})" if flips else ""
            count = f"{len(flips)} of {len(rows)} decisions{which}"
            parts.append(f"changed since S = {before:,}: {count}")
        if examples.labels is not None:
            right = sum(examples.decision(samples, r) == examples.labels[r] for r in rows)
            parts.append(f"{right} of {len(rows)} right")
        if len(parts) == 1:
            parts.append(f"{len(rows)} test images")
        return " · ".join(parts)

    def table(self, benchmark: str, at: dict[str, int]) -> Table:
        """One row per example, one column per S."""
        examples = self.examples
        truth = examples.labels is not None
        heads = ["test row", *(["class"] if truth else [])]
        heads += [f"S = {s:,}" for s in self.samples]
        rows = []
        for row, index in enumerate(examples.index):
            cells = [examples.name(examples.labels[row])] if truth else []
            cells += [self._cell(s, row) for s in self.samples]
            rows.append(Row(f"{index}", cells))
        where = f"{benchmark}: the" if benchmark else "The"
        caption = (
            f"{where} class decided for each test image and its posterior (%); {FLIP} "
            "marks a decision that differs from the one to its left."
        )
        return Table(caption, heads, rows, [at] if at else [])

    def _cell(self, samples: int, row: int) -> str:
        label = self.examples.decision(samples, row)
        flip = self.examples.flipped(samples, self.before(samples), row)
        share = self.examples.posterior[samples][row][label]
        return (
            f"{FLIP + ' ' if flip else ''}{self.examples.name(label)} ({100 * share:.0f})"
        )

    def _card(self, samples: int, row: int) -> Element:
        """The image, the decision, and a bar for each class."""
        examples, before = self.examples, self.before(samples)
        label = examples.decision(samples, row)
        share = 100 * examples.posterior[samples][row][label]
        flip = examples.flipped(samples, before, row)
        was = f"{FLIP} was {examples.name(examples.decision(before, row))}" if flip else ""
        head = tag(
            "div",
            self._face(row),
            tag(
                "div",
                tag("strong", self._verdict(label, row)),
                tag("span", f"{share:.0f}%"),
                class_="cil-says",
            ),
            class_="cil-head",
        )
        return tag(
            "li",
            head,
            self._bars(samples, row, label),
            tag("div", was or "\u00a0", class_="cil-was"),
            class_="cil-card cil-flip" if flip else "cil-card",
        )

    def _verdict(self, label: int, row: int) -> str:
        """The class decided, and whether that is right if the truth is known."""
        name = self.examples.name(label)
        if self.examples.labels is None:
            return name
        return f"{name} {RIGHT if label == self.examples.labels[row] else WRONG}"

    def _face(self, row: int) -> Element:
        """The image, or the number of the test row in its place."""
        index = self.examples.index[row]
        if self.pictures is None:
            return tag("span", f"#{index}", class_="cil-row")
        height, width = self.examples.images.shape[1:3]
        label = f"test image {index}"
        if self.examples.labels is not None:
            label += f", class {self.examples.name(self.examples.labels[row])}"
        size = (width, height)
        return picture(self.pictures[row], size, (0, 0, width, height), label)

    def _bars(self, samples: int, row: int, label: int) -> Element:
        """A bar for each class; that of the decision stands out."""
        posterior = self.examples.posterior[samples][row]
        step = WIDTH / len(posterior)
        strokes = [_bar(step * (c + 0.5), share) for c, share in enumerate(posterior)]
        others = "".join(stroke for c, stroke in enumerate(strokes) if c != label)
        width = 0.7 * step
        names = "0123456789"[: len(posterior)] if len(posterior) <= 10 else ""
        middles = " ".join(number(step * (c + 0.5)) for c in range(len(names)))
        return tag(
            "svg",
            tag("path", class_="cil-base", d=f"M0 {HEIGHT}H{WIDTH}"),
            tag("path", class_="cil-bar", d=others or "M0 0", stroke_width=width),
            tag("path", class_="cil-chosen", d=strokes[label], stroke_width=width),
            tag("text", names, class_="cil-x", x=middles, y=HEIGHT + 10),
            class_="cil-bars",
            viewBox=f"0 0 {WIDTH} {HEIGHT + 12}",
            aria_hidden="true",
        )


class PosteriorPanel:
    """The cards of the benchmark that is chosen; a single one has the name ``""``."""

    follows, wide = ["benchmark", "samples"], True

    def __init__(self, grids: Mapping[str, PosteriorGrid | None]) -> None:
        self.grids = grids

    def draw(self, values: Values, now: Any) -> Element:
        """The cards at this S, or a sentence that there are none."""
        grid = self.grids[values.get("benchmark", "")]
        if grid is None:
            cards = [tag("li", "No posteriors are stored for this benchmark.")]
        else:
            cards = grid.draw(values["samples"])
        return tag("ul", *cards, class_="cil-cards")

    def text(self, values: Values, now: Any) -> str:
        """What changed at this S."""
        grid = self.grids[values.get("benchmark", "")]
        return "" if grid is None else grid.text(values["samples"])


def _bar(x: float, share: float) -> str:
    """A stroke as high as a probability; nothing where there is nothing to see."""
    height = share * HEIGHT
    return f"M{number(float(x))} {HEIGHT}v{number(float(-height))}" if height >= 0.1 else ""
