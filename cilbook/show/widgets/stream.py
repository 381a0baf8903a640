"""The stream painter: from tasks with sharp boundaries to none at all."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isnan
from typing import Any

import numpy as np
import torch

from cilbook.benchmarks.streams import blurred, iid
from cilbook.show.widgets.controls import Slider, Values
from cilbook.show.widgets.elements import Element
from cilbook.show.widgets.explorer import Explorer
from cilbook.show.widgets.shares import mixing, share_plot
from cilbook.show.widgets.tables import Row, Table

FINER = 4  # live steps for one stored step


class StreamPanel:
    """The share of each class over time."""

    follows, wide = ["width"], True

    def __init__(self, painter: StreamPainter) -> None:
        self.painter = painter

    def draw(self, values: Values, now: Any) -> Element:
        """The stored stream, or the one made just now."""
        painter, stream = self.painter, self._stream(values, now)
        caption = f"The share of each class over time, {self.text(values, now)}"
        return share_plot(stream, painter.names, painter.boundaries, caption)

    def text(self, values: Values, now: Any) -> str:
        """The width, and what a mini-batch holds."""
        batch = self.painter.batch
        classes, share = mixing(self._stream(values, now), batch)
        return (
            f"boundary {_caption(values['width'])} · a mini-batch of {batch} holds "
            f"{classes:.1f} classes on average, {share:.0f}% of it the most frequent one"
        )

    def _stream(self, values: Values, now: Any) -> np.ndarray:
        return self.painter.streams[values["width"]] if now is None else now


class StreamPainter(Explorer):
    """Boundary blur as a slider; the stream is made by `cilbook.benchmarks.streams`.

    `labels` are those of a training set. Without `tasks` every class is a task of its
    own; else tasks are groups of classes. A width is the number of samples over which one
    task gives way to the next; 0 means sharp boundaries, infinity no order at all.

    >>> StreamPainter([0] * 60 + [1] * 60, [0, 60, float("inf")], batch=20)
    What mini-batches of 20 hold at each width of the boundary.
           boundary  classes  most frequent (%)
              sharp      1.0              100.0
    over 60 samples      1.7               86.7
           no order      2.0               60.0
    """

    def __init__(
        self,
        labels: Sequence[int],
        widths: Sequence[float],
        *,
        tasks: Sequence[Sequence[int]] | None = None,
        batch: int = 32,
        seed: int = 0,
        names: Sequence[str] | None = None,
    ) -> None:
        self.labels = _checked_labels(labels)
        self.widths = _checked_widths(widths)
        if not 1 <= batch <= len(self.labels):
            raise ValueError(
                f"batch must be 1 to {len(self.labels)}, the number of labels, got {batch}"
            )
        self.batch, self.seed = batch, seed
        self._groups = _group(self.labels, tasks)
        sharp = self.order(0)
        arrived = dict.fromkeys(self.labels[sharp].tolist())
        names = _checked_names(names, max(arrived) + 1)
        self.names = {c: names[c] for c in arrived}
        met = self._groups[sharp]
        self.boundaries = (torch.where(met[1:] != met[:-1])[0] + 1).tolist()
        self.streams = {width: self.make(width) for width in self.widths}
        super().__init__(
            "From tasks to no tasks",
            [
                Slider(
                    "width",
                    "boundary",
                    self.widths,
                    caption=_caption,
                    live_values=_finer(self.widths),
                )
            ],
            [StreamPanel(self)],
            [self._table()],
            lambda values: self.make(values["width"]),
        )

    def order(self, width: float) -> torch.Tensor:
        """The order of the samples when boundaries have this width."""
        if width == inf:
            return iid(self._groups, seed=self.seed)
        return blurred(self._groups, width, seed=self.seed)

    def make(self, width: float) -> np.ndarray:
        """The labels as they come when boundaries have this width."""
        return self.labels[self.order(width)].numpy()

    def _table(self) -> Table:
        rows = []
        for i, width in enumerate(self.widths):
            classes, share = mixing(self.streams[width], self.batch)
            cells = [f"{classes:.1f}", f"{share:.1f}"]
            rows.append(Row(_caption(width), cells, [{"width": i}]))
        caption = f"What mini-batches of {self.batch} hold at each width of the boundary."
        return Table(caption, ["boundary", "classes", "most frequent (%)"], rows)


def _caption(width: float) -> str:
    if width == 0:
        return "sharp"
    return "no order" if width == inf else f"over {width:,.0f} samples"


def _finer(widths: Sequence[float]) -> list[float]:
    """Steps between the widths, which are all among them."""
    found = []
    for a, b in zip(widths, widths[1:], strict=False):
        steps = 1 if b == inf else FINER
        found += [a + (b - a) * k / steps if k else a for k in range(steps)]
    return [*found, widths[-1]]


def _group(labels: torch.Tensor, tasks: Sequence[Sequence[int]] | None) -> torch.Tensor:
    """The number of the task that each sample belongs to."""
    present = sorted(set(labels.tolist()))
    if tasks is None:
        tasks = [[label] for label in present]
    listed = sorted(int(label) for task in tasks for label in task)
    if listed != present:
        raise ValueError(
            f"tasks must list each class of labels once; got {listed} for {present}"
        )
    place = {int(label): k for k, task in enumerate(tasks) for label in task}
    return torch.tensor([place[label] for label in labels.tolist()])


def _checked_names(names: Sequence[str] | None, count: int) -> list[str]:
    if names is None:
        return [str(label) for label in range(count)]
    if len(names) < count:
        raise ValueError(f"names has {len(names)} entries for classes 0 to {count - 1}")
    return [str(name) for name in names]


def _checked_labels(labels: Any) -> torch.Tensor:
    found = torch.as_tensor(labels)
    whole = not (found.is_floating_point() or found.is_complex())
    if found.ndim != 1 or len(found) == 0 or not whole or found.min() < 0:
        raise ValueError(
            "labels must be whole numbers from 0 up, [samples], got shape "
            f"{tuple(found.shape)} of {found.dtype}"
        )
    return found.long().cpu()


def _checked_widths(widths: Sequence[float]) -> list[float]:
    found = list(widths)
    rising = all(a < b for a, b in zip(found, found[1:], strict=False))
    if len(found) < 2 or not rising or found[0] < 0 or any(map(isnan, found)):
        raise ValueError(
            f"widths must be two or more increasing numbers from 0 up, got {found}"
        )
    return found
