"""On torch's `meta` device: a tensor left on the wrong device shows at once."""

import pytest
import torch

from cilbook.benchmarks import BENCHMARKS
from cilbook.experiments import paper
from cilbook.experiments.request import default_settings
from cilbook.methods import METHODS

SHAPES = {
    "digits": (64,),
    "mnist": (784,),
    "cifar10": (3, 32, 32),
    "cifar100": (1024,),
    "core50": (512,),
}
NETWORKS = [m for m in METHODS if m not in ("slda", "gc", "gen-samples")]
PAIRS = [(b, m) for b in SHAPES for m in NETWORKS if not paper.leaves_out(b, m)]


def on_meta(benchmark: str, method: str):
    spec = BENCHMARKS[benchmark].for_method(method)
    settings = default_settings(spec, method, "paper")
    student = METHODS[method](spec, settings, 0, "meta")
    shape = SHAPES[benchmark] if spec is BENCHMARKS[benchmark] else (3, 32, 32)
    x = torch.rand(4, *shape, device="meta")
    return student, x, torch.zeros(4, dtype=torch.int64, device="meta")


@pytest.mark.parametrize("benchmark,method", PAIRS)
def test_a_method_builds_and_computes_a_loss_with_all_its_terms(benchmark, method):
    student, x, y = on_meta(benchmark, method)
    student.start_task([0, 1])
    if hasattr(student, "past"):
        student.past.keep([0, 1])
        student.start_task([2, 3])
    if method == "dgr":
        again = student.replay(4)
        losses = [student.classifier_loss(x, y, again), student.generator_loss(x, again)]
    else:
        losses = [student.loss(x, y)]
    for loss in losses:
        assert loss.is_meta and loss.shape == ()
        loss.backward()
    assert all(p.grad is None or p.grad.is_meta for p in student.net.parameters())


@pytest.mark.parametrize("benchmark", SHAPES)
def test_the_class_vaes_compute_their_loss(benchmark):
    with torch.device("meta"):
        vae = BENCHMARKS[benchmark].class_vae()
        x = torch.rand(4, *SHAPES[benchmark])
        loss = vae(x, torch.randn(4, vae.latent), "gaussian")
    assert loss.is_meta and loss.shape == (4,)
