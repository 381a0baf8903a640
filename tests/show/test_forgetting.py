"""The forgetting player: two stored runs side by side, task after task."""

import re

import pytest
from bs4 import BeautifulSoup

from cilbook.show import ForgettingPlayer, colour

MATRIX = [[99.0, None, None], [40.0, 98.0, None], [0.0, 12.5, 97.0]]


def run(method: str = "none", **changes) -> dict:
    counts = [[[3 * (i + j == s) for j in range(3)] for i in range(3)] for s in range(3)]
    return {
        "method": method,
        "config": {"class_order": [2, 0, 1]},  # class 1 comes first, then 2, then 0
        "accuracy_matrix": MATRIX,
        "confusion": counts,
    } | changes


def joint() -> dict:
    counts = [[[5, 0, 0], [0, 5, 0], [1, 0, 4]]]
    return run("joint", accuracy_matrix=[[90.0, 80.0, 70.0]], confusion=counts)


def player(**runs) -> ForgettingPlayer:
    return ForgettingPlayer(runs or {"None": run(), "Joint": joint()})


def drawn(title: str, task: int, **runs) -> BeautifulSoup:
    panel = player(**runs).panels[0]
    values = {"left": title, "task": task}
    return BeautifulSoup(panel.draw(values, None).html(), "html.parser")


def cells(soup: BeautifulSoup) -> list[list[str]]:
    return [[cell.get_text() for cell in row(["th", "td"])] for row in soup.table("tr")]


def heights(soup: BeautifulSoup) -> list[float]:
    return [float(bar["height"]) for bar in soup.select(".cil-fill")]


def test_the_words_give_the_mean_and_every_task_met():
    text = player().panels[0].text({"left": "None", "task": 2}, None)
    assert text == "None after task 2: mean 69.0% (task 1 40.0%, task 2 98.0%)"


def test_bars_are_as_high_as_the_accuracies_and_tasks_to_come_have_none():
    top = heights(drawn("None", 3))[2] / 97.0
    for task, row in enumerate(MATRIX, 1):
        expected = [(accuracy or 0) * top for accuracy in row]
        assert heights(drawn("None", task)) == pytest.approx(expected, abs=0.1)
    waiting = [frame["visibility"] for frame in drawn("None", 2).select(".cil-wait")]
    assert waiting == ["hidden", "hidden", "visible"]


def test_a_line_stays_where_a_task_stood_when_it_was_just_learned():
    lines = [
        re.findall(r" ([\d.]+)h", p["d"]) for p in drawn("None", 3).select(".cil-was-here")
    ]
    tops = [float(bar["y"]) for bar in drawn("None", 1).select(".cil-fill")]
    assert float(lines[0][0]) == pytest.approx(tops[0], abs=0.1)


def test_the_matrix_names_classes_in_the_order_in_which_they_came():
    assert cells(drawn("None", 1)) == [
        ["", "1", "2", "0"],
        ["1", "3", "", ""],
        ["2", "", "", ""],
        ["0", "", "", ""],
    ]


def test_cells_are_shaded_by_their_share_of_the_true_class():
    soup = drawn("Joint", 1)
    shares = [float(cell["style"].split(":")[1]) for cell in soup.select(".cil-cell")]
    assert shares == [1, 0, 0, 0, 1, 0, 0.2, 0, 0.8]


def test_a_run_that_learns_all_at_once_is_the_same_at_every_position_and_says_so():
    first, last = drawn("Joint", 1), drawn("Joint", 3)
    assert first.get_text() == last.get_text()
    text = player().panels[0].text({"left": "Joint", "task": 1}, None)
    assert text.startswith("Joint after all tasks at once: mean 80.0% (task 1 90.0%")


def test_bars_have_the_colour_of_the_method():
    assert colour("joint") in drawn("Joint", 1).select_one("svg")["style"]


def test_the_tables_hold_every_accuracy_and_show_with_their_method():
    tables = player().tables
    assert [[row.head, *row.cells] for row in tables[0].rows] == [
        ["task 1", "99.0", "–", "–"],
        ["task 2", "40.0", "98.0", "–"],
        ["task 3", "0.0", "12.5", "97.0"],
    ]
    assert [[row.head, *row.cells] for row in tables[1].rows] == [
        ["all tasks", "90.0", "80.0", "70.0"]
    ]
    assert tables[1].at == [{"left": 1}, {"right": 1}]


def test_both_selects_and_the_slider_work_with_a_kernel():
    live = player()
    live.face.controls["left"].value = "Joint"
    live.face.controls["task"].value = 3
    texts = BeautifulSoup(live.face.view.value, "html.parser")("output")
    assert texts[0].get_text().startswith("Joint after all tasks at once")
    assert texts[1].get_text().startswith("Joint after all tasks at once")
    live.face.controls["right"].value = "None"
    texts = BeautifulSoup(live.face.view.value, "html.parser")("output")
    assert texts[1].get_text().startswith("None after task 3")


def test_a_large_matrix_is_a_picture_at_the_one_stage_that_is_stored():
    classes = 30
    eye = [[int(i == j) for j in range(classes)] for i in range(classes)]
    many = run(confusion=[eye], config={"class_order": list(range(classes))})
    soup = drawn("A", 3, A=many, B=many)
    assert "100.0% on the diagonal" in soup.select_one(".cil-picture")["aria-label"]
    early = drawn("A", 1, A=many, B=many)
    assert early.select_one(".cil-picture") is None
    assert "stored for the last task alone" in early.get_text()


def test_those_shown_first_can_be_chosen():
    runs = {"a": run(), "b": run(), "c": run()}
    chosen = ForgettingPlayer(runs, left="c", right="a")
    assert (chosen.start["left"], chosen.start["right"]) == ("c", "a")


@pytest.mark.parametrize(
    ("runs", "options", "message"),
    [
        ({"a": run()}, {}, r"runs must hold two or more runs by title, got \['a'\]"),
        (
            {"a": run(), "b": run(accuracy_matrix=None)},
            {},
            "run 'b' has no accuracy_matrix",
        ),
        ({"a": run(), "b": run(confusion=None)}, {}, "run 'b' has no confusion"),
        (
            {"a": run(), "b": run(accuracy_matrix=[[1.0]])},
            {},
            "the same number of tasks, got {'a': 3, 'b': 1}",
        ),
        (
            {"a": run(), "b": run()},
            {"left": "x"},
            r"left is 'x'; the runs are \['a', 'b'\]",
        ),
        ({"a": run(), "b": run()}, {"names": ["x"]}, "names has 1 entries, run 'a' has 3"),
        ({"a": run("x"), "b": run()}, {}, "no colour for 'x'"),
    ],
)
def test_runs_that_do_not_fit_give_a_precise_error(runs, options, message):
    with pytest.raises(ValueError, match=message):
        ForgettingPlayer(runs, **options)
