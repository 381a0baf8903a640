from dataclasses import replace

import pytest
import torch
from torch import nn

from cilbook.benchmarks import BENCHMARKS, Images
from cilbook.methods.ewc import EWC, EWCSettings
from cilbook.methods.fisher import diagonal_fisher
from cilbook.methods.none import FineTuning, NetworkSettings
from cilbook.nets.initialise import build
from cilbook.nets.mlp import mlp
from cilbook.random import stream

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
    (fisher,) = diagonal_fisher(student.net, x, [0, 1])
    torch.testing.assert_close(fisher[:, 0], expected)


NETWORKS = {
    "dense": (lambda: mlp([64, 20, 10, 4]), (64,)),
    "convolutional, with batch-norm": (
        lambda: nn.Sequential(
            nn.Conv2d(1, 3, 3, stride=2, bias=False),
            nn.BatchNorm2d(3),
            nn.ReLU(),
            nn.Conv2d(3, 2, 3, padding=1),
            nn.Flatten(),
            nn.Linear(18, 4),
        ),
        (1, 8, 8),
    ),
}


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("numbers", [2**24, 64], ids=["at once", "row by row"])
def test_the_fisher_equals_one_backward_pass_per_sample_and_class(
    name, numbers, monkeypatch
):
    monkeypatch.setattr("cilbook.methods.fisher._NUMBERS", numbers)
    architecture, shape = NETWORKS[name]
    net = build(architecture, stream(0, "net"))
    net(torch.rand(6, *shape))  # moves the statistics of batch-norm
    x, classes = DATA.x[:5].view(5, *shape), [0, 2, 3]
    parameters = list(net.parameters())
    total = [torch.zeros_like(p) for p in parameters]
    for one in x:
        log_p = net.eval()(one[None])[0, classes].log_softmax(0)
        for value in log_p:
            gradient = torch.autograd.grad(value, parameters, retain_graph=True)
            for sum_, g in zip(total, gradient, strict=True):
                sum_ += value.exp().detach() * g.square() / 5
    torch.testing.assert_close(diagonal_fisher(net.train(), x, classes), total)


def test_the_penalty_is_the_sum_of_one_quadratic_term_per_finished_task():
    """The parabola of all terms equals the terms added up, its constant included."""
    student = learner()
    theta = torch.cat([p.detach().flatten() for p in student.net.parameters()])
    rng = torch.Generator().manual_seed(0)
    expected = 0.0
    for _ in range(4):
        fisher = torch.rand(len(theta), generator=rng)
        fisher[:10] = 0.0  # weights that no task needs
        anchor = theta + torch.randn(len(theta), generator=rng)
        student.add_term(fisher, anchor)
        expected += (fisher.double() * (theta - anchor).double().square()).sum() / 2
    torch.testing.assert_close(student.penalty().double(), expected, rtol=1e-5, atol=0)
    slope = torch.autograd.grad(student.penalty(), list(student.net.parameters()))[0]
    assert slope.flatten()[:10].eq(0).all()


def test_strength_zero_is_none_bit_for_bit(teach):
    none = teach(FineTuning(SPEC, NetworkSettings(), 0, "cpu"))
    assert torch.equal(teach(learner(strength=0.0)).scores(DATA.x), none.scores(DATA.x))


def test_a_strong_penalty_keeps_the_important_weights_in_place(teach):
    """The drift, weighted by importance, is far smaller than without the penalty."""
    drifts = []
    for strength in (0.0, 1e6):
        student = teach(learner(strength=strength, learning_rate=1e-4), tasks=1, steps=8)
        importance, anchor = student.curvature, student.anchor
        teach(student, tasks=2, steps=8)
        theta = torch.cat([p.detach().flatten() for p in student.net.parameters()])
        drifts.append((importance * (theta - anchor).square()).sum().item())
    assert drifts[1] < drifts[0] / 5


def test_the_fisher_is_of_some_samples_of_the_task_and_all_classes_so_far(
    teach, monkeypatch
):
    seen = []

    def spy(net, x, classes):
        seen.append((x, list(classes)))
        return diagonal_fisher(net, x, classes)

    monkeypatch.setattr("cilbook.methods.ewc.diagonal_fisher", spy)
    teach(learner(fisher_samples=3))
    assert [len(x) for x, _ in seen] == [3, 3]
    assert [classes for _, classes in seen] == [[0, 1], [0, 1, 2, 3]]
    rows = {tuple(row) for row in DATA.of_classes([2, 3]).x.tolist()}
    assert len({tuple(row) for row in seen[1][0].tolist()} & rows) == 3
    assert not torch.equal(seen[1][0], DATA.of_classes([2, 3]).x[:3])  # drawn at random


def test_a_task_with_fewer_samples_than_asked_for_is_used_whole(monkeypatch):
    student, seen = learner(), []

    def spy(net, x, classes):
        seen.append(x)
        return [torch.zeros_like(p) for p in net.parameters()]

    monkeypatch.setattr("cilbook.methods.ewc.diagonal_fisher", spy)
    data = Images(DATA.stored[:10], DATA.y[:10], DATA.to_input)
    student.start_task(range(10))
    student.end_task(data)
    assert {tuple(row) for row in seen[0].tolist()} == {tuple(r) for r in data.x.tolist()}
