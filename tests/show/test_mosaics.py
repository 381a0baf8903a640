"""Pictures in rows and columns."""

import numpy as np
import pytest

from cilbook.show.mosaics import image_sets, images


def test_each_image_stands_whole_in_its_place():
    grid = np.random.default_rng(0).random((2, 3, 8, 6))
    shown = images(grid).axes[0].images[0].get_array()
    rows, columns = shown.shape[0] // 2, shown.shape[1] // 3
    for i, j in np.ndindex(2, 3):
        tile = shown[i * rows :, j * columns :][:8, :6]
        np.testing.assert_array_equal(tile.filled(-1), grid[i, j])


def test_images_carry_their_labels_and_titles():
    titles = [["a", "b"], ["c", "$d$"]]
    axes = images(np.zeros((2, 2, 4, 4)), ["r", "s"], ["u", "v"], titles).axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["r", "s"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["u", "v"]
    assert [text.get_text() for text in axes.texts] == ["a", "b", "c", "$d$"]


@pytest.mark.parametrize(
    ("grid", "labels", "message"),
    [
        (np.zeros((2, 4, 4)), {}, r"\[rows, columns, height, width\], or .*2, 4, 4"),
        (np.zeros((1, 2, 4, 4, 4)), {}, r"3 colours at the end, got .*4, 4, 4"),
        (np.full((1, 1, 2, 2), 255), {}, r"in \[0, 1\], got 255 to 255"),
        (np.full((1, 1, 2, 2), np.nan), {}, r"in \[0, 1\], got nan to nan"),
        (np.zeros((2, 1, 2, 2)), {"rows": ["a"]}, "rows has 1 labels, the grid has 2"),
        (np.zeros((1, 2, 2, 2)), {"titles": [["a"]]}, "a row of titles has 1 labels"),
    ],
)
def test_images_that_do_not_fit_give_a_precise_error(grid, labels, message):
    with pytest.raises(ValueError, match=message):
        images(grid, **labels)


def test_pictures_in_colour_stand_on_a_bare_ground():
    grid = np.random.default_rng(0).random((2, 2, 4, 4, 3))
    shown = images(grid).axes[0].images[0].get_array()
    np.testing.assert_array_equal(shown[5:9, 5:9, :3], grid[1, 1])
    assert shown[5:9, 5:9, 3].all() and not shown[4, :, 3].any()


@pytest.mark.parametrize("colours", [(), (3,)])
def test_a_masked_place_stays_bare(colours):
    grid = np.ma.masked_all((2, 2, 4, 4, *colours))
    grid[:, 0], grid[1, 1] = 0.25, 0.75
    shown = images(grid).axes[0].images[0].get_array()
    bare = shown[..., 3] == 0 if colours else np.ma.getmaskarray(shown)
    assert bare[:4, 5:9].all() and not bare[5:9, 5:9].any() and not bare[:4, :4].any()


def test_a_row_may_end_before_the_others():
    rows = [np.full((1, 4, 4), 0.25), np.full((2, 4, 4), 0.75)]
    shown = images(rows, columns=["u", "v"]).axes[0].images[0].get_array()
    bare = np.ma.getmaskarray(shown)
    assert bare[:4, 5:9].all() and not bare[5:9, 5:9].any() and not bare[:4, :4].any()
    assert shown[0, 0] == 0.25 and shown[5, 5] == 0.75


def test_rows_of_pictures_of_different_sizes_are_refused():
    with pytest.raises(ValueError, match=r"one size, got \[\(4, 4\), \(5, 5\)\]"):
        images([np.zeros((1, 4, 4)), np.zeros((2, 5, 5))])


def test_labels_of_columns_do_not_run_into_each_other():
    names = ["airplane", "automobile", "a"] * 4
    figure = images(np.zeros((1, 12, 8, 8)), columns=names)
    figure.canvas.draw()
    boxes = [t.get_window_extent() for t in figure.axes[0].get_xticklabels()]
    assert all(a.x1 < b.x0 for a, b in zip(boxes, boxes[1:], strict=False))


def test_sets_stand_under_their_names_with_their_own_columns():
    sets = {"grey": np.zeros((1, 2, 4, 4)), "$x$": np.ones((1, 1, 4, 4, 3))}
    first, second = image_sets(sets, {"$x$": ["cat"]}).axes
    assert [axes.get_title(loc="left") for axes in (first, second)] == ["grey", "$x$"]
    assert [t.get_text() for t in second.get_xticklabels()] == ["cat"]
    assert len(first.get_xticklabels()) == 0
    with pytest.raises(ValueError, match="sets is empty"):
        image_sets({})
