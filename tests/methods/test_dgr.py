from dataclasses import replace

import torch
from torch import nn
from torch.nn import functional as F

from cilbook.benchmarks import BENCHMARKS
from cilbook.methods.dgr import DGR, DGRSettings
from cilbook.methods.none import FineTuning, NetworkSettings
from cilbook.methods.trained import frozen

SPEC = BENCHMARKS["digits"]
DATA = SPEC.load(None).train


def learner() -> DGR:
    return DGR(SPEC, DGRSettings(), 0, "cpu")


def in_task(student: DGR, tasks: int) -> tuple[torch.Tensor, torch.Tensor]:
    """A mini-batch of the task that follows `tasks` finished ones."""
    classes = SPEC.task_classes()[tasks]
    student.start_task(classes)
    return DATA.of_classes(classes).batch(torch.arange(12))


def test_the_first_task_is_learned_as_by_none(teach):
    none = teach(FineTuning(SPEC, NetworkSettings(), 0, "cpu"), tasks=1)
    assert torch.equal(teach(learner(), tasks=1).scores(DATA.x), none.scores(DATA.x))


def test_replay_is_what_the_old_networks_generate_and_label(teach):
    """They are compared after steps that changed the living networks."""
    student = teach(learner())
    old_net, old_generator = frozen(student.net), frozen(student.generator.net)
    batch = in_task(student, 2)
    for _ in range(5):
        student.observe(*batch)
    x, y = student.replay(40)
    z = student._noise("replay", 40)
    torch.testing.assert_close(x, old_generator.decode(z))
    assert torch.equal(y, old_net(x)[:, :4].argmax(1))
    assert not torch.allclose(x, student.generator.net.eval().decode(z))


def test_current_and_replayed_rows_pass_batch_norm_one_after_the_other():
    """The running mean ends nearer to the replayed rows, which come last."""
    net = nn.Sequential(nn.BatchNorm1d(64, momentum=0.5), nn.Linear(64, 10))
    student = DGR(replace(SPEC, classifier=lambda: net), DGRSettings(), 0, "cpu")
    norm = student.net[0]
    student.start_task([0, 1])
    student.past.tasks = 1
    norm.reset_running_stats()
    student.train_mode()
    current, again = torch.full((4, 64), 4.0), torch.full((4, 64), 8.0)
    y = torch.tensor([0, 1, 0, 1])
    student.classifier_loss(current, y, (again, y))
    torch.testing.assert_close(norm.running_mean, torch.full((64,), 4 * 0.25 + 8 * 0.5))


def test_replayed_labels_are_old_classes_only(teach):
    student = teach(learner())
    student.past["net"][-1].bias.data[7] = 100.0  # a class still to come
    assert student.replay(200)[1].max() <= 3


def test_the_old_networks_do_not_learn_between_boundaries(teach):
    student = teach(learner())
    x, y = in_task(student, 2)
    before = {k: v.clone() for k, v in student.past.state_dict().items()}
    student.observe(x, y)
    after = student.past.state_dict()
    assert all(torch.equal(before[k], after[k]) for k in before)


def test_current_and_replayed_losses_weigh_one_to_t_minus_one(teach):
    """In task t = 3: 1/3 of the current and 2/3 of the replayed, in both networks."""
    student = teach(learner())
    x, y = in_task(student, 2)
    student.train_mode()
    again = student.replay(len(x))
    logits = student.net(x)[:, :6], student.net(again[0])[:, :6]
    expected = (
        F.cross_entropy(logits[0], y) / 3 + F.cross_entropy(logits[1], again[1]) * 2 / 3
    )
    torch.testing.assert_close(student.classifier_loss(x, y, again), expected)

    def vae_loss(rows, use):
        eps = student._noise(use, len(rows))
        return student.generator.net(rows, eps, "bernoulli").mean()

    expected = vae_loss(x, "current") / 3 + vae_loss(again[0], "replayed") * 2 / 3
    torch.testing.assert_close(student.generator_loss(x, again), expected)


def test_both_networks_learn_from_one_replayed_batch(teach, monkeypatch):
    student, sizes = teach(learner()), []
    replay = student.replay
    monkeypatch.setattr(student, "replay", lambda n: sizes.append(n) or replay(n))
    x, y = in_task(student, 2)
    student.observe(x, y)
    assert sizes == [len(x)]


def test_every_step_replays_anew(teach):
    student = teach(learner())
    batch = in_task(student, 2)
    first = student.replay(5)[0]
    student.observe(*batch)
    assert not torch.equal(student.replay(5)[0], first)
