"""The S explorer: accuracy curves and posteriors at each S."""

import re

import numpy as np
import pytest
from bs4 import BeautifulSoup

from cilbook.show import Curve, Examples, SExplorer, SStudy
from cilbook.show.widgets.plot import log_ticks, percent_ticks

SAMPLES = [1, 10, 1000]


def curves(name: str = "gc") -> list[Curve]:
    return [
        Curve(name, [61.25, 88.0, 93.84], [2.0, 1.0, 0.11], "#D55E00"),
        Curve("joint", [98.2, 98.2, 98.2], None, "#1A1A1A", dashed=True),
    ]


def examples(**extras) -> Examples:
    posterior = {
        1: [[0.2, 0.7, 0.1], [0.5, 0.3, 0.2]],
        10: [[0.6, 0.3, 0.1], [0.5, 0.3, 0.2]],
        1000: [[0.9, 0.1, 0.0], [0.1, 0.3, 0.6]],
    }
    return Examples([0, 435], posterior, **extras)


def run(**changes) -> dict:
    stored = {"index": [0, 435], "posterior": {"1": [[0.2, 0.7, 0.1], [0.5, 0.3, 0.2]]}}
    stored["posterior"]["10"] = [[0.6, 0.3, 0.1], [0.5, 0.4, 0.1]]
    return {
        "method": "gc",
        "config": {"class_order": [0, 1, 2]},
        "by_samples": {"1": 60.0, "10": 80.0},
        "examples": stored,
    } | changes


def cards(explorer: SExplorer, samples: int) -> list[list[str]]:
    """The text of each card, part by part."""
    drawing = explorer.panels[1].draw({"samples": samples}, None).html()
    soup = BeautifulSoup(drawing, "html.parser")
    return [[t.strip() for t in li.stripped_strings] for li in soup("li")]


def shown(explorer: SExplorer) -> str:
    """The readout of the live face."""
    soup = BeautifulSoup(explorer.face.view.value, "html.parser")
    return "; ".join(part.get_text() for part in soup(["output", "p"]))


def move(explorer: SExplorer, samples: int) -> None:
    explorer.face.controls["samples"].value = samples


def test_the_readout_gives_every_number_of_the_curves():
    explorer = SExplorer(SAMPLES, curves())
    assert [explorer.text({"samples": s}) for s in SAMPLES] == [
        "S = 1 · gc 61.2 ± 2.0% · joint 98.2%",
        "S = 10 · gc 88.0 ± 1.0% · joint 98.2%",
        "S = 1,000 · gc 93.8 ± 0.1% · joint 98.2%",
    ]


def test_the_plain_face_is_the_table():
    assert repr(SExplorer(SAMPLES, curves())).splitlines()[1:] == [
        "    S          gc  joint",
        "    1  61.2 ± 2.0   98.2",
        "   10  88.0 ± 1.0   98.2",
        "1,000  93.8 ± 0.1   98.2",
    ]


def test_markers_stand_on_their_curves_and_higher_accuracy_stands_higher():
    explorer = SExplorer(SAMPLES, curves())
    heights = []
    for i, samples in enumerate(SAMPLES):
        drawing = explorer.panels[0].draw({"samples": samples}, None).html()
        soup = BeautifulSoup(drawing, "html.parser")
        lines = [line["points"].split() for line in soup("polyline")]
        marks = [re.findall(r"[\d.]+", c["transform"]) for c in soup.select(".cil-marker")]
        assert [line[i] for line in lines] == [",".join(mark) for mark in marks]
        heights.append(float(marks[0][1]))
    assert heights == sorted(heights, reverse=True)


def test_each_benchmark_has_its_own_grid_curves_and_table():
    other = SStudy([1, 100], [Curve("gc", [40.0, 50.0], None, "#D55E00")])
    explorer = SExplorer.over({"digits": SStudy(SAMPLES, curves()), "mnist": other})
    assert explorer.text({"benchmark": "mnist", "samples": 100}) == "S = 100 · gc 50.0%"
    soup = BeautifulSoup(explorer.html(), "html.parser")
    assert [t["data-at"] for t in soup.select(".cil-tables table")] == ["0 *", "1 *"]
    assert [tr["data-at"] for tr in soup("tr", {"data-at": True})] == [
        *("0 0", "0 1", "0 2"),
        *("1 0", "1 1"),
    ]


def test_a_card_gives_the_decision_its_posterior_and_a_flip_in_words():
    explorer = SExplorer(SAMPLES, curves(), examples=examples())
    assert cards(explorer, 1) == [["#0", "1", "70%", "012"], ["#435", "0", "50%", "012"]]
    assert cards(explorer, 10) == [
        ["#0", "0", "60%", "012", "⇄ was 1"],
        ["#435", "0", "50%", "012"],
    ]


def test_with_labels_a_card_says_whether_the_decision_is_right():
    explorer = SExplorer(SAMPLES, curves(), examples=examples(labels=[0, 0]))
    assert [card[1] for card in cards(explorer, 1)] == ["1 ✗", "0 ✓"]
    assert explorer.panels[1].text({"samples": 10}, None) == (
        "S = 10 · changed since S = 1: 1 of 2 decisions (test rows 0) · 2 of 2 right"
    )


def test_an_image_takes_the_place_of_the_row_number():
    explorer = SExplorer(SAMPLES, curves(), examples=examples(images=np.zeros((2, 8, 8))))
    assert cards(explorer, 1)[0][0] != "#0"
    soup = BeautifulSoup(explorer.html(), "html.parser")
    labels = [svg["aria-label"] for svg in soup.select("svg.cil-picture")]
    assert labels == ["test image 0", "test image 435"]


def test_the_table_of_examples_marks_flips():
    table = SExplorer(SAMPLES, curves(), examples=examples(labels=[0, 2])).tables[1]
    assert [[row.head, *row.cells] for row in table.rows] == [
        ["0", "0", "1 (70)", "⇄ 0 (60)", "0 (90)"],
        ["435", "2", "0 (50)", "0 (50)", "⇄ 2 (60)"],
    ]


def test_bars_are_as_high_as_the_posteriors():
    explorer = SExplorer(SAMPLES, curves(), examples=examples())
    drawing = explorer.panels[1].draw({"samples": 1}, None).html()
    soup = BeautifulSoup(drawing, "html.parser")
    chosen = soup.select_one(".cil-chosen")["d"]
    others = soup.select_one(".cil-bar")["d"]
    heights = [float(h) / 34 for h in re.findall(r"v-([\d.]+)", chosen + others)]
    assert heights == pytest.approx([0.7, 0.2, 0.1], abs=0.002)


def test_stored_runs_give_mean_and_standard_error():
    study = SStudy.from_runs([run(), run(by_samples={"1": 62.0, "10": 82.0})])
    assert study.samples == [1, 10]
    assert study.curves[0].accuracy == [61, 81]
    assert study.curves[0].band == pytest.approx([1, 1])
    assert study.examples.index == [0, 435]


def test_a_single_run_has_no_band():
    assert SStudy.from_runs([run()]).curves[0].band is None


def test_posteriors_of_a_run_are_in_the_order_of_the_data_set():
    moved = Examples.from_run(run(config={"class_order": [2, 0, 1]}))
    np.testing.assert_array_equal(moved.posterior[1][0], [0.1, 0.2, 0.7])


def test_a_run_of_another_method_has_no_examples():
    with pytest.raises(ValueError, match="the run of 'ewc' has no examples"):
        Examples.from_run({"method": "ewc"})


def test_the_live_face_without_evaluate_shows_the_stored_numbers():
    explorer = SExplorer(SAMPLES, curves())
    move(explorer, 1000)
    assert shown(explorer) == "S = 1,000 · gc 93.8 ± 0.1% · joint 98.2%"


def test_the_live_face_recomputes_at_the_chosen_s_and_shows_it():
    asked = []

    def evaluate(samples: int) -> dict[str, float]:
        asked.append(samples)
        return {"gc": 87.04}

    explorer = SExplorer(SAMPLES, curves(), evaluate)
    explorer._repr_mimebundle_()
    assert asked == []  # nothing is computed before the slider moves
    move(explorer, 10)
    assert asked == [10]
    assert shown(explorer) == (
        "S = 10 · gc 87.0% recomputed (stored 88.0 ± 1.0%) · joint 98.2%"
    )
    assert "cil-fresh" in explorer.face.view.value


def test_only_the_benchmark_that_can_is_recomputed():
    plain = SStudy(SAMPLES, curves())
    fresh = SStudy(SAMPLES, curves(), evaluate=lambda s: {"gc": 50.0})
    explorer = SExplorer.over({"plain": plain, "fresh": fresh})
    move(explorer, 10)
    assert "recomputed" not in shown(explorer)
    explorer.face.controls["benchmark"].value = "fresh"
    assert "gc 50.0% recomputed" in shown(explorer)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({"typo": 1.0}, r"evaluate gave \['typo'\]; the curves are \['gc', 'joint'\]"),
        ({"gc": float("nan")}, "curve 'gc': recomputed accuracy nan is not 0 to 100"),
    ],
)
def test_a_failed_recomputation_is_raised_and_shown(answer, message):
    explorer = SExplorer(SAMPLES, curves(), lambda samples: answer)
    with pytest.raises(ValueError, match=message):
        move(explorer, 10)
    assert re.search(f"importance samples S = 10 failed: {message}", shown(explorer))
    assert "S = 1 · gc 61.2" in shown(explorer)  # what was shown before stays


@pytest.mark.parametrize(
    ("samples", "accuracy", "band", "message"),
    [
        ([1, 10], [1.0], None, "curve 'a': accuracy has 1 values for 2 values of S"),
        ([1, 10], [1, 2], [1.0] * 3, "curve 'a': band has 3 values for 2 values of S"),
        ([1, 10], [1, 101], None, "curve 'a': accuracy 101.0 is not 0 to 100"),
        ([1, 10], [1, 2], [0, -1], "curve 'a': band -1.0 is not 0 or more"),
        ([10, 1], [1, 2], None, "samples must be two or more increasing .*10, 1"),
        ([0, 1], [1, 2], None, "samples must be two or more increasing .*0, 1"),
        ([1], [1], None, "samples must be two or more"),
    ],
)
def test_curves_that_do_not_fit_give_a_precise_error(samples, accuracy, band, message):
    with pytest.raises(ValueError, match=message):
        SExplorer(samples, [Curve("a", accuracy, band, "black")])


def test_no_curve_two_of_one_name_and_no_benchmark_are_refused():
    with pytest.raises(ValueError, match="curves is empty"):
        SExplorer(SAMPLES, [])
    with pytest.raises(ValueError, match="curve names must differ"):
        SExplorer(SAMPLES, curves("joint"))
    with pytest.raises(ValueError, match="studies is empty"):
        SExplorer.over({})
    with pytest.raises(ValueError, match="runs is empty"):
        SStudy.from_runs([])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"index": []}, "index is empty"),
        ({"posterior": {}}, "posterior is empty"),
        ({"posterior": {1: [0.5, 0.5]}}, r"posterior\[1\] must be \[rows, classes\]"),
        ({"posterior": {1: [[0.5, 0.5]]}}, r"posterior\[1\] has shape \(1, 2\), expected"),
        ({"posterior": {1: [[2, 0], [0, 1]]}}, r"probabilities in \[0, 1\], got 0 to 2"),
        ({"images": np.zeros((2, 8))}, r"images must be \[n1, height, width\]"),
        ({"images": np.zeros((1, 8, 8))}, "images has 1 entries, index has 2"),
        ({"labels": [0]}, "labels has 1 entries, index has 2"),
        ({"labels": [0, 2]}, "labels holds 2; classes are 0 to 1"),
        ({"names": ["a"]}, "names has 1 entries, the posterior has 2"),
    ],
)
def test_examples_that_do_not_fit_give_a_precise_error(change, message):
    fine = {"index": [0, 1], "posterior": {1: [[0.5, 0.5], [0, 1]]}}
    with pytest.raises(ValueError, match=message):
        Examples(**fine | change)


def test_examples_without_a_posterior_at_some_s_are_refused():
    with pytest.raises(ValueError, match=r"no posterior at S = \[3\].*\[1, 10, 1000\]"):
        SExplorer([1, 3], [Curve("a", [1, 2], None, "black")], examples=examples())


@pytest.mark.parametrize(
    ("low", "high"), [(0, 100), (61, 98.2), (97.9, 98.3), (100, 100), (0, 0), (55, 55)]
)
def test_the_accuracy_axis_has_round_ticks_around_the_data(low, high):
    ticks = percent_ticks(low, high)
    assert 0 <= ticks[0] <= low and high <= ticks[-1] <= 100
    assert 2 <= len(ticks) <= 7


@pytest.mark.parametrize(
    ("samples", "ticks"),
    [
        ([1, 7, 10000], [1, 10, 100, 1000, 10000]),
        ([1, 4, 16], [1, 2, 5, 10]),
        ([64, 80], [64, 80]),
        ([1e-4, 1e4], [1e-4, 1e-2, 1, 100, 10000]),
    ],
)
def test_a_log_axis_has_round_ticks_inside_the_grid(samples, ticks):
    assert log_ticks(samples) == ticks


def test_kinds_of_runs_are_compared_at_the_s_they_share():
    longer = run(by_samples={"1": 70.0, "10": 85.0, "100": 90.0})
    study = SStudy.among({"short": [run()], "long": [longer]}, "long", labels=[1, 2])
    assert study.samples == [1, 10] and study.examples.labels == [1, 2]
    assert [curve.accuracy for curve in study.curves] == [[60.0, 80.0], [70.0, 85.0]]
    assert [curve.dashed for curve in study.curves] == [False, True]


def test_a_kind_of_run_that_is_not_there_cannot_be_shown():
    with pytest.raises(ValueError, match=r"shown must be one of \['gc'\], got 'vae'"):
        SStudy.among({"gc": [run()]}, "vae")
