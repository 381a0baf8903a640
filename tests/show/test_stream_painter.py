"""The stream painter: boundary blur as a slider."""

from math import inf

import numpy as np
import pytest
import torch
from bs4 import BeautifulSoup

from cilbook.benchmarks.streams import blurred, class_by_class, iid
from cilbook.show import StreamPainter
from cilbook.show.widgets.shares import mixing, window_shares

LABELS = torch.arange(4).repeat(50)
WIDTHS = [0, 40, inf]


def painter(**options) -> StreamPainter:
    return StreamPainter(LABELS, WIDTHS, batch=20, **options)


def test_streams_are_those_of_the_library():
    made = painter(seed=5)
    orders = [
        class_by_class(LABELS, seed=5),
        blurred(LABELS, 40, seed=5),
        iid(LABELS, seed=5),
    ]
    for width, order in zip(WIDTHS, orders, strict=True):
        np.testing.assert_array_equal(made.streams[width], LABELS[order])


def test_a_task_of_two_classes_mixes_them_and_nothing_else():
    made = painter(tasks=[[0, 3], [1, 2]])
    halves = [set(made.streams[0][:100].tolist()), set(made.streams[0][100:].tolist())]
    assert sorted(map(sorted, halves)) == [[0, 3], [1, 2]]
    assert made.boundaries == [100]


def test_rows_stand_in_the_order_in_which_classes_come():
    made = painter()
    assert list(made.names) == list(dict.fromkeys(made.streams[0].tolist()))
    assert made.boundaries == [50, 100, 150]


def test_the_drawing_is_as_high_as_the_shares():
    soup = BeautifulSoup(painter().panels[0].draw({"width": 0}, None).html(), "html.parser")
    paths = [path["d"] for path in soup.select(".cil-area")]
    assert len(paths) == 4
    assert all(path.count("M") == 1 for path in paths)  # one stretch for each class
    starts = [float(path[1:].split()[0]) for path in paths]
    assert starts == sorted(starts)


def test_shares_of_all_classes_add_up_to_one():
    labels = np.random.default_rng(0).integers(7, size=1003)
    shares, edges = window_shares(labels, list(range(7)))
    np.testing.assert_allclose(shares.sum(0), 1)
    assert (edges[0], edges[-1]) == (0, 1003)
    np.testing.assert_allclose(shares @ np.diff(edges), np.bincount(labels))


def test_mixing_leaves_out_the_last_batch_if_it_is_short():
    assert mixing(np.array([0, 0, 0, 1, 9, 8, 7]), 4) == (2.0, 75.0)


def test_words_and_table_give_the_same_numbers_at_every_width():
    made = painter()
    for width, row in zip(WIDTHS, made.tables[0].rows, strict=True):
        classes, share = mixing(made.streams[width], 20)
        assert row.cells == [f"{classes:.1f}", f"{share:.1f}"]
        assert f"holds {classes:.1f} classes" in made.text({"width": width})
    assert made.tables[0].rows[0].cells == ["1.2", "90.0"]  # 2 of 10 on a boundary


def test_the_live_face_makes_streams_of_widths_between_the_stored_ones():
    made = painter()
    made.face.controls["width"].value = 10.0
    now = LABELS[blurred(LABELS, 10, seed=0)].numpy()
    output = BeautifulSoup(made.face.view.value, "html.parser").output.get_text()
    assert output == made.panels[0].text({"width": 10.0}, now)
    assert output.startswith("boundary over 10 samples · ")


def test_a_stream_of_a_hundred_classes_stays_small_and_names_some():
    many = StreamPainter(torch.arange(100).repeat(50), [0, 100, inf])
    html = many.html()
    assert len(html) < 200_000
    names = BeautifulSoup(html, "html.parser").select("svg .cil-y")
    assert 10 <= len(names) <= 34


@pytest.mark.parametrize(
    ("labels", "widths", "options", "message"),
    [
        ([], WIDTHS, {}, r"whole numbers from 0 up, \[samples\], got shape \(0,\)"),
        ([[1, 2]], WIDTHS, {}, r"got shape \(1, 2\)"),
        ([0.5, 1.5], WIDTHS, {}, "of torch.float32"),
        ([-1, 0], WIDTHS, {}, "labels must be whole numbers from 0 up"),
        (LABELS, [0], {}, r"widths must be two or more increasing .* got \[0\]"),
        (LABELS, [5, 0], {}, "widths must be two or more increasing"),
        (LABELS, [-1, 0], {}, "numbers from 0 up"),
        (LABELS, [0, float("nan")], {}, "widths must be"),
        (
            LABELS,
            WIDTHS,
            {"batch": 0},
            "batch must be 1 to 200, the number of labels, got 0",
        ),
        (LABELS, WIDTHS, {"tasks": [[0, 1]]}, r"each class of labels once; got \[0, 1\]"),
        (LABELS, WIDTHS, {"names": ["a"]}, "names has 1 entries"),
    ],
)
def test_input_that_does_not_fit_gives_a_precise_error(labels, widths, options, message):
    with pytest.raises(ValueError, match=message):
        StreamPainter(labels, widths, **options)
