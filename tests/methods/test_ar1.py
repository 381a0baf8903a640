import torch
from torch import nn

from cilbook.benchmarks import BENCHMARKS
from cilbook.methods.ar1 import AR1, AR1Settings
from cilbook.methods.path_integral import PathIntegral

SPEC = BENCHMARKS["digits"]


def learner(**settings) -> AR1:
    return AR1(SPEC, AR1Settings(**settings), 0, "cpu")


def test_importances_are_clipped_from_both_sides_and_carried_over_clipped():
    weight = nn.Parameter(torch.zeros(3))
    path = PathIntegral([weight], damping=1.0, maximum=0.5)
    for _ in range(2):
        path.running = torch.tensor([2.0, -2.0, 0.2])
        path.consolidate()
    torch.testing.assert_close(path.importance, torch.tensor([0.5, 0.0, 0.4]))
    path.running = torch.tensor([-0.1, 0.1, 0.0])
    path.consolidate()
    torch.testing.assert_close(path.importance, torch.tensor([0.4, 0.1, 0.4]))


def test_omega_stays_between_zero_and_its_maximum(teach):
    importance = teach(learner(largest=1e-5), tasks=3).path.importance
    assert importance.min() == 0 and importance.max() == torch.tensor(1e-5)


def test_the_output_layer_is_not_regularised(teach):
    student = learner()
    hidden = sum(p.numel() for p in student.net[:-1].parameters())
    assert len(teach(student, tasks=1).path.importance) == hidden


def test_hidden_layers_go_on_learning_after_the_first_task(teach):
    student = teach(learner(), tasks=1)
    before = student.path.position()
    assert not torch.equal(teach(student, tasks=2).path.position(), before)


def test_with_strength_zero_the_penalty_changes_nothing(teach):
    """Whatever the importances are, they must not be felt."""
    free, clipped = learner(strength=0.0, largest=1.0), learner(strength=0.0, largest=1e-6)
    x = SPEC.load(None).test.x
    assert torch.equal(teach(free).scores(x), teach(clipped).scores(x))
