"""The tables of what a method needs are code; these tests walk them."""

import json

import pytest
import torch

from cilbook.benchmarks import BENCHMARKS, Images, streams
from cilbook.errors import BadInput
from cilbook.experiments import paper
from cilbook.experiments.formats import as_csv, as_json, as_markdown
from cilbook.experiments.listings import applicability, hyperparameters
from cilbook.experiments.request import default_settings
from cilbook.methods import METHODS

SPEC = BENCHMARKS["digits"]
DATA = SPEC.load(None)
ROWS = {row["method"]: row for row in applicability().rows}


def learner(name: str):
    return METHODS[name](SPEC, METHODS[name].settings_type(), 0, "cpu")


def stream() -> list:
    order = streams.blurred(DATA.train.y, 200, seed=0)
    return list(streams.task_free(DATA.train, 32, order))[:8]


@pytest.mark.parametrize("name", [n for n, row in ROWS.items() if row["task_free"]])
def test_a_method_said_to_be_task_free_learns_without_boundaries(name):
    student = learner(name)
    before = student.scores(DATA.test.x[:50])
    student.observe_task_free(stream())
    after = student.scores(DATA.test.x[:50])
    assert not after.isnan().any() and not torch.equal(before, after)


@pytest.mark.parametrize("name", [n for n, row in ROWS.items() if not row["task_free"]])
def test_a_method_that_is_not_says_why_in_one_sentence(name):
    with pytest.raises(BadInput) as error:
        learner(name).observe_task_free(stream())
    sentence = str(error.value)
    title, reason = METHODS[name].title, METHODS[name].why_boundaries
    assert sentence == f"{title} cannot learn from a task-free stream: {reason}"
    assert len(reason.split()) >= 6 and "\n" not in sentence
    assert ROWS[name]["why"].startswith(reason)


class Gone(Exception):
    """The inputs of a finished task were asked for."""


def with_inputs_gone(data: Images) -> Images:
    def raise_gone(_):
        raise Gone

    return Images(data.stored, data.y, raise_gone)


@pytest.mark.parametrize("name", METHODS)
def test_only_a_method_that_says_so_looks_at_a_finished_task_again(name):
    student = learner(name)
    data = DATA.train.of_classes([0, 1])
    student.start_task([0, 1])
    student.observe(*data.batch(torch.arange(32)))
    if METHODS[name].looks_again:
        assert not ROWS[name]["streaming"]
        with pytest.raises(Gone):
            student.end_task(with_inputs_gone(data))
    else:
        student.end_task(with_inputs_gone(data))


def test_the_applicability_of_the_paper_stands_beside_ours():
    differ = [m for m, r in ROWS.items() if r["paper_task_free"] == "yes (+)"]
    assert differ == ["cwr", "cwr+", "ar1"]  # consolidate at boundaries in these versions
    for name, row in ROWS.items():
        if name not in differ and row["paper_task_free"] is not None:
            assert row["paper_task_free"].startswith("yes" if row["task_free"] else "no")


def test_the_hyperparameters_used_are_the_ones_that_the_paper_selected():
    used = {
        (r["method"], r["setting"]): [
            r[b] for b in ("mnist", "cifar10", "cifar100", "core50")
        ]
        for r in hyperparameters(list(BENCHMARKS)).rows
    }
    assert used == {
        ("bir", "closed"): [None, None, 0.7, 0.0],
        ("bir-si", "closed"): [None, None, 0.6, 0.6],
        ("bir-si", "strength"): [None, None, 1e8, 0.01],
        ("ewc", "strength"): [1e6, 10.0, 100.0, 10.0],
        ("si", "strength"): [1e3, 1.0, 1.0, 10.0],
        ("ar1", "strength"): [10.0, 100.0, 100.0, 1.0],
        ("ar1", "largest"): [0.01, 0.1, 10.0, 0.1],
    }


def test_what_the_paper_or_its_code_fixes_is_the_same_on_all_its_benchmarks():
    """SI's xi, the temperature T, samples for the Fisher information, SLDA's epsilon."""
    fixed = [
        (("si", "bir-si", "ar1"), "damping", 0.1),
        (("bir", "bir-si"), "temperature", 2.0),
        (("ewc",), "fisher_samples", 1000),
        (("slda",), "shrinkage", 1e-4),
    ]
    for benchmark in paper.BENCHMARKS:
        for methods, field, value in fixed:
            for method in methods:
                settings = default_settings(BENCHMARKS[benchmark], method, "paper")
                assert getattr(settings, field) == value


def test_the_kl_of_bir_is_divided_as_in_the_code_behind_the_published_numbers():
    for method in ("bir", "bir-si"):
        for benchmark, divisor in (("cifar100", 3072), ("core50", 512)):
            settings = default_settings(BENCHMARKS[benchmark], method, "paper")
            assert settings.kl_divisor == divisor


@pytest.mark.parametrize("benchmark", paper.BENCHMARKS)
def test_generators_learn_mnist_as_bernoulli_and_the_rest_as_gaussian(benchmark):
    expected = "bernoulli" if benchmark == "mnist" else "gaussian"
    for method in ("dgr", "gc", "gen-samples"):
        if not paper.leaves_out(benchmark, method):
            spec = BENCHMARKS[benchmark].for_method(method)
            assert default_settings(spec, method, "paper").trained_as == expected


def test_every_selected_value_was_explored():
    for row in hyperparameters(["mnist", "cifar10", "cifar100", "core50"]).rows:
        chosen = {row[b] for b in ("mnist", "cifar10", "cifar100", "core50")} - {None}
        assert chosen <= set(row["explored"])


def test_listings_come_in_every_format():
    table = applicability()
    assert json.loads(as_json(table))["rows"] == table.rows
    assert "| gc | yes | yes | yes | yes | – |" in as_markdown(table).splitlines()
    assert as_csv(table).splitlines()[0].startswith("method,batch_wise,streaming")
