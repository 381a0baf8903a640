import json
from hashlib import sha256

import pytest

from cilbook.errors import BadInput
from cilbook.experiments.request import Plan, Request
from cilbook.experiments.results import Store, committed, read
from cilbook.experiments.run import run


@pytest.fixture(scope="module")
def slda():
    request = Request("digits", "slda")
    return request.resolve(), run(request)


def test_a_saved_run_is_found_again_and_stands_alone_in_its_file(tmp_path, slda):
    plan, result = slda
    path = Store(tmp_path).save(plan, result)
    assert json.loads(path.read_text()) == result
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
    assert Store(tmp_path).find(plan) == result
    assert list(Store(tmp_path)) == [result]


def test_saving_again_replaces_the_file(tmp_path, slda):
    plan, result = slda
    for _ in range(2):
        Store(tmp_path).save(plan, result)
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("text", ["", '{"schema": 1', "[]", '{"schema": 1}'])
def test_a_damaged_file_is_reported_and_counts_as_missing(tmp_path, slda, text):
    plan, _ = slda
    path = Store(tmp_path).path(plan)
    path.write_text(text)
    with pytest.warns(UserWarning, match=f"{path.name} is damaged"):
        assert Store(tmp_path).find(plan) is None


def test_identity_is_benchmark_method_seed_budget_samples_likelihood_settings():
    base = Request("digits", "gc")
    others = [
        Request("digits", "slda"),
        Request("digits", "gc", seed=1),
        Request("digits", "gc", budget="paper"),
        Request("digits", "gc", samples=7),
        Request("digits", "gc", changes={"batch": 16}),
        Request("digits", "gc", changes={"iterations": 7}),
    ]
    keys = {request.resolve().key for request in [base, *others]}
    assert len(keys) == 7
    assert Request("digits", "gc", samples=100).resolve().key == base.resolve().key


def test_a_folder_that_cannot_be_written_gets_a_sentence(tmp_path, slda):
    plan, result = slda
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="cannot write results to"):
        Store(tmp_path / "file").save(plan, result)


def test_the_committed_runs_can_be_read_and_sit_under_their_own_key():
    paths = sorted(committed().folder.glob("*.json"))
    assert len(paths) >= 35
    for path in paths:
        result = read(path)
        assert result is not None and Plan.of(result).key == path.stem
        assert result["provenance"]["dirty"] is False


def test_a_committed_bank_is_the_one_its_run_names():
    folder = committed().folder
    kept = [run["bank"] for run in committed() if "bank" in run]
    assert {bank["file"] for bank in kept} == {p.name for p in folder.glob("*.safetensors")}
    for bank in kept:
        assert sha256((folder / bank["file"]).read_bytes()).hexdigest() == bank["sha256"]


def test_a_file_under_another_runs_name_counts_as_missing(tmp_path, slda):
    plan, result = slda
    other = Request("digits", "slda", seed=12).resolve()
    Store(tmp_path).path(other).write_text(json.dumps(result))
    with pytest.warns(UserWarning, match="another run than its name says"):
        assert Store(tmp_path).find(other) is None


def test_a_number_that_is_none_counts_as_damage(tmp_path, slda):
    plan, result = slda
    path = Store(tmp_path).path(plan)
    path.write_text(json.dumps(result | {"accuracy": float("nan")}))
    with pytest.warns(UserWarning, match="it holds NaN"):
        assert Store(tmp_path).find(plan) is None
