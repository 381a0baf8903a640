from dataclasses import replace

import torch
from torch import nn
from torch.nn import functional as F

from cilbook.benchmarks import BENCHMARKS
from cilbook.methods.none import FineTuning, NetworkSettings

SPEC = BENCHMARKS["digits"]


def learner() -> FineTuning:
    return FineTuning(SPEC, NetworkSettings(), 0, "cpu")


def test_the_loss_is_the_cross_entropy_over_the_classes_met_so_far():
    student = learner()
    student.start_task([2, 3])
    student.start_task([6, 7])
    x, y = torch.rand(5, 64), torch.tensor([6, 2, 7, 3, 6])
    logits = student.net(x)[:, [2, 3, 6, 7]]
    expected = F.cross_entropy(logits, torch.tensor([2, 0, 3, 1, 2]))
    torch.testing.assert_close(student.loss(x, y), expected)


def test_units_of_classes_still_to_come_get_no_gradient():
    student = learner()
    student.start_task([0, 1])
    before = student.net[-1].weight.clone()
    student.observe(torch.rand(8, 64), torch.tensor([0, 1] * 4))
    moved = (student.net[-1].weight != before).any(1)
    assert moved.tolist() == [True] * 2 + [False] * 8


def test_adams_moments_survive_a_task_boundary():
    student = learner()
    student.start_task([0, 1])
    student.observe(torch.rand(8, 64), torch.tensor([0, 1] * 4))
    student.start_task([2, 3])
    student.observe(torch.rand(8, 64), torch.tensor([2, 3] * 4))
    steps = [s["step"].item() for s in student.trained.adam.state.values()]
    assert steps == [2] * len(steps)


def test_batch_norm_gathers_statistics_in_training_and_only_uses_them_to_predict():
    def net():
        return nn.Sequential(nn.BatchNorm1d(64), nn.Linear(64, 10))

    student = FineTuning(replace(SPEC, classifier=net), NetworkSettings(), 0, "cpu")
    norm, x = student.net[0], torch.rand(8, 64)
    norm.reset_parameters()
    for _ in range(2):
        before = norm.running_mean.clone()
        student.observe(x, torch.tensor([0, 1] * 4))
        gathered = norm.running_mean.clone()
        assert not torch.equal(gathered, before)
        torch.testing.assert_close(student.scores(x)[:1], student.scores(x[:1]))
        assert torch.equal(norm.running_mean, gathered)
