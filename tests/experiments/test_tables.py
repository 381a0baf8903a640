import json
from io import StringIO

import pandas as pd
import pytest

from cilbook.experiments.formats import as_csv, as_html, as_json, as_markdown
from cilbook.experiments.paper import TABLE_2, TABLE_4, leaves_out, seeds
from cilbook.experiments.tables import (
    NO_BREAK,
    Row,
    Table,
    by_question,
    by_samples,
    mean_and_sem,
    methods_table,
    paper_table,
    samples_table,
)
from cilbook.methods import METHODS

RUNS = [
    {"by_samples": {"1": 70.0, "10": 80.0, "100": 85.0}},
    {"by_samples": {"1": 72.0, "10": 84.0}},
]


def test_the_standard_error_is_the_sample_deviation_over_root_n():
    assert mean_and_sem([1.0, 2.0, 3.0, 6.0]) == (3.0, pytest.approx(2.160247 / 2))
    assert mean_and_sem([5.0]) == (5.0, None)


def test_only_numbers_of_samples_that_all_runs_share_are_averaged():
    assert by_samples(RUNS) == {1: (71.0, 1.0), 10: (82.0, 2.0)}


def test_one_run_answers_two_questions_with_the_means_of_its_last_rows():
    runs = [
        {
            "accuracy_matrix": [[98.0, None], [low, 100.0]],
            "accuracy_matrix_within_task": [[98.0, None], [90.0, 100.0]],
        }
        for low in (0.0, 4.0)
    ]
    assert by_question(runs) == {
        "among all classes": (51.0, 1.0),
        "within the task": (95.0, 0.0),
    }


def test_a_table_has_a_dash_where_a_row_has_no_number():
    table = samples_table({"ours": by_samples(RUNS), "paper": TABLE_4["mnist"]})
    assert list(table.columns)[:2] == ["S = 1", "S = 10"]
    assert table.loc["ours", "S = 10"].replace(NO_BREAK, " ") == "82.00 ± 2.00"
    assert table.loc["ours", f"S = 1{NO_BREAK}000"] == "–"
    most = table.loc["paper", f"S = 10{NO_BREAK}000"]
    assert most == f"93.79{NO_BREAK}±{NO_BREAK}0.08"


def test_the_papers_seeds_start_at_two_for_gc_and_at_eleven_for_the_rest():
    assert seeds("gc", 3) == [2, 3, 4]
    assert seeds("none", 2) == [11, 12]


def stored(benchmark="mnist", method="gc", seed=2, samples=10_000, **changes) -> dict:
    """A run as the store gives it, with the accuracies told apart."""
    config = {} if method != "gc" else {"samples": samples}
    run = {"benchmark": benchmark, "method": method, "seed": seed, "budget": "paper"}
    run |= {"config": config, "accuracy": 93.0 + seed / 10}
    run |= {"accuracy_plain": 50.0, "accuracy_by_task_mean": 20.0}
    if method == "gc":
        run |= {"estimator": "importance-sampling"}
        run |= {"by_samples": {str(s): 90.0 + seed for s in (1, 3, 10) if s <= samples}}
    return run | changes


def row(number: str, runs: list[dict], method: str = "gc", **where) -> dict:
    table = paper_table(number, runs, "paper", ["mnist"])
    (found,) = [
        row.as_dict()
        for row in table.rows
        if row.method == method and all(getattr(row, k) == v for k, v in where.items())
    ]
    return found


def test_a_row_stands_beside_the_papers_number():
    assert row("2", [stored(seed=2), stored(seed=4)]) == {
        "benchmark": "mnist",
        "method": "gc",
        "samples": 10_000,
        "n": 2,
        "mean": pytest.approx(93.3),
        "sem": pytest.approx(0.1),
        "paper_mean": 93.79,
        "paper_sem": 0.08,
        "difference": pytest.approx(-0.49),
        "verdict": "yes",
    }


def test_each_method_is_measured_as_the_paper_measures_it():
    runs = [stored(method=m, seed=11) for m in ("none", "joint", "slda", "gc")]
    found = {m: row("2", runs, m)["mean"] for m in ("none", "joint", "slda", "gc")}
    assert found == {"none": 20.0, "joint": 50.0, "slda": 20.0, "gc": pytest.approx(94.1)}


@pytest.mark.parametrize(
    ("ours", "verdict"),
    [
        ([], "not run"),
        ([93.79], "one seed"),
        ([93.69, 93.89], "yes"),
        ([93.14, 93.34], "yes"),  # 0.55 off; the margin is 0.3 + 2 * 0.128
        ([93.13, 93.33], "no"),  # 0.56 off
        ([92.0, 95.0], "yes"),  # a wide spread excuses much
    ],
)
def test_the_verdict_allows_two_combined_standard_errors_and_0_3_points(ours, verdict):
    runs = [stored(seed=s, accuracy=value) for s, value in enumerate(ours)]
    assert row("2", runs)["verdict"] == verdict


def test_what_the_paper_has_not_is_said_so_and_a_dash_has_no_row():
    table = paper_table("2", [stored("digits")], "paper", ["digits", "mnist"])
    verdicts = {(r.benchmark, r.method): r.verdict for r in table.rows}
    assert verdicts["digits", "gc"] == "not in the paper"
    assert verdicts["digits", "none"] == "not run"
    on_mnist = [m for b, m in verdicts if b == "mnist"]
    compared = [m for m in METHODS if not leaves_out("mnist", m)]
    assert on_mnist == compared[:-1] and compared[-1] == "gen-samples"


def test_table_3_sets_the_net_on_samples_beside_bayes_rule():
    runs = [stored(seed=2), stored("mnist", "gen-samples", seed=2)]
    rows = paper_table("3", runs, "paper", ["mnist"]).records()
    assert [r["method"] for r in rows] == ["gc", "gen-samples"]
    assert [r["mean"] for r in rows] == [93.2, 93.2]  # the mean over classes
    assert [r["paper_mean"] for r in rows] == [93.79, 85.93]


def test_of_a_seed_the_largest_s_of_the_papers_sampler_counts_and_is_named():
    runs = [
        stored(seed=2, samples=100, accuracy=1.0),
        stored(seed=2, samples=10_000, accuracy=90.0),
        stored(seed=2, samples=20_000, accuracy=2.0, estimator="closed-form"),
        stored(seed=3, samples=1_000, accuracy=80.0),
    ]
    found = row("2", runs)
    assert (found["n"], found["mean"]) == (2, 85.0)
    assert found["samples"] == [1_000, 10_000]


def test_other_budgets_and_other_settings_enter_no_table_of_the_paper():
    runs = [stored(budget="quick"), stored(budget="custom")]
    assert row("2", runs)["verdict"] == "not run"
    other = stored(config={"samples": 10_000, "learning_rate": 0.5})
    with pytest.warns(UserWarning, match="mnist gc seed 2 is left out: its settings"):
        assert row("2", [other])["n"] == 0
    unknown = stored(method="gone")
    with pytest.warns(UserWarning, match="mnist gone seed 2 is left out"):
        paper_table("2", [unknown], "paper", ["mnist"])


def test_table_4_has_a_row_for_each_s_with_the_seeds_that_reached_it():
    runs = [stored(seed=2, samples=10), stored(seed=4, samples=1)]
    assert row("4", runs, samples=1) | {"sem": 0, "difference": 0} == {
        **{"benchmark": "mnist", "method": "gc", "samples": 1, "n": 2, "mean": 93.0},
        **{"sem": 0, "paper_mean": 91.14, "paper_sem": 0.08, "difference": 0},
        "verdict": "yes",
    }
    assert row("4", runs, samples=10)["n"] == 1
    assert row("4", runs, samples=10_000)["verdict"] == "not run"


def test_the_papers_two_tables_agree_where_they_overlap():
    for benchmark, cells in TABLE_4.items():
        assert cells[10_000] == TABLE_2["gc"][benchmark]


TABLE = paper_table("2", [stored(seed=2), stored(seed=4)], "paper", ["mnist", "digits"])


def test_markdown_names_the_budget_and_rounds_for_reading():
    lines = as_markdown(TABLE).splitlines()
    assert lines[0] == "Table 2: accuracy (%) after the last task, budget paper."
    assert lines[2].startswith("| benchmark | method | samples | n | mean | sem |")
    gc = "| mnist | gc | 10000 | 2 | 93.30 | 0.10 | 93.79 | 0.08 | -0.49 | yes |"
    assert gc in lines
    assert "| digits | none | – | 0 | – | – | – | – | – | not run |" in lines


def test_csv_and_json_keep_every_digit_and_leave_out_what_is_not_there():
    reading = pd.read_csv(StringIO(as_csv(TABLE)))
    rows = json.loads(as_json(TABLE))
    assert rows["table"] == "2" and len(rows["rows"]) == len(reading) == len(TABLE.rows)
    i = [(row.benchmark, row.method) for row in TABLE.rows].index(("mnist", "gc"))
    assert rows["rows"][i]["mean"] == reading["mean"][i] == TABLE.rows[i].mean
    assert rows["rows"][0]["mean"] is None and reading["mean"].isna()[0]


def test_html_is_a_table_with_a_caption_and_escapes_what_it_shows():
    row = Row("<script>", "gc", None, 0, None, None, None, None)
    text = as_html(Table("2", "paper", [row]))
    assert "<caption>Table 2" in text and "<td>&lt;script&gt;</td>" in text
    assert "<script>" not in text


def test_a_pages_table_tells_its_own_runs_from_stored_ones_and_the_papers():
    quick = {"budget": "quick", "accuracy_by_task_mean": 21.0}
    made = [stored("digits", "none", 11, **quick)]
    ours = [stored("mnist", "none", seed) for seed in (11, 12)]
    table = methods_table(made, ours, ["none", "joint"], ["digits", "mnist"])
    here = table.loc["Digits (8 x 8), budget quick, made here"]
    assert list(table.columns) == ["None", "Joint"]
    assert [cell.replace(NO_BREAK, " ") for cell in here] == ["21.00 (n = 1)", "–"]
    kept = table.loc["MNIST, budget paper, stored", "None"].replace(NO_BREAK, " ")
    assert kept == "20.00 ± 0.00 (n = 2)"
    theirs = table.loc["MNIST, the paper's", "Joint"].replace(NO_BREAK, " ")
    assert theirs == "98.23 ± 0.04 (n = 10)"
    agree = table.loc["MNIST: do the stored runs agree?"]
    assert list(agree) == ["yes", "not run"]
    assert len(table) == 4


def test_a_page_leaves_out_stored_runs_with_other_settings():
    other = stored("mnist", "none", 11)
    other["config"] = {"learning_rate": 0.5}
    with pytest.warns(UserWarning, match="its settings are not those of budget paper"):
        table = methods_table([], [other], ["none"], ["mnist"])
    assert list(table["None"])[-1] == "not run"
