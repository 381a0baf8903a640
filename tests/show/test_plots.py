"""Colours and figures."""

from itertools import combinations

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from cilbook.show import style
from cilbook.show.curves import Curve
from cilbook.show.plots import (
    accuracy_over_samples,
    error_over_samples,
    margin_histograms,
    stream,
)

METHODS = [
    *("none", "joint", "dgr", "bir", "bir-si", "ewc", "si", "cwr", "cwr+", "ar1"),
    *("labels-trick", "slda", "gc", "gen-samples", "ppca", "mppca"),
]
LUMINANCE = np.array([0.2126, 0.7152, 0.0722])
TO_XYZ = np.array(
    [[0.4125, 0.3576, 0.1804], [0.2127, 0.7152, 0.0722], [0.0193, 0.1192, 0.9503]]
)
VISION = {  # Machado, Oliveira and Fernandes (2009), full severity, linear RGB
    "usual": np.eye(3),
    "deutan": np.array(
        [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]]
    ),
    "protan": np.array(
        [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]]
    ),
}


def linear(colour: str) -> np.ndarray:
    rgb = np.array(to_rgb(colour))
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def contrast_on_white(colour: str) -> float:
    return 1.05 / (linear(colour) @ LUMINANCE + 0.05)


def lab(colour: str, vision: np.ndarray) -> np.ndarray:
    xyz = TO_XYZ @ np.clip(vision @ linear(colour), 0, 1) / TO_XYZ.sum(1)
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def curve(name: str, last: float) -> Curve:
    return Curve(name, [50.0, last], [5.0, 1.0], style.colour("gc"))


def test_every_method_has_a_colour_and_an_unknown_one_is_named():
    assert list(style.COLOURS) == METHODS
    with pytest.raises(ValueError, match="no colour for 'gcc'; methods: none, joint"):
        style.colour("gcc")


@pytest.mark.parametrize(
    ("vision", "least"), [("usual", 18), ("deutan", 12), ("protan", 12)]
)
def test_any_two_methods_have_colours_that_differ(vision, least):
    points = [lab(colour, VISION[vision]) for colour in style.COLOURS.values()]
    assert min(np.linalg.norm(a - b) for a, b in combinations(points, 2)) > least


@pytest.mark.parametrize("method", METHODS)
def test_lines_and_words_in_a_methods_colour_are_legible_on_white(method):
    assert contrast_on_white(style.colour(method)) >= 3
    assert contrast_on_white(style.ink(style.colour(method))) >= 4.5


def test_the_style_ends_with_its_block():
    before = dict(mpl.rcParams)
    with style.use():
        assert mpl.rcParams["axes.edgecolor"] == style.MUTED
    assert dict(mpl.rcParams) == before


def test_a_figure_is_not_left_open_for_pyplot_to_show_again():
    accuracy_over_samples([1, 100], [curve("gc", 90)])
    assert plt.get_fignums() == []


def test_curves_are_drawn_on_a_log_axis_with_their_band_and_name():
    axes = accuracy_over_samples([1, 100], [curve("gc", 90)]).axes[0]
    assert axes.get_xscale() == "log"
    assert list(axes.lines[0].get_ydata()) == [50, 90]
    assert axes.collections[0].get_datalim(axes.transData).y1 == 91
    assert [text.get_text() for text in axes.texts] == ["gc"]


def test_names_of_curves_that_end_together_do_not_overlap():
    figure = accuracy_over_samples([1, 100], [curve(f"m{k}", 90) for k in range(4)])
    figure.canvas.draw()
    boxes = sorted(
        (text.get_window_extent() for text in figure.axes[0].texts), key=lambda b: b.y0
    )
    assert all(a.y1 <= b.y0 for a, b in zip(boxes, boxes[1:], strict=False))


def test_the_plot_refuses_curves_that_do_not_fit_the_samples():
    with pytest.raises(ValueError, match="accuracy has 2 values for 3 values of S"):
        accuracy_over_samples([1, 10, 100], [curve("gc", 90)])


def test_a_stream_is_drawn_as_the_share_of_each_class_over_time():
    axes = stream([7, 7, 3, 7]).axes[0]
    np.testing.assert_array_equal(axes.images[0].get_array(), [[0, 0, 1, 0], [1, 1, 0, 1]])
    assert axes.images[0].get_extent() == [0, 4, 1.5, -0.5]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["3", "7"]


def test_a_long_stream_of_many_classes_stays_a_small_picture_that_adds_up():
    labels = np.random.default_rng(0).integers(100, size=5_003)
    axes = stream(labels).axes[0]
    shares = axes.images[0].get_array()
    assert shares.shape == (100, 240)
    np.testing.assert_allclose(shares.sum(0), 1)
    assert len(axes.get_yticklabels()) == 20


@pytest.mark.parametrize("labels", [[], [[1, 2]]])
def test_a_stream_that_is_not_a_list_of_labels_gives_a_precise_error(labels):
    with pytest.raises(ValueError, match=r"labels must be \[samples\], got shape"):
        stream(labels)


def test_the_error_of_an_estimate_is_drawn_with_its_mean_and_spread():
    axes = error_over_samples([1, 10], [[-3.0, -1.0], [-0.5, 0.5]]).axes[0]
    assert axes.lines[-1].get_ydata().tolist() == [-2.0, 0.0]
    band = axes.collections[0].get_paths()[0].vertices[:, 1]
    assert (band.min(), band.max()) == (-3.0, 0.5)
    assert axes.get_xscale() == "log" and plt.get_fignums() == []


def test_errors_that_do_not_fit_the_sample_sizes_are_told():
    with pytest.raises(ValueError, match=r"\[2 values of S, repet.*got shape \(1, 2\)"):
        error_over_samples([1, 10], [[0.0, 1.0]])


def test_margins_share_their_bins_and_each_has_its_own_noise():
    figure = margin_histograms({"a": [0.0, 1.0], "b": [2.0, 90.0]}, {"a": 1.0, "b": 2.0})
    first, second = (axes.patches for axes in figure.axes)
    assert [first[0].get_width(), second[0].get_width()] == [2.0, 4.0]
    assert sum(bar.get_height() for bar in first[1:]) == 2
    assert [bar.get_x() for bar in first[1:]] == [bar.get_x() for bar in second[1:]]
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["a", "b"]


def test_margins_without_their_noise_are_told():
    with pytest.raises(ValueError, match=r"the same ways, got \['a'\] and \['b'\]"):
        margin_histograms({"a": [0.0]}, {"b": 1.0})
