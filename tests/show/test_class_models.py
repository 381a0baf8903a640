"""Losses over training, and the matrix of what models say of classes."""

import numpy as np
import pytest

from cilbook.show.class_models import heatmap, loss_curves


def test_losses_are_averaged_over_a_window_and_named_at_their_ends():
    axes = loss_curves({"cat": [9, 3, 1, 1], "dog": [8, 4, 2, 0]}, window=2).axes[0]
    assert [line.get_ydata().tolist() for line in axes.lines] == [[6, 2, 1], [6, 3, 1]]
    assert axes.lines[0].get_xdata().tolist() == [2, 3, 4]
    assert sorted(text.get_text() for text in axes.texts) == ["cat", "dog"]


def test_the_first_steps_do_not_flatten_the_rest():
    axes = loss_curves({"cat": [1000.0, *np.linspace(2, 1, 99)]}).axes[0]
    assert axes.get_ylim()[1] < 3


def test_many_classes_are_drawn_without_names():
    axes = loss_curves({str(c): [2.0, 1.0] for c in range(100)}).axes[0]
    assert len(axes.lines) == 100 and not axes.texts


@pytest.mark.parametrize(
    ("losses", "window"), [({}, 1), ({"a": [1.0], "b": [1.0, 2.0]}, 1), ({"a": [1.0]}, 2)]
)
def test_losses_that_do_not_fit_give_a_precise_error(losses, window):
    with pytest.raises(ValueError, match=f"at least the window of {window}, got lengths"):
        loss_curves(losses, window)


def test_a_matrix_has_its_numbers_labels_and_scale():
    figure = heatmap([[-1.2, -3.4], [5.0, 2.0]], ["a", "b"], ["u", "v"], ("r", "c"), "nats")
    axes, scale = figure.axes
    assert [text.get_text() for text in axes.texts] == ["−1", "−3", "5", "2"]
    bold = [text.get_fontweight() == "bold" for text in axes.texts]
    assert bold == [True, False, True, False]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["u", "v"]
    assert (axes.get_ylabel(), scale.get_ylabel()) == ("r", "nats")


def test_a_large_matrix_has_no_numbers_and_few_labels():
    names = [str(c) for c in range(100)]
    axes = heatmap(np.zeros((100, 100)), names, names, ("r", "c"), "nats").axes[0]
    assert not axes.texts and len(axes.get_xticklabels()) == 20


def test_a_matrix_that_does_not_fit_its_labels_gives_a_precise_error():
    with pytest.raises(ValueError, match=r"\[2 rows, 1 columns\], got shape \(1, 2\)"):
        heatmap([[1, 2]], ["a", "b"], ["u"], ("r", "c"), "nats")
