"""Figures of forgetting."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex

from cilbook.show.forgetting import (
    accuracy_matrices,
    forgetting_curves,
    output_curves,
    task_colours,
)
from cilbook.show.style import COLOURS

LUMINANCE = np.array([0.2126, 0.7152, 0.0722])


def test_a_tasks_line_begins_where_the_task_does():
    axes = forgetting_curves([0, 1, 2], [[50, 0], [99, 0], [0, 97]], [0, 1]).axes[0]
    lines = {tuple(line.get_ydata()) for line in axes.lines}
    assert {(50, 99, 0), (0, 97)} <= lines
    assert [text.get_text() for text in axes.texts] == ["task 1", "task 2"]


def test_accuracies_that_do_not_fit_the_tasks_give_a_precise_error():
    with pytest.raises(ValueError, match=r"\[2 steps, 1 tasks\], got shape \(2, 2\)"):
        forgetting_curves([0, 1], [[1, 2], [3, 4]], [0])


def test_lines_of_all_tasks_are_legible_on_white():
    for shade in task_colours(10):
        rgb = np.array([int(to_hex(shade)[i : i + 2], 16) for i in (1, 3, 5)]) / 255
        linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
        assert 1.05 / (linear @ LUMINANCE + 0.05) >= 3


def test_no_task_has_the_colour_of_a_method():
    methods = {colour.lower() for colour in COLOURS.values()}
    for tasks in (2, 5, 10):
        assert not methods & {to_hex(shade) for shade in task_colours(tasks)}


def test_a_matrix_shows_the_tasks_that_have_been_met():
    rows = [[99.0, None], [0.4, 98.0]]
    figure = accuracy_matrices({"all": rows, "own": [[99.0], [80.0, 98.0]]})
    shown = [[text.get_text() for text in axes.texts] for axes in figure.axes]
    assert shown == [["99", "0", "98"], ["99", "80", "98"]]
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["all", "own"]
    assert plt.get_fignums() == []


def test_no_matrix_is_an_error():
    with pytest.raises(ValueError, match="matrices is empty"):
        accuracy_matrices({})


def test_outputs_of_old_and_new_classes_are_told_apart_and_the_loss_is_marked():
    axes = output_curves({"old": [9, 5], "new": [-9, 6]}, half_lost=1).axes[0]
    old, new, lost = axes.lines
    assert (old.get_linestyle(), new.get_linestyle()) == ("-", "--")
    assert new.get_ydata().tolist() == [-9, 6] and lost.get_xdata() == [1, 1]
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["old", "new", "half lost"]


def test_outputs_of_different_length_give_a_precise_error():
    with pytest.raises(ValueError, match=r"equally long, got lengths \[1, 2\]"):
        output_curves({"old": [1.0], "new": [1.0, 2.0]}, half_lost=0)
