from pathlib import Path
from shutil import copy

import pytest
import torch

from cilbook.benchmarks import BENCHMARKS
from cilbook.errors import BadInput
from cilbook.experiments import obtain as module
from cilbook.experiments.obtain import (
    committed_bank,
    committed_runs,
    default_store,
    obtain,
    obtain_bank,
)
from cilbook.experiments.request import Request
from cilbook.experiments.results import Store, committed


def test_runs_made_among_the_chapters_stay_apart_from_those_of_the_book(monkeypatch):
    monkeypatch.delenv("CILBOOK_RESULTS", raising=False)
    book = committed().folder.parent
    monkeypatch.chdir(book.parent)
    assert default_store().folder == Path("results")
    monkeypatch.chdir(book)  # where a notebook's kernel is
    assert default_store().folder.resolve() == book.parent.resolve() / "results"
    monkeypatch.setenv("CILBOOK_RESULTS", "results")
    assert default_store().folder == Path("results")


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


def test_a_bank_is_kept_with_its_run_and_read_the_second_time(tmp_path, monkeypatch):
    store, request = Store(tmp_path), Request("digits", "gc", changes={"iterations": 2})
    made, bank = obtain_bank(request, store=store)
    monkeypatch.setattr(module, "run", None)  # nothing can be made any more
    read, again = obtain_bank(request, store=store)
    assert read == made == store.find(request.resolve())
    assert again.classes == bank.classes == list(range(10))
    assert all(torch.equal(again.weights[k], v) for k, v in bank.weights.items())


@pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_bytes(b"?")])
def test_a_run_whose_bank_is_missing_or_damaged_is_made_anew(tmp_path, damage):
    store, request = Store(tmp_path), Request("digits", "gc", changes={"iterations": 2})
    _, bank = obtain_bank(request, store=store)
    damage(store.bank_path(request.resolve()))
    _, again = obtain_bank(request, store=store)
    assert all(torch.equal(again.weights[k], v) for k, v in bank.weights.items())


def test_a_run_that_was_stored_without_its_bank_gets_one(tmp_path):
    store, request = Store(tmp_path), Request("digits", "gc", changes={"iterations": 2})
    (before,) = obtain([request], store=store)
    after, _ = obtain_bank(request, store=store)
    assert "bank" not in before and "bank" in after
    assert after["by_samples"] == before["by_samples"]


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
