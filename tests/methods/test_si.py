import torch
from torch import nn

from cilbook.benchmarks import BENCHMARKS
from cilbook.methods.none import FineTuning, NetworkSettings
from cilbook.methods.path_integral import PathIntegral
from cilbook.methods.si import SI, SISettings

SPEC = BENCHMARKS["digits"]
DATA = SPEC.load(None).train


def learner(**settings) -> SI:
    return SI(SPEC, SISettings(**settings), 0, "cpu")


def test_the_path_integral_by_hand():
    weight = nn.Parameter(torch.tensor([1.0, -2.0]))
    path = PathIntegral([weight], damping=0.1)
    for gradient, move in (([2.0, 1.0], [-0.5, -0.1]), ([1.0, -4.0], [-0.5, 0.3])):
        before = path.position()
        weight.grad = torch.tensor(gradient)
        weight.data += torch.tensor(move)
        path.follow(before)
    omega = [2.0 * 0.5 + 1.0 * 0.5, 1.0 * 0.1 + 4.0 * 0.3]
    torch.testing.assert_close(path.running, torch.tensor(omega))
    path.consolidate()
    expected = torch.tensor([omega[0] / (1.0**2 + 0.1), omega[1] / (0.2**2 + 0.1)])
    torch.testing.assert_close(path.importance, expected)
    assert path.running.eq(0).all()
    weight.data += torch.tensor([0.1, 0.2])
    penalty = expected[0] * 0.1**2 + expected[1] * 0.2**2
    torch.testing.assert_close(path.penalty().detach(), penalty)


def test_importance_adds_up_over_tasks_and_may_be_negative():
    weight = nn.Parameter(torch.zeros(1))
    path = PathIntegral([weight], damping=0.1)
    for gradient in (-1.0, 3.0):
        before = path.position()
        weight.grad = torch.tensor([gradient])
        weight.data += 0.5
        path.follow(before)
        path.consolidate()
    expected = 0.5 / (0.25 + 0.1) - 1.5 / (0.25 + 0.1)
    torch.testing.assert_close(path.importance, torch.tensor([expected]))


def test_the_gradient_in_the_path_integral_is_that_of_the_total_loss(teach):
    student = teach(learner(strength=50.0), tasks=1)
    x, y = DATA.of_classes([2, 3]).batch(torch.arange(16))
    student.start_task([2, 3])
    student.observe(x, y)
    before = student.path.position()
    student.trained.adam.zero_grad()
    student.loss(x, y).backward()
    total = torch.cat([p.grad.flatten().clone() for p in student.net.parameters()])
    running = student.path.running.clone()
    student.observe(x, y)
    step = student.path.position() - before
    torch.testing.assert_close(student.path.running, running - total * step)
    plain = torch.autograd.grad(
        FineTuning.loss(student, x, y), list(student.net.parameters())
    )
    assert not torch.allclose(total, torch.cat([g.flatten() for g in plain]))


def test_strength_zero_is_none_bit_for_bit(teach):
    none = teach(FineTuning(SPEC, NetworkSettings(), 0, "cpu"))
    assert torch.equal(teach(learner(strength=0.0)).scores(DATA.x), none.scores(DATA.x))


def test_the_first_task_is_learned_as_by_none(teach):
    none = teach(FineTuning(SPEC, NetworkSettings(), 0, "cpu"), tasks=1)
    si = teach(learner(strength=1e3), tasks=1)
    torch.testing.assert_close(si.scores(DATA.x), none.scores(DATA.x))
