from dataclasses import replace

import pytest
import torch
from torch import nn

from cilbook.benchmarks import BENCHMARKS
from cilbook.methods.ar1 import AR1
from cilbook.methods.consolidated_head import ConsolidatedHead
from cilbook.methods.cwr import CWR, CWRPlus
from cilbook.methods.none import NetworkSettings
from cilbook.random import stream

SPEC = BENCHMARKS["digits"]
TRAIN = SPEC.load(None).train


def head_with(weight, bias) -> ConsolidatedHead:
    layer = nn.Linear(2, 3)
    layer.weight.data = torch.tensor(weight)
    layer.bias.data = torch.tensor(bias)
    return ConsolidatedHead(layer)


def hidden(student) -> list[torch.Tensor]:
    return [p.detach().clone() for p in student.net[:-1].parameters()]


def test_storing_and_shifting_by_hand():
    """The mean is one number over all rows seen, the current raw rows among them."""
    head = head_with([[1.0, 2.0], [3.0, 4.0], [5.0, 9.0]], [1.0, 2.0, 6.0])
    head.current = [0, 1]
    head.store_centred([0, 1])
    torch.testing.assert_close(head.weight[0], torch.tensor([-1.5, -0.5]))
    torch.testing.assert_close(head.bias[:2], torch.tensor([-0.5, 0.5]))
    head.start_zero([2])  # the rows of old classes are temporary too, and do not count
    head.layer.weight.data[2] = torch.tensor([5.0, 9.0])
    head.layer.bias.data[2] = 6.0
    head.store_centred([0, 1, 2])
    mean = (-1.5 - 0.5 + 0.5 + 1.5 + 5.0 + 9.0) / 6
    torch.testing.assert_close(head.weight[2], torch.tensor([5 - mean, 9 - mean]))
    torch.testing.assert_close(head.bias[2], torch.tensor(6.0 - (-0.5 + 0.5 + 6.0) / 3))
    torch.testing.assert_close(head.weight[0], torch.tensor([-1.5, -0.5]))


def test_a_random_layer_covers_all_classes_within_its_bound():
    head = head_with([[0.0, 0.0]] * 3, [0.0] * 3)
    head.start_random([0], stream(0, "head"))
    values = torch.cat([head.layer.weight.flatten(), head.layer.bias])
    assert values.abs().max() <= 2**-0.5 and (values != 0).all()


@pytest.mark.parametrize("method", [CWR, CWRPlus])
def test_after_the_first_task_only_the_output_layer_learns(method, teach):
    student = teach(method(SPEC, NetworkSettings(), 0, "cpu"), tasks=1)
    before = hidden(student)
    teach(student, tasks=3)
    assert all(torch.equal(a, b) for a, b in zip(before, hidden(student), strict=True))


@pytest.mark.parametrize("method", [CWR, CWRPlus])
def test_batch_norm_statistics_are_frozen_with_the_hidden_layers(method, teach):
    def net():
        return nn.Sequential(nn.Linear(64, 8), nn.BatchNorm1d(8), nn.Linear(8, 10))

    student = method(replace(SPEC, classifier=net), NetworkSettings(), 0, "cpu")
    norm = student.net[1].train()
    norm.reset_parameters()
    teach(student, tasks=1)
    before = norm.running_mean.clone()
    assert before.ne(0).any()
    teach(student, tasks=2)
    assert torch.equal(norm.running_mean, before)


@pytest.mark.parametrize("method", [CWR, CWRPlus])
def test_stored_rows_of_old_classes_never_change(method, teach):
    student = teach(method(SPEC, NetworkSettings(), 0, "cpu"), tasks=1)
    rows = student.head.weight[[0, 1]].clone()
    data = TRAIN.of_classes([2, 3])
    student.start_task([2, 3])
    student.observe(*data.batch(torch.arange(16)))
    student.end_task(data)
    assert torch.equal(student.head.weight[[0, 1]], rows)
    assert torch.equal(student.net[-1].weight[[0, 1]], rows)
    assert student.head.weight[4:].eq(0).all()


def test_cwr_starts_each_task_at_random():
    student = CWR(SPEC, NetworkSettings(), 0, "cpu")
    layers = []
    for classes in ([0, 1], [2, 3]):
        student.start_task(classes)
        layers.append(student.net[-1].weight.detach().clone())
        student.end_task(TRAIN)
    assert (layers[0] != 0).all() and (layers[0] != layers[1]).all()


@pytest.mark.parametrize("method", [CWRPlus, AR1])
def test_cwr_plus_and_ar1_start_each_task_at_zero_and_store_centred_rows(method, teach):
    """In a first task of two classes rows are centred by themselves; look at the second."""
    student = teach(method(SPEC, method.settings_type(), 0, "cpu"), tasks=1)
    data, layer = TRAIN.of_classes([2, 3]), student.net[-1]
    student.start_task([2, 3])
    assert not layer.weight.any() and not layer.bias.any()
    student.observe(*data.batch(torch.arange(16)))
    raw, old = layer.weight[2:4].detach().clone(), student.head.weight[:2].clone()
    student.end_task(data)
    expected = raw - torch.cat([old, raw]).mean()
    assert not torch.allclose(raw, expected)
    torch.testing.assert_close(layer.weight[2:4].detach(), expected)
    assert torch.equal(layer.weight[:2], old)
