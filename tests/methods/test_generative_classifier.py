from dataclasses import replace

import pytest
import torch

from cilbook.benchmarks import BENCHMARKS
from cilbook.errors import BadInput
from cilbook.methods.generative_classifier import (
    GenerativeClassifier,
    GenerativeSettings,
)
from cilbook.nets.vae import dense_vae

SPEC = BENCHMARKS["digits"]
DATA = SPEC.load(None).train


def learner(**settings) -> GenerativeClassifier:
    return GenerativeClassifier(SPEC, GenerativeSettings(**settings), 0, "cpu")


def unbalanced() -> tuple[torch.Tensor, torch.Tensor]:
    rows = torch.cat([torch.where(DATA.y == 4)[0][:30], torch.where(DATA.y == 7)[0][:10]])
    return DATA.batch(rows)


def test_bayes_rule_adds_the_counted_prior():
    x, y = unbalanced()
    uniform, counted = learner(prior="uniform"), learner(prior="counted")
    for student in (uniform, counted):
        student.observe(x, y)
    difference = (counted.scores(x) - uniform.scores(x))[:, [4, 7]]
    expected = torch.tensor([0.75 / 0.5, 0.25 / 0.5]).log().expand(40, 2)
    torch.testing.assert_close(difference, expected, atol=1e-4, rtol=0)


def test_a_tasks_repeated_batches_count_its_samples_once():
    student = learner(prior="counted")
    student.start_task([4, 7])
    for _ in range(3):
        student.observe(*unbalanced())
    student.end_task(DATA.of_classes([4, 7]))
    own = torch.bincount(DATA.y)
    assert student.counts.tolist() == [
        own[c].item() if c in (4, 7) else 0 for c in range(10)
    ]


def test_scores_do_not_depend_on_the_order_in_which_classes_came():
    forth, back = learner(samples=5), learner(samples=5)
    for student, labels in ((forth, (0, 1, 2)), (back, (2, 1, 0))):
        for label in labels:
            own = DATA.of_classes([label])
            student.observe(own.x[:20], own.y[:20])
    x = DATA.x[:15]
    torch.testing.assert_close(forth.scores(x), back.scores(x), atol=1e-4, rtol=1e-5)


def test_one_pass_gives_the_scores_at_every_number_of_samples():
    student = learner()
    student.observe(*unbalanced())
    x = DATA.x[:10]
    grid = student.scores_by_samples(x, [1, 5, 20])
    for s in (1, 5, 20):
        alone = learner(samples=s)
        alone.load_state_dict(student.state_dict())
        seen = [4, 7]
        torch.testing.assert_close(grid[s][:, seen], alone.scores(x)[:, seen])


@pytest.mark.parametrize("likelihood", ["gram", "closed-form"])
def test_a_likelihood_that_does_not_fit_the_vaes_is_refused_before_training(likelihood):
    with pytest.raises(BadInput, match=f"likelihood {likelihood} is for a .*linear"):
        learner(likelihood=likelihood)


def test_prior_samples_are_for_the_gaussian():
    with pytest.raises(BadInput, match="scored as gaussian"):
        learner(likelihood="prior-samples", scored_as="bernoulli")


def test_all_ways_to_the_same_likelihood_agree_on_a_linear_bank():
    """Closed form is the truth; Gram and decoding are the same sampler."""
    spec = replace(SPEC, class_vae=lambda: dense_vae([64], 3))
    x, y = unbalanced()
    found = {}
    for way in ("closed-form", "importance-sampling", "gram", "prior-samples"):
        settings = GenerativeSettings(
            trained_as="gaussian", samples=4000, likelihood=way, learning_rate=0.01
        )
        student = GenerativeClassifier(spec, settings, 0, "cpu")
        for _ in range(30):
            student.observe(x, y)
        found[way] = student.scores(x[:8])[:, [4, 7]]
    torch.testing.assert_close(found["gram"], found["importance-sampling"])
    for way in ("gram", "prior-samples"):
        torch.testing.assert_close(found[way], found["closed-form"], rtol=0, atol=0.2)
