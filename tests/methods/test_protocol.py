"""What holds for every method of the registry."""

import pytest
import torch

from cilbook.benchmarks import BENCHMARKS
from cilbook.methods import METHODS

SPEC = BENCHMARKS["digits"]
DATA = SPEC.load(None)


def learner(name: str, seed: int = 0):
    method = METHODS[name]
    return method(SPEC, method.settings_type(), seed, "cpu")


def taught(name: str, tasks: int = 2, steps: int = 3):
    student = learner(name)
    for classes in SPEC.task_classes()[:tasks]:
        data = DATA.train.of_classes(classes)
        student.start_task(classes)
        for i in range(steps):
            student.observe(*data.batch(torch.arange(20 * i, 20 * i + 20)))
        student.end_task(data)
    return student


def state_of(student) -> dict[str, torch.Tensor]:
    return {name: value.clone() for name, value in student.state_dict().items()}


@pytest.mark.parametrize("name", METHODS)
def test_a_method_saves_loads_predicts_and_goes_on_identically(name):
    """Saved in the middle of a task, loaded where something else was learned."""
    original, copy = taught(name), taught(name, tasks=1, steps=1)
    copy.scores(DATA.test.x[:3])  # what it made of its own past must be forgotten
    classes = SPEC.task_classes()[2]
    data = DATA.train.of_classes(classes)
    original.start_task(classes)
    original.observe(*data.batch(torch.arange(30)))
    copy.load_state_dict(state_of(original))
    assert torch.equal(original.scores(DATA.test.x), copy.scores(DATA.test.x))
    losses = []
    for student in (original, copy):
        losses.append(student.observe(*data.batch(torch.arange(30, 60))))
        student.end_task(data)
    assert losses == [None, None] or torch.equal(*losses)
    assert torch.equal(original.scores(DATA.test.x), copy.scores(DATA.test.x))
    states = state_of(original), state_of(copy)
    assert all(torch.equal(states[0][k], states[1][k]) for k in states[0])


@pytest.mark.parametrize("name", METHODS)
def test_what_is_kept_does_not_grow_with_the_samples_seen(name):
    few, many = (state_of(taught(name, steps=steps)) for steps in (1, 3))
    assert {k: v.shape for k, v in few.items()} == {k: v.shape for k, v in many.items()}


@pytest.mark.parametrize("name", METHODS)
def test_scores_have_a_column_for_every_class_and_never_go_stale(name):
    student = taught(name, tasks=1)
    before = student.scores(DATA.test.x)
    assert before.shape == (360, 10)
    classes = SPEC.task_classes()[1]
    data = DATA.train.of_classes(classes)
    student.start_task(classes)
    student.observe(*data.batch(torch.arange(40)))
    if name == "gen-samples":  # its network is trained at the end
        student.end_task(data)
    assert not torch.equal(before, student.scores(DATA.test.x))


@pytest.mark.parametrize("name", ["slda", "gc"])
def test_a_generative_model_gives_minus_infinity_to_a_class_it_never_saw(name):
    scores = taught(name, tasks=2).scores(DATA.test.x)
    assert scores[:, :4].isfinite().all()
    assert scores[:, 4:].eq(-torch.inf).all()


@pytest.mark.parametrize(
    "name", [name for name, method in METHODS.items() if not method.needs_boundaries]
)
def test_a_method_that_needs_no_boundaries_learns_without_them(name):
    student = learner(name)
    student.observe(*DATA.train.batch(torch.arange(200)))
    scores = student.scores(DATA.test.x)
    assert not scores.isnan().any()


@pytest.mark.parametrize("name", METHODS)
def test_scores_may_be_asked_before_anything_was_learned(name):
    scores = learner(name).scores(DATA.test.x[:3])
    assert scores.shape == (3, 10) and not scores.isnan().any()
