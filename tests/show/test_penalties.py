"""Figures of penalties."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from cilbook.show import style
from cilbook.show.penalties import landscape, two_questions

ACROSS, UP = [-1, 0, 1], [-2, -1, 0, 1, 2]
BOWL = np.add.outer(np.square(UP), np.square(ACROSS)).astype(float)
ANSWERS = {"among all": (20.0, 0.1), "within": (95.0, None)}


def test_a_way_ends_where_the_weights_did_and_bears_its_name_there():
    way = np.array([[0.0, 0.0], [0.5, 1.0], [1.0, 1.5]])
    ways = {"EWC": (way, style.colour("ewc"))}
    axes = landscape(ACROSS, UP, BOWL, BOWL, ways).axes[0]
    path = axes.lines[0]
    np.testing.assert_array_equal(path.get_xydata(), way)
    assert path.get_color() == style.colour("ewc")
    assert [(name.get_text(), tuple(name.xy)) for name in axes.texts] == [
        ("EWC", (1.0, 1.5))
    ]
    assert axes.get_xlim() == (-1, 1) and axes.get_ylim() == (-2, 2)
    assert plt.get_fignums() == []


def test_shades_and_contours_are_tightest_around_each_tasks_own_minimum():
    aside = BOWL[:, ::-1] + 3 * np.array(ACROSS)  # lowest on the left
    axes = landscape(ACROSS, UP, BOWL, aside, {}).axes[0]
    shades, lines = axes.collections
    assert shades.levels[0] == BOWL.min()
    assert np.all(np.diff(shades.levels) > 0)
    assert aside.min() < lines.levels[0] < lines.levels[-1] < aside.max()


def test_losses_that_do_not_fit_the_grid_give_a_precise_error():
    with pytest.raises(ValueError, match=r"task_b must be \[5 up, 3 across\], .*\(3, 5\)"):
        landscape(ACROSS, UP, BOWL, BOWL.T, {})


def test_each_method_has_a_row_with_both_numbers_over_their_marks():
    axes = two_questions({"none": ANSWERS, "ewc": ANSWERS}).axes[0]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["None", "EWC"]
    words = [text.get_text() for text in axes.texts]
    assert words == ["20.0", "95.0", "20.0", "95.0", "among all", "within"]
    assert plt.get_fignums() == []


def test_methods_that_answer_other_questions_are_not_compared():
    with pytest.raises(ValueError, match="same two questions"):
        two_questions({"none": ANSWERS, "ewc": {"among all": (20.0, None)}})
    with pytest.raises(ValueError, match="answers is empty"):
        two_questions({})
