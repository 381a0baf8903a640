from contextlib import suppress

import torch

from cilbook.benchmarks import BENCHMARKS
from cilbook.methods.gen_samples import GenSamples
from cilbook.methods.generative_classifier import BankSettings
from cilbook.random import normal

SPEC = BENCHMARKS["digits"]
DATA = SPEC.load(None).train


def learner(batch: int = 8) -> GenSamples:
    return GenSamples(SPEC, BankSettings(batch=batch), 0, "cpu")


def with_bank(student: GenSamples) -> GenSamples:
    for _ in range(3):
        student.observe(DATA.x[:200], DATA.y[:200])
    return student


def test_samples_are_decoder_means_of_the_class_that_is_their_label():
    student = with_bank(learner())
    x, y = student.samples(0)[0]
    z = normal((160, student.bank.latent), 0, "sampled codes", 0)
    for row, code, label in zip(x, z, y.tolist(), strict=False):
        torch.testing.assert_close(row, student.bank[label].decode(code[None])[0])


def test_later_mini_batches_are_new_ones():
    student = with_bank(learner())
    first, later = student.samples(0), student.samples(20)
    assert not any(torch.equal(a[0], b[0]) for a, b in zip(first, later, strict=True))


def test_classes_are_drawn_uniformly():
    student = with_bank(learner(batch=200))
    labels = torch.cat([y for _, y in student.samples(0)])
    share = torch.bincount(labels, minlength=10) / len(labels)
    assert (share - 0.1).abs().max() < 0.03


def test_the_network_takes_as_many_steps_as_the_bank_took():
    student = with_bank(learner())
    student.end_task(DATA)
    assert student.trained.steps == 3 * 10


def test_an_interrupted_training_goes_on_to_the_same_weights():
    whole, halted = with_bank(learner()), with_bank(learner())
    whole.end_task(DATA)

    class Halt(Exception):
        pass

    def halt():
        if halted.trained.steps == 23:
            raise Halt

    halted.between_steps = halt
    with suppress(Halt):
        halted.end_task(DATA)
    resumed = learner()
    resumed.load_state_dict({k: v.clone() for k, v in halted.state_dict().items()})
    resumed.end_task(DATA)
    assert torch.equal(whole.scores(DATA.x), resumed.scores(DATA.x))


def test_the_bank_is_not_touched_by_the_networks_training():
    student = with_bank(learner())
    before = {k: v.clone() for k, v in student.bank.state_dict().items()}
    student.end_task(DATA)
    after = student.bank.state_dict()
    assert all(torch.equal(before[k], after[k]) for k in before)
