import numpy as np
import pytest
import torch
from sklearn.covariance import OAS, empirical_covariance

from cilbook.benchmarks import BENCHMARKS
from cilbook.methods.slda import SLDA, SLDASettings, oas

SPEC = BENCHMARKS["digits"]
DATA = SPEC.load(None).train


def learner() -> SLDA:
    return SLDA(SPEC, SLDASettings(), 0, "cpu")


def teach(student: SLDA, batch: int) -> SLDA:
    for classes in SPEC.task_classes()[:3]:
        data = DATA.of_classes(classes)
        for x, y in zip(data.x.split(batch), data.y.split(batch), strict=True):
            student.observe(x, y)
        student.end_task(data)
    return student


def test_batches_equal_the_recursion_one_sample_at_a_time():
    single, whole = teach(learner(), 1), teach(learner(), 100)
    for name in ("means", "scatter", "counts", "steps"):
        torch.testing.assert_close(getattr(single, name), getattr(whole, name))


def test_the_recursion_equals_the_formula_written_out():
    """Sigma first, then the mean; a new class starts from the mean 0."""
    student = learner()
    base = DATA.of_classes([0, 1])
    student.observe(base.x, base.y)
    student.end_task(base)
    sigma = (student.scatter / student.steps).numpy()
    means, counts = student.means.numpy().copy(), student.counts.numpy().copy()
    tau = len(base)
    later = DATA.of_classes([2, 0, 3])
    for x, y in zip(later.x[:60].double().numpy(), later.y[:60].tolist(), strict=True):
        delta = x - means[y]
        sigma = (tau * sigma + tau / (tau + 1) * np.outer(delta, delta)) / (tau + 1)
        means[y] += delta / (counts[y] + 1)
        counts[y] += 1
        tau += 1
    student.observe(later.x[:60], later.y[:60])
    np.testing.assert_allclose((student.scatter / student.steps).numpy(), sigma)
    np.testing.assert_allclose(student.means.numpy(), means, atol=1e-12)


def test_the_base_phase_is_scikit_learns_oas_of_the_centred_data():
    data = DATA.of_classes([0, 1])
    student = learner()
    for x, y in zip(data.x.split(50), data.y.split(50), strict=True):
        student.observe(x, y)
    student.end_task(data)
    x, y = data.x.double().numpy(), data.y.numpy()
    means = np.stack([x[y == c].mean(0) for c in (0, 1)])
    expected = OAS(assume_centered=True).fit(x - means[y]).covariance_
    actual = (student.scatter / student.steps).numpy()
    np.testing.assert_allclose(actual, expected, atol=1e-12)
    np.testing.assert_allclose(student.means[:2].numpy(), means, atol=1e-12)


def test_oas_shrinks_completely_when_there_is_one_sample_of_white_noise():
    covariance = torch.from_numpy(empirical_covariance(np.eye(4), assume_centered=True))
    shrunk = oas(covariance, torch.tensor(1.0))
    torch.testing.assert_close(shrunk, 0.25 * torch.eye(4, dtype=torch.float64))


def test_scores_are_the_linear_discriminant_with_the_minus_half():
    student = teach(learner(), 100)
    sigma = (student.scatter / student.steps).numpy()
    precision = np.linalg.inv((1 - 1e-4) * sigma + 1e-4 * np.eye(64))
    x, mu = DATA.x[:7].double(), student.means[:6].numpy()
    bias = -0.5 * np.einsum("cd,de,ce->c", mu, precision, mu)
    expected = x.numpy() @ precision @ mu.T + bias
    np.testing.assert_allclose(student.scores(x)[:, :6].numpy(), expected, rtol=1e-7)


@pytest.mark.parametrize("n", [1, 3])
def test_scores_are_numbers_before_anything_has_spread(n):
    """One sample of each class: the covariance is zero, and so is what OAS divides by."""
    student = learner()
    rows = torch.stack([torch.where(DATA.y == c)[0][0] for c in range(n)])
    student.observe(*DATA.batch(rows))
    assert student.scores(DATA.x[:9])[:, :n].isfinite().all()
    assert student.scores(DATA.x[rows]).argmax(1).tolist() == list(range(n))


def test_without_a_boundary_the_base_phase_goes_on():
    student = learner()
    student.observe(DATA.x, DATA.y)
    means = torch.stack([DATA.x[DATA.y == c].double().mean(0) for c in range(10)])
    torch.testing.assert_close(student.means, means)
    accuracy = (student.scores(DATA.x).argmax(1) == DATA.y).float().mean()
    assert accuracy > 0.95
