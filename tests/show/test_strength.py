"""The strength explorer: old against new as the penalty grows."""

import re

import pytest
from bs4 import BeautifulSoup

from cilbook.show import StrengthExplorer, StrengthStudy, colour

GRID = [0, 1, 10, 100]


def study(method: str = "ewc", **changes) -> StrengthStudy:
    fields = {"old": [0, 20, 40, 60], "new": [100, 95, 80, 10], "symbol": "λ"} | changes
    return StrengthStudy(method, fields.pop("strengths", GRID), **fields)


def explorer(**changes) -> StrengthExplorer:
    si = study("si", strengths=[0.1, 1], old=[10, 30], new=[90, 70], symbol="c")
    return StrengthExplorer({"EWC": study(**changes), "SI": si})


def place(soup: BeautifulSoup, kind: str) -> list[list[float]]:
    marks = soup.select(f".{kind}")
    return [[float(n) for n in re.findall(r"[\d.]+", m["transform"])] for m in marks]


def drawn(panel: int, strength: float, now=None) -> BeautifulSoup:
    values = {"method": "EWC", "strength": strength}
    return BeautifulSoup(explorer().panels[panel].draw(values, now).html(), "html.parser")


def test_the_words_give_both_accuracies():
    text = explorer().text({"method": "EWC", "strength": 10.0})
    assert text == (
        "EWC, λ = 10 · old tasks 40.0% · new task 80.0%; "
        "mean of both 60.0% · best on this grid 60.0% at λ = 10"
    )


def test_the_dot_moves_right_as_the_old_and_down_as_the_new_accuracy_changes():
    places = [place(drawn(0, s), "cil-marker")[0] for s in GRID]
    xs, ys = zip(*places, strict=True)
    assert list(xs) == sorted(xs) and list(ys) == sorted(ys)
    width = 330 - 40
    assert xs == pytest.approx([40 + width * old / 100 for old in (0, 20, 40, 60)], abs=0.1)


def test_a_strength_of_zero_stands_apart_at_the_begin_of_the_axis():
    xs = [place(drawn(1, s), "cil-cursor")[0][0] for s in GRID]
    assert xs[0] == 40
    assert xs[3] - xs[2] == pytest.approx(xs[2] - xs[1], abs=0.2)


def test_the_method_that_is_chosen_stands_out_and_keeps_its_colour():
    soup = drawn(0, 1)
    groups = soup.select("svg.cil-plot > g")
    assert [("cil-faint" in g["class"]) for g in groups] == [False, True, False]
    assert [g["style"] for g in groups[:2]] == [
        f"--colour:{colour('ewc')}",
        f"--colour:{colour('si')}",
    ]


def test_each_method_has_its_own_grid_and_table():
    made = explorer()
    made.face.controls["strength"].value = 100
    made.face.controls["method"].value = "SI"
    assert made.face.values == {"method": "SI", "strength": 1.0}
    assert [[row.head, *row.cells] for row in made.tables[1].rows] == [
        ["0.1", "10.0", "90.0"],
        ["1", "30.0", "70.0"],
    ]


def test_the_live_face_recomputes_what_can_be_recomputed():
    asked = []

    def evaluate(strength: float) -> tuple[float, float]:
        asked.append(strength)
        return 41.0, 79.0

    made = explorer(evaluate=evaluate)
    made._repr_mimebundle_()
    assert asked == []
    made.face.controls["strength"].value = 10
    assert asked == [10]
    soup = BeautifulSoup(made.face.view.value, "html.parser")
    assert soup.output.get_text() == (
        "EWC, λ = 10 · old tasks 41.0% recomputed (stored 40.0%) · "
        "new task 79.0% recomputed (stored 80.0%)"
    )
    assert len(place(soup, "cil-fresh")) == 3
    made.face.controls["method"].value = "SI"
    assert asked == [10]


def test_a_failed_recomputation_is_raised_and_shown():
    made = explorer(evaluate=lambda strength: (41.0, 101.0))
    with pytest.raises(
        ValueError, match="evaluate of 'ewc': accuracy 101.0 is not 0 to 100"
    ):
        made.face.controls["strength"].value = 10
    assert "penalty = 10 failed" in made.face.view.value


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"old": [1, 2]}, "old of 'ewc' has 2 values, expected 4"),
        ({"new": [0, 0, 0, 101]}, "new of 'ewc': accuracy 101.0 is not 0 to 100"),
        ({"strengths": [10, 1]}, r"strengths of 'ewc' must increase .* got \[10.0, 1.0\]"),
        ({"strengths": [0, 1]}, "two or more above 0"),
        ({"strengths": [-1, 1, 2]}, "must increase from 0 or more"),
    ],
)
def test_numbers_that_do_not_fit_give_a_precise_error(changes, message):
    with pytest.raises(ValueError, match=message):
        study(**changes)


def test_no_method_and_wrong_names_are_refused():
    with pytest.raises(ValueError, match="studies is empty"):
        StrengthExplorer({})
    with pytest.raises(ValueError, match="tasks must be two names"):
        StrengthExplorer({"EWC": study()}, ("old",))
    with pytest.raises(ValueError, match="no colour for 'ewk'"):
        study("ewk")
