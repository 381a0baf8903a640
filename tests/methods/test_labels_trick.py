import torch

from cilbook.benchmarks import BENCHMARKS
from cilbook.methods.labels_trick import LabelsTrick
from cilbook.methods.none import NetworkSettings

SPEC = BENCHMARKS["digits"]


def test_old_logits_get_no_gradient():
    student = LabelsTrick(SPEC, NetworkSettings(), 0, "cpu")
    student.start_task([0, 1])
    student.observe(torch.rand(8, 64), torch.tensor([0, 1] * 4))
    student.start_task([2, 3])
    student.trained.adam.zero_grad()
    student.loss(torch.rand(8, 64), torch.tensor([2, 3] * 4)).backward()
    touched = student.net[-1].weight.grad.abs().sum(1) > 0
    assert touched.tolist() == [False, False, True, True] + [False] * 6


def test_all_classes_compete_at_test_time():
    student = LabelsTrick(SPEC, NetworkSettings(), 0, "cpu")
    student.start_task([4, 5])
    assert student.scores(torch.rand(3, 64)).isfinite().all()
