from dataclasses import replace

import torch
from torch import nn

from cilbook.benchmarks import BENCHMARKS, Images
from cilbook.methods.ewc import EWC, EWCSettings
from cilbook.methods.none import FineTuning, NetworkSettings

SPEC = BENCHMARKS["digits"]
DATA = SPEC.load(None).train


def learner(spec=SPEC, **settings) -> EWC:
    return EWC(spec, EWCSettings(**settings), 0, "cpu")


def tiny_spec():
    """Logistic regression with two classes and two weights, one for each logit."""

    def net():
        return nn.Linear(1, 2, bias=False)

    return replace(SPEC, classes=2, tasks=1, classifier=net)


def test_the_fisher_of_a_two_weight_logistic_model_by_hand():
    """log p_0 = z_0 - logsumexp z: d log p_c / d w_j = x (1[c=j] - p_j)."""
    student = learner(tiny_spec())
    student.start_task([0, 1])
    weight = torch.tensor([[0.3], [-0.5]])
    student.net.weight.data.copy_(weight)
    x = torch.tensor([[2.0], [-1.0], [0.5]])
    expected = torch.zeros(2)
    for (value,) in x.tolist():
        p = (weight[:, 0] * value).softmax(0)
        for c in (0, 1):
            score = value * (torch.eye(2)[c] - p)
            expected += p[c] * score.square() / 3
    torch.testing.assert_close(student.fisher(x), expected)


def test_the_batched_fisher_equals_one_backward_pass_per_sample_and_class(teach):
    student = teach(learner(), tasks=1)
    x = DATA.x[:5]
    total = torch.zeros(student.trainable)
    for one in x:
        log_p = student.net.eval()(one[None])[0, [0, 1]].log_softmax(0)
        for c in (0, 1):
            gradient = torch.autograd.grad(
                log_p[c], list(student.net.parameters()), retain_graph=True
            )
            flat = torch.cat([g.flatten() for g in gradient])
            total += log_p[c].exp().detach() * flat.square()
    torch.testing.assert_close(student.fisher(x), total / 5)


def test_the_penalty_has_one_term_for_every_finished_task():
    student = learner()
    theta = torch.cat([p.detach().flatten() for p in student.net.parameters()])
    student.fishers = [torch.full_like(theta, 2.0), torch.full_like(theta, 4.0)]
    student.anchors = [theta - 1.0, theta + 0.5]
    expected = (2.0 * 1.0 + 4.0 * 0.25) / 2 * len(theta)
    torch.testing.assert_close(student.penalty(), torch.tensor(expected))


def test_strength_zero_is_none_bit_for_bit(teach):
    none = teach(FineTuning(SPEC, NetworkSettings(), 0, "cpu"))
    assert torch.equal(teach(learner(strength=0.0)).scores(DATA.x), none.scores(DATA.x))


def test_a_strong_penalty_keeps_the_important_weights_in_place(teach):
    """The drift, weighted by importance, is far smaller than without the penalty."""
    drifts = []
    for strength in (0.0, 1e6):
        student = teach(learner(strength=strength, learning_rate=1e-4), steps=8)
        moved = student.anchors[1] - student.anchors[0]
        drifts.append((student.fishers[0] * moved.square()).sum().item())
    assert drifts[1] < drifts[0] / 5


def test_the_fisher_uses_at_most_so_many_samples_and_all_classes_so_far(teach):
    student = learner(fisher_samples=3)
    seen = []
    fisher = student.fisher
    student.fisher = lambda x: seen.append((len(x), list(student.active))) or fisher(x)
    teach(student)
    assert seen == [(3, [0, 1]), (3, [0, 1, 2, 3])]


def test_samples_without_replacement_from_the_task_itself():
    student = learner()
    data = Images(DATA.stored[:10], DATA.y[:10], DATA.to_input)
    seen = []
    student.start_task(range(10))
    student.fisher = lambda x: seen.append(x) or torch.zeros(student.trainable)
    student.end_task(data)
    assert {tuple(row) for row in seen[0].tolist()} == {tuple(r) for r in data.x.tolist()}
