import numpy as np
import pytest

from cilbook.show import Curve
from cilbook.show.overview import accuracy_over_tasks

CURVES = [
    Curve("kept", [99.0, 97.0, 95.0], [0.1, 0.2, 0.3], "#D55E00"),
    Curve("lost", [99.0, 50.0, 33.0], None, "#6B6B66"),
]


def test_every_method_has_its_line_and_its_name():
    figure = accuracy_over_tasks(CURVES, np.zeros((3, 2, 2, 8, 8)))
    axes = figure.axes[1]
    assert [list(line.get_ydata()) for line in axes.lines] == [
        [99.0, 50.0, 33.0],
        [99.0, 97.0, 95.0],
    ]
    assert {text.get_text() for text in axes.texts} == {"kept", "lost"}


def test_every_task_has_its_images_above_it():
    drawn = np.arange(3 * 2 * 2 * 8 * 8, dtype=float).reshape(3, 2, 2, 8, 8)
    boxes = accuracy_over_tasks(CURVES, drawn).axes[0].child_axes
    assert [box.images[0].get_array().shape for box in boxes] == [(16, 16)] * 3
    assert boxes[1].images[0].get_array()[0, 8] == drawn[1, 0, 1, 0, 0]


@pytest.mark.parametrize(
    ("curves", "drawn", "sentence"),
    [
        ([], None, "curves is empty"),
        (CURVES, np.zeros((3, 8, 8)), r"drawn must be \[tasks, rows"),
        (CURVES, np.zeros((2, 1, 1, 8, 8)), "as many tasks, got .*'drawn': 2"),
        ([CURVES[0], Curve("short", [1.0], None, "k")], None, "'short': 1"),
    ],
)
def test_what_does_not_fit_is_refused(curves, drawn, sentence):
    with pytest.raises(ValueError, match=sentence):
        accuracy_over_tasks(curves, drawn)
