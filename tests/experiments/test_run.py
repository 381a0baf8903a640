import json

import pytest
import torch

from cilbook.benchmarks import BENCHMARKS, class_order
from cilbook.experiments import metrics
from cilbook.experiments import run as runner
from cilbook.experiments.evaluation import sample_grid
from cilbook.experiments.request import Request
from cilbook.experiments.run import run
from cilbook.methods import METHODS

SHORT = {"iterations": 10}


def short(method: str, seed: int = 0, **options) -> dict:
    changes = {} if method == "slda" else SHORT
    return run(Request("digits", method, seed=seed, changes=changes, **options))


@pytest.fixture(scope="module")
def gc():
    return short("gc", samples=30)


def numbers(result: dict) -> dict:
    """All that must repeat: everything but the clock."""
    return {k: v for k, v in result.items() if k not in ("seconds", "provenance")}


@pytest.mark.parametrize("method", METHODS)
def test_the_same_configuration_gives_the_same_numbers_twice(method):
    assert numbers(short(method)) == numbers(short(method))


def test_another_seed_gives_other_numbers():
    first, second = short("none", seed=1), short("none", seed=2)
    assert first["accuracy_matrix"] != second["accuracy_matrix"]


def test_a_run_carries_every_key_of_the_schema(gc):
    assert set(gc) == {
        *("schema", "benchmark", "method", "seed", "budget", "config"),
        *("accuracy", "accuracy_plain", "accuracy_by_task_mean"),
        *("accuracy_over_tasks", "accuracy_matrix", "accuracy_matrix_within_task"),
        *("confusion", "by_samples", "examples", "estimator"),
        *("seconds", "parameters", "provenance"),
    }
    assert set(gc["provenance"]) == {
        *("commit", "dirty", "data_sha256", "device", "cpu"),
        *("threads", "versions", "created"),
    }
    assert gc["parameters"] == {"trainable": 270_140, "frozen": 0}
    assert json.loads(json.dumps(gc)) == gc


def test_the_accuracies_agree_with_each_other(gc):
    last = torch.tensor(gc["confusion"][-1])
    per_class = 100 * last.diag() / last.sum(1)
    assert last.sum() == 360
    assert gc["accuracy"] == pytest.approx(per_class.mean().item(), rel=1e-6)
    plain = 100 * last.diag().sum() / 360
    assert gc["accuracy_plain"] == pytest.approx(plain.item(), rel=1e-6)
    tasks = gc["accuracy_matrix"][-1]
    assert gc["accuracy_by_task_mean"] == pytest.approx(sum(tasks) / 5)
    assert gc["accuracy_over_tasks"][-1] == gc["accuracy_plain"]
    assert gc["by_samples"]["30"] == gc["accuracy"]


def test_the_matrix_is_null_above_the_diagonal_and_within_task_is_never_worse(gc):
    for i, row in enumerate(gc["accuracy_matrix"]):
        within = gc["accuracy_matrix_within_task"][i]
        assert [v is None for v in row] == [j > i for j in range(5)]
        for chosen, restricted in zip(row[: i + 1], within[: i + 1], strict=True):
            assert restricted >= chosen


def test_a_generative_classifiers_stages_come_from_masking_columns(gc):
    """Stage i must equal a classifier that never saw the later classes."""
    first = torch.tensor(gc["confusion"][0])
    assert first[:, 2:].sum() == 0
    assert first[2:].sum() == 0


def test_joint_has_one_stage_and_every_task_in_it():
    joint = short("joint")
    assert [len(row) for row in joint["accuracy_matrix"]] == [5]
    assert None not in joint["accuracy_matrix"][0]
    assert len(joint["confusion"]) == len(joint["accuracy_over_tasks"]) == 1


def test_examples_hold_posteriors_of_twenty_four_fixed_rows(gc):
    assert len(gc["examples"]["index"]) == 24
    assert list(gc["examples"]["posterior"]) == ["1", "3", "10", "30"]
    for rows in gc["examples"]["posterior"].values():
        assert len(rows) == 24
        for row in rows:
            assert len(row) == 10 and sum(row) == pytest.approx(1, abs=1e-3)


def test_the_config_names_every_number_used(gc):
    config = gc["config"]
    assert config["iterations"] == 10 and config["threads"] == 1
    assert config["samples"] == 30 and config["batch"] == 32
    assert config["class_order"] == list(range(10))
    assert gc["budget"] == "custom"


def test_threads_and_the_global_generator_are_left_as_they_were():
    threads, state = torch.get_num_threads(), torch.get_rng_state()
    short("none")
    assert torch.get_num_threads() == threads
    assert torch.equal(torch.get_rng_state(), state)


def test_a_permuted_class_order_relabels_train_and_test_alike():
    result = run(Request("digits", "slda", seed=11))
    assert result["config"]["class_order"] == class_order(11, 10).tolist()
    assert result["accuracy"] > 90


def test_the_grid_of_samples_ends_at_s():
    assert sample_grid(1) == [1]
    assert sample_grid(100) == [1, 3, 10, 30, 100]
    assert sample_grid(250) == [1, 3, 10, 30, 100, 250]


def test_slda_on_digits_matches_scikit_learns_discriminant():
    """Another implementation of the same idea, fitted on all data at once."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    data = BENCHMARKS["digits"].load(None)
    model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
    model.fit(data.train.x.numpy(), data.train.y.numpy())
    theirs = torch.from_numpy(model.predict(data.test.x.numpy()))
    ours = run(Request("digits", "slda"))["accuracy_plain"]
    assert abs(ours - metrics.accuracy(theirs, data.test.y)) < 2


def test_classes_learned_side_by_side_are_those_learned_task_by_task(monkeypatch):
    plan = Request("digits", "gc", samples=1, changes={"iterations": 20}).resolve()
    side_by_side = run(plan)
    monkeypatch.setattr(runner, "training_tasks", lambda plan: plan.tasks)
    assert run(plan)["confusion"] == side_by_side["confusion"]
