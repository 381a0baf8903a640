import json

import pytest

from cilbook.errors import BadInput, RunFailed
from cilbook.experiments.request import Plan, Request
from cilbook.experiments.results import Store
from cilbook.experiments.run import run
from cilbook.experiments.verify import compare, verify

GC = Request("digits", "gc", seed=3, samples=3, changes={"iterations": 2, "batch": 16})


@pytest.fixture(scope="module")
def stored():
    return run(GC)


@pytest.fixture
def changed(stored):
    """A copy of the stored run, with changes in it."""

    def changed(origin: dict | None = None, **changes) -> dict:
        provenance = stored["provenance"] | (origin or {})
        return json.loads(json.dumps(stored | {"provenance": provenance} | changes))

    return changed


def test_a_run_is_repeated_from_its_file_alone(stored, tmp_path):
    path = Store(tmp_path).save(GC.resolve(), stored)
    comparison = verify(path)
    assert comparison.different == []
    assert comparison.rule.startswith("bit for bit, because CPU, device, threads")


def test_the_plan_of_a_stored_run_is_the_one_it_was_made_from(stored):
    assert Plan.of(stored) == GC.resolve()


def test_on_the_same_machine_a_last_digit_is_a_difference(stored, changed):
    accuracy = stored["accuracy"] + 1e-12
    comparison = compare(changed(accuracy=accuracy), stored)
    assert comparison.different == [f"accuracy was {accuracy} and is {stored['accuracy']}"]
    confusion = [[[1]]]
    assert compare(changed(confusion=confusion), stored).different == ["confusion differs"]


@pytest.mark.parametrize(
    "origin", [{"cpu": "another"}, {"threads": 2}, {"versions": {}}, {"device": "H100"}]
)
def test_elsewhere_one_point_is_allowed_and_the_rule_says_why(origin, stored, changed):
    (name,) = origin
    near = compare(changed(origin, accuracy=stored["accuracy"] + 0.99), stored)
    assert near.different == []
    assert near.rule == f"within 1.0 point, because this is different here: {name}"
    far = compare(changed(origin, accuracy=stored["accuracy"] + 1.01), stored)
    assert len(far.different) == 1


def test_other_data_are_not_compared(stored, changed):
    with pytest.raises(RunFailed, match="the data here are not those of the stored run"):
        compare(changed({"data_sha256": "0"}), stored)


def test_a_file_that_is_not_a_run_gets_a_sentence(tmp_path):
    with pytest.raises(BadInput, match="there is no file"):
        verify(tmp_path / "none.json")
    (tmp_path / "run.json").write_text("{}")
    with (
        pytest.warns(UserWarning, match="is damaged"),
        pytest.raises(BadInput, match="is not a run that can be verified"),
    ):
        verify(tmp_path / "run.json")
