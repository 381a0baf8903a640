r"""The labels trick (Zeno et al., 2018): the softmax runs over the current task's classes.

    L = - mean_i log softmax_{classes of this task}(f(x_i))_{y_i}

The output units of earlier classes get no gradient, so they are not pushed down merely for
being absent.
"""

from __future__ import annotations

from collections.abc import Sequence

from cilbook.methods.none import FineTuning


class LabelsTrick(FineTuning):
    """None, with only the current task's classes active in training.

    In a second task the output units of the first get no gradient:

    >>> from cilbook.benchmarks import BENCHMARKS
    >>> spec = BENCHMARKS["digits"]
    >>> student = LabelsTrick(spec, LabelsTrick.settings_type(), 0, "cpu")
    >>> data = spec.load(None).train.of_classes([2, 3])
    >>> student.start_task([0, 1])
    >>> student.start_task([2, 3])
    >>> student.loss(data.x, data.y).backward()
    >>> (student.net[-1].weight.grad != 0).any(1).nonzero().flatten().tolist()
    [2, 3]
    """

    title = "Labels trick"
    needs_boundaries = True
    why_boundaries = "the task says which output units are active"

    def start_task(self, classes: Sequence[int]) -> None:
        """The active classes are the task's own."""
        self.active = sorted(classes)
