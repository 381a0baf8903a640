import pytest
import torch
from torch.nn import functional as F

from cilbook.benchmarks import BENCHMARKS
from cilbook.errors import BadInput
from cilbook.methods.bir import BIR, BIRSettings
from cilbook.methods.bir_si import BIRSI, BIRSISettings
from cilbook.methods.trained import frozen

SPEC = BENCHMARKS["digits"]
DATA = SPEC.load(None).train


def learner(**settings) -> BIR:
    return BIR(SPEC, BIRSettings(**settings), 0, "cpu")


def batch(classes: list[int], n: int = 12) -> tuple[torch.Tensor, torch.Tensor]:
    return DATA.of_classes(classes).batch(torch.arange(n))


def by_hand(student: BIR, x, shares, use) -> torch.Tensor:
    """Reconstruction and KL, row by row, class by class."""
    net, settings = student.net, student.settings
    _, mean, log_variance = net(x)
    eps = student._noise(use, len(x))
    z = mean + (log_variance / 2).exp() * eps
    rows = []
    for i in range(len(x)):
        h = z[i]
        for layer in net.gated:
            gate = sum(shares[i, c] * layer.mask[c] for c in range(10))
            h = F.relu(gate * layer.linear(h))
        reconstruction = (x[i] - net.output(h)).square().sum() / 2 / 64
        log_q = -0.5 * (log_variance[i] + eps[i] ** 2).sum()
        p = 0.0
        for c in range(10):
            m, s = net.prior.means[c], net.prior.log_variances[c]
            p += shares[i, c] * (-0.5 * ((z[i] - m) ** 2 / s.exp() + s).sum()).exp()
        rows.append(reconstruction + (log_q - p.log()) / settings.kl_divisor)
    return torch.stack(rows).mean()


def test_the_vae_loss_of_labelled_rows_by_hand():
    student = learner(closed=0.5, kl_divisor=7)
    student.start_task([0, 1])
    x, y = batch([0, 1])
    expected = by_hand(student, x, F.one_hot(y, 10), "current")
    expected = expected + F.cross_entropy(student.net(x)[0][:, :2], y)
    torch.testing.assert_close(student.current_loss(x, y), expected)


def test_the_loss_of_replayed_rows_by_hand(teach):
    """Soft targets mix the gates, and the modes of the prior; KD carries T squared."""
    student = teach(learner(closed=0.5))
    student.start_task([4, 5])
    x, q = student.replay(6)
    log_p = (student.net(x)[0][:, :6] / 2).log_softmax(1)
    kd = -4 * (q[:, :6] * log_p).sum(1).mean()
    expected = kd + by_hand(student, x, q, "replayed")
    torch.testing.assert_close(student.replayed_loss(x, q), expected)


def test_in_task_t_the_current_loss_weighs_one_over_t(teach):
    student = teach(learner())
    student.start_task([4, 5])
    x, y = batch([4, 5])
    replayed = student.replayed_loss(*student.replay(len(x)))
    expected = student.current_loss(x, y) / 3 + replayed * 2 / 3
    torch.testing.assert_close(student.loss(x, y), expected)


def test_replayed_rows_come_from_the_old_network_class_by_class(teach):
    student = teach(learner(closed=0.5))
    old = frozen(student.net)
    student.start_task([4, 5])
    for _ in range(5):
        student.observe(*batch([4, 5]))
    x, q = student.replay(30)
    logits = old(x)[0][:, :4] / 2
    assert not torch.allclose(logits, student.net(x)[0][:, :4] / 2)
    torch.testing.assert_close(q[:, :4], logits.softmax(1))
    assert q[:, 4:].eq(0).all()
    torch.testing.assert_close(q.sum(1), torch.ones(30))


def replayed_classes(student: BIR, n: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The classes of replayed codes, and their noise: pull the modes far apart to see."""
    net, codes = student.past["net"], []
    net.prior.means.copy_(100.0 * torch.arange(10)[:, None].expand_as(net.prior.means))
    net.prior.log_variances.zero_()
    net.decode = lambda z, shares: codes.append((z, shares)) or torch.zeros(len(z), 64)
    student.replay(n)
    z, shares = codes[0]
    labels = (z.mean(1) / 100).round().long()
    assert torch.equal(labels, shares.argmax(1))  # mode and gate are of one class
    return labels, z - 100.0 * labels[:, None]


def test_old_classes_are_replayed_equally_often(teach):
    labels, _ = replayed_classes(teach(learner()), 4000)
    share = torch.bincount(labels, minlength=10) / 4000
    assert (share[:4] - 0.25).abs().max() < 0.03 and share[4:].eq(0).all()


def test_every_step_replays_other_classes_with_other_noise(teach):
    student = teach(learner())
    first = replayed_classes(student, 50)
    student.trained.steps += 1
    for before, after in zip(first, replayed_classes(student, 50), strict=True):
        assert (after - before).abs().max() > 0.5


def test_the_copy_stays_what_the_last_task_left(teach):
    student = teach(learner())
    before = {k: v.clone() for k, v in student.past.state_dict().items()}
    student.start_task([4, 5])
    student.observe(*batch([4, 5]))
    after = student.past.state_dict()
    assert all(torch.equal(before[k], after[k]) for k in before)
    assert not torch.equal(student.net.output.weight, after["net.output.weight"])


def test_gates_are_part_of_the_saved_state(teach):
    student = teach(learner(closed=0.5))
    other = BIR(SPEC, BIRSettings(closed=0.5), 1, "cpu")
    assert not torch.equal(other.net.gated[0].mask, student.net.gated[0].mask)
    other.load_state_dict(student.state_dict())
    assert torch.equal(other.net.gated[0].mask, student.net.gated[0].mask)
    assert torch.equal(other.past["net"].gated[0].mask, student.net.gated[0].mask)


def test_more_than_all_gates_cannot_be_closed():
    with pytest.raises(BadInput, match="at most 1"):
        learner(closed=60)


def test_si_holds_encoder_and_classifier_and_leaves_the_generator_free(teach):
    """With an enormous strength what classifies stands still; what generates moves."""
    settings = BIRSISettings(strength=1e8, learning_rate=1e-4)
    student = teach(BIRSI(SPEC, settings, 0, "cpu"), tasks=1, steps=8)
    before = {k: v.clone() for k, v in student.net.state_dict().items()}
    guarded = [*student.net.body.parameters(), *student.net.classifier.parameters()]
    assert len(student.path.importance) == sum(p.numel() for p in guarded)
    student.path.importance.fill_(1.0)
    x, y = batch([2, 3], 16)
    student.start_task([2, 3])
    for _ in range(8):
        student.observe(x, y)
    moved = {k: (v - before[k]).norm() for k, v in student.net.state_dict().items()}
    assert moved["body.0.weight"] < moved["output.weight"] / 10
    assert moved["prior.means"] > 0 and moved["mean.weight"] > 0


def test_si_with_strength_zero_is_bir_bit_for_bit(teach):
    plain = teach(learner())
    free = teach(BIRSI(SPEC, BIRSISettings(strength=0.0), 0, "cpu"))
    assert torch.equal(plain.scores(DATA.x), free.scores(DATA.x))
