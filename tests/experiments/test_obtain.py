from shutil import copy

import pytest
import torch

from cilbook.benchmarks import BENCHMARKS
from cilbook.errors import BadInput
from cilbook.experiments import obtain as module
from cilbook.experiments.obtain import committed_bank, committed_runs, obtain, obtain_bank
from cilbook.experiments.request import Request
from cilbook.experiments.results import Store, committed


def test_a_missing_run_is_made_once_and_then_read(tmp_path, monkeypatch):
    made = []

    def counted(request, **options):
        made.append(request)
        return run(request, **options)

    run = module.run
    monkeypatch.setattr(module, "run", counted)
    requests = [Request("digits", "slda", seed=s) for s in (11, 12)]
    first = obtain(requests, store=Store(tmp_path))
    again = obtain(requests, store=Store(tmp_path))
    assert made == requests and first == again


def test_a_runs_vaes_are_trained_once_and_then_read(tmp_path, monkeypatch):
    made = []
    run = module.run
    monkeypatch.setattr(module, "run", lambda r, **how: made.append(r) or run(r, **how))
    request = Request("digits", "gc", changes={"iterations": 2}, samples=2)
    store = Store(tmp_path)
    obtain([request], store=store)  # without its VAEs
    first = obtain_bank(request, device="cpu", store=store)
    again = obtain_bank(request, device="cpu", store=store)
    assert made == [request, request]
    assert first.classes == again.classes == list(range(10))
    assert torch.equal(first[3].mean.weight, again[3].mean.weight)
    store.bank_path(request.resolve()).write_bytes(b"damaged")
    obtain_bank(request, device="cpu", store=store)
    assert len(made) == 3


def test_the_store_of_a_page_is_named_by_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("CILBOOK_RESULTS", str(tmp_path / "here"))
    obtain([Request("digits", "slda")])
    assert len(list((tmp_path / "here").iterdir())) == 1


def test_committed_runs_are_chosen_by_what_they_are_and_sorted_by_seed():
    runs = committed_runs("digits", "gc", "paper", scored_as="gaussian")
    assert [run["seed"] for run in runs] == list(range(2, 12))
    assert {run["config"]["scored_as"] for run in runs} == {"gaussian"}
    assert committed_runs("digits", "gc", "paper", scored_as="bernoulli") == []


def test_of_a_seeds_committed_runs_the_one_with_the_largest_s_is_taken(monkeypatch):
    def run(seed, samples):
        of = {"benchmark": "digits", "method": "gc", "budget": "paper"}
        return of | {"seed": seed, "config": {"samples": samples}}

    stored = [run(3, 10), run(2, 1000), run(2, 100)]
    monkeypatch.setattr(module, "committed", lambda: stored)
    assert committed_runs("digits", "gc", "paper") == [run(2, 1000), run(3, 10)]


def test_a_committed_bank_draws_every_class_of_its_benchmark():
    for name in ("mnist", "cifar10"):
        spec, bank = BENCHMARKS[name], committed_bank(name)
        assert sorted(bank.classes) == list(range(spec.classes))
        drawn = torch.stack([spec.as_images(bank.sample(c, 20)) for c in bank.classes])
        assert drawn.std(1).mean() > 0.05  # its drawings differ
    assert committed_bank("digits") is None


def test_a_bank_that_is_not_the_one_its_run_recorded_is_refused(tmp_path, monkeypatch):
    for path in committed().folder.glob("mnist-gc-paper-seed2-*"):
        copy(path, tmp_path)
    monkeypatch.setattr(module, "committed", lambda: Store(tmp_path))
    assert committed_bank("mnist") is not None
    (bank,) = tmp_path.glob("*.safetensors")
    with bank.open("r+b") as file:
        file.seek(-1, 2)
        file.write(b"\xff")
    with pytest.raises(BadInput, match="is damaged: its run recorded another sha256"):
        committed_bank("mnist")
    bank.unlink()
    with pytest.raises(BadInput, match="cannot read .*safetensors"):
        committed_bank("mnist")
