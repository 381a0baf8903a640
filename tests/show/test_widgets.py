"""The explorer: two faces, the same numbers."""

import json
import re

import pytest
from bs4 import BeautifulSoup

from cilbook.show.curves import Curve
from cilbook.show.panels import percent_ticks, sample_ticks
from cilbook.show.widgets import WIDGET_VIEW, SExplorer

SAMPLES = [1, 10, 1000]
NASTY = '</script><b>"it\'s" & <!--'


def curves(name: str = "gc") -> list[Curve]:
    return [
        Curve(name, [61.25, 88.0, 93.84], [2.0, 1.0, 0.11], "#D55E00"),
        Curve("joint", [98.2, 98.2, 98.2], None, "#1A1A1A", dashed=True),
    ]


def page(explorer: SExplorer) -> BeautifulSoup:
    return BeautifulSoup(explorer.html(), "html.parser")


def data(soup: BeautifulSoup) -> dict:
    return json.loads(soup.find("script", type="application/json").string)


def shown(explorer: SExplorer) -> str:
    """The readout of the live face."""
    view = explorer.live.children[1].value
    return BeautifulSoup(view, "html.parser").output.get_text()


def move(explorer: SExplorer, samples: int) -> None:
    explorer.live.children[0].value = samples


def test_the_bundle_has_a_live_a_static_and_a_plain_face():
    explorer = SExplorer(SAMPLES, curves())
    bundle = explorer._repr_mimebundle_()
    assert bundle[WIDGET_VIEW]["model_id"] == explorer.live.model_id
    assert bundle["text/html"].startswith('<div class="cil-explorer">')
    assert bundle["text/plain"].splitlines() == [
        "    S          gc  joint",
        "    1  61.2 ± 2.0   98.2",
        "   10  88.0 ± 1.0   98.2",
        "1,000  93.8 ± 0.1   98.2",
    ]


def test_there_is_one_text_per_position_and_it_gives_the_numbers():
    assert data(page(SExplorer(SAMPLES, curves())))["texts"] == [
        "S = 1 · gc 61.2 ± 2.0% · joint 98.2%",
        "S = 10 · gc 88.0 ± 1.0% · joint 98.2%",
        "S = 1,000 · gc 93.8 ± 0.1% · joint 98.2%",
    ]


def test_the_static_slider_starts_at_the_first_text_and_covers_all():
    soup = page(SExplorer(SAMPLES, curves()))
    slider, first = soup.find("input", type="range"), data(soup)["texts"][0]
    assert (slider["min"], slider["max"], slider["value"]) == ("0", "2", "0")
    assert soup.output.get_text() == slider["aria-valuetext"] == first


def test_the_table_holds_every_number():
    table = page(SExplorer(SAMPLES, curves())).table
    rows = [[cell.get_text() for cell in row(["th", "td"])] for row in table("tr")]
    assert rows == [
        ["S", "gc", "joint"],
        ["1", "61.2 ± 2.0", "98.2"],
        ["10", "88.0 ± 1.0", "98.2"],
        ["1,000", "93.8 ± 0.1", "98.2"],
    ]
    assert "±" in table.caption.get_text()


def test_a_nasty_name_stays_text_everywhere():
    explorer = SExplorer(SAMPLES, curves(NASTY))
    soup = page(explorer)
    assert soup.find("b") is None
    assert len(soup("script")) == 2
    assert soup.output.get_text() == data(soup)["texts"][0]
    assert NASTY in data(soup)["texts"][0]
    assert soup.table("th")[1].get_text() == NASTY
    assert NASTY in soup.find("svg", role="img")["aria-label"]
    assert NASTY in soup.input["aria-valuetext"]
    move(explorer, 10)
    assert shown(explorer) == data(soup)["texts"][1]


def test_the_static_face_is_the_same_bytes_each_time_and_has_no_ids_to_clash():
    first, second = (SExplorer(SAMPLES, curves()).html() for _ in range(2))
    assert first == second
    assert not BeautifulSoup(first + second, "html.parser").find_all(id=True)


def test_the_static_face_asks_for_nothing_from_outside():
    html = SExplorer(SAMPLES, curves()).html()
    assert not re.search(r"https?:|\bsrc=|\bhref=|@import|url\(", html)


def test_markers_stand_on_their_curves_and_higher_accuracy_stands_higher():
    soup = page(SExplorer(SAMPLES, curves()))
    panel = data(soup)["panels"][0]
    lines = [line["points"].split() for line in soup("polyline")]
    for line, heights in zip(lines, panel["y"], strict=True):
        assert line == [f"{x},{y}" for x, y in zip(panel["x"], heights, strict=True)]
    rising = panel["y"][0]
    assert rising == sorted(rising, reverse=True)
    assert panel["x"][1] - panel["x"][0] == pytest.approx(488 / 3, abs=0.1)


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
    assert re.search(f"S = 10 failed: {message}", shown(explorer))


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
def test_data_that_do_not_fit_give_a_precise_error(samples, accuracy, band, message):
    with pytest.raises(ValueError, match=message):
        SExplorer(samples, [Curve("a", accuracy, band, "black")])


def test_no_curve_and_two_of_one_name_are_refused():
    with pytest.raises(ValueError, match="curves is empty"):
        SExplorer(SAMPLES, [])
    with pytest.raises(ValueError, match="curve names must differ"):
        SExplorer(SAMPLES, curves("joint"))


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
    ],
)
def test_the_sample_axis_has_round_ticks_inside_the_grid(samples, ticks):
    assert sample_ticks(samples) == ticks
