"""A run that is cut short anywhere goes on to the numbers of an undisturbed one."""

import json

import pytest
import torch
from safetensors.torch import load_file

from cilbook import storage
from cilbook.experiments import run as runner
from cilbook.experiments.request import Request
from cilbook.experiments.run import run
from cilbook.likelihood import importance_sampling
from cilbook.methods import METHODS
from cilbook.methods.trained import Trained


class Killed(BaseException):
    """Stands for a signal: nothing in between may catch it."""


def request(method: str) -> Request:
    changes = {"batch": 100} if method == "slda" else {"iterations": 8}
    samples = 200 if method == "gc" else None
    return Request("digits", method, seed=11, samples=samples, changes=changes)


def numbers(result: dict) -> dict:
    return {k: v for k, v in result.items() if k not in ("seconds", "provenance")}


def kill_at(monkeypatch, owner, name: str, call: int):
    """Let the call-th call of owner.name be its last."""
    original, calls = getattr(owner, name), iter(range(1, 10**9))

    def killing(*args, **kwargs):
        if next(calls) == call:
            raise Killed
        return original(*args, **kwargs)

    monkeypatch.setattr(owner, name, killing)


def interrupted(monkeypatch, work, method: str, owner, name: str, call: int) -> None:
    with monkeypatch.context() as patch, pytest.raises(Killed):
        kill_at(patch, owner, name, call)
        run(request(method), work=work, interval=0)


@pytest.fixture(scope="module")
def undisturbed():
    return {method: numbers(run(request(method))) for method in METHODS}


@pytest.mark.parametrize("call", [2, 7, 12])
@pytest.mark.parametrize("method", METHODS)
def test_a_run_killed_inside_a_task_resumes_to_the_same_numbers(
    method, call, tmp_path, monkeypatch, undisturbed
):
    call = min(call, len(seen_by(method)))
    interrupted(monkeypatch, tmp_path, method, METHODS[method], "observe", call)
    seen = []
    observe = METHODS[method].observe
    monkeypatch.setattr(
        METHODS[method], "observe", lambda *a: (seen.append(1), observe(*a))[1]
    )
    whole = len(seen_by(method))
    assert numbers(run(request(method), work=tmp_path, interval=0)) == undisturbed[method]
    assert len(seen) == whole - (call - 1)


def seen_by(method: str) -> list:
    """The mini-batches of a whole run."""
    plan = request(method).resolve()
    data = runner.load(plan, None, torch.device("cpu")).train
    tasks = enumerate(runner.training_tasks(plan))
    return [b for t, c in tasks for b in runner.task_stream(plan, data.of_classes(c), t)]


@pytest.mark.parametrize("call", [1, 9, 20])
def test_a_run_killed_inside_the_likelihoods_does_no_block_twice(
    call, tmp_path, monkeypatch, undisturbed
):
    where = importance_sampling, "_running_estimates"
    interrupted(monkeypatch, tmp_path, "gc", *where, call)
    _, notes, _ = read(tmp_path / "checkpoint.safetensors")
    assert notes["done"] == call - 1
    blocks = []
    estimates = importance_sampling._running_estimates
    monkeypatch.setattr(*where, lambda *a: (blocks.append(1), estimates(*a))[1])
    assert numbers(run(request("gc"), work=tmp_path)) == undisturbed["gc"]
    assert len(blocks) == notes["total"] - (call - 1)


@pytest.mark.parametrize("call", [5, 43])
def test_a_run_killed_in_a_long_end_of_a_task_takes_no_step_twice(
    call, tmp_path, monkeypatch, undisturbed
):
    interrupted(monkeypatch, tmp_path, "gen-samples", Trained, "step", call)
    taken, step = [], Trained.step
    monkeypatch.setattr(Trained, "step", lambda *a: (taken.append(1), step(*a))[1])
    again = run(request("gen-samples"), work=tmp_path, interval=0)
    assert numbers(again) == undisturbed["gen-samples"]
    assert len(taken) == 8 * 10 - (call - 1)


@pytest.mark.parametrize("method", ["none", "slda"])
def test_a_run_killed_between_two_tasks_keeps_the_scores_of_the_finished_ones(
    method, tmp_path, monkeypatch, undisturbed
):
    interrupted(monkeypatch, tmp_path, method, METHODS[method], "start_task", 3)
    assert numbers(run(request(method), work=tmp_path)) == undisturbed[method]


def test_a_run_survives_being_killed_again_and_again(tmp_path, monkeypatch, undisturbed):
    for _ in range(4):
        interrupted(monkeypatch, tmp_path, "none", METHODS["none"], "observe", 5)
    result = run(request("none"), work=tmp_path)
    assert numbers(result) == undisturbed["none"]


def test_the_seconds_of_all_attempts_are_added_up(tmp_path, monkeypatch):
    interrupted(monkeypatch, tmp_path, "none", METHODS["none"], "observe", 8)
    path = tmp_path / "checkpoint.safetensors"
    tensors, notes, made_by = read(path)
    notes["seconds"]["train"] += 1000
    rewrite(path, tensors, notes, made_by)
    assert run(request("none"), work=tmp_path)["seconds"]["train"] > 1000


def read(path) -> tuple[dict, dict, dict]:
    tensors, texts = storage.read_tensors(path)
    return tensors, json.loads(texts["notes"]), json.loads(texts["made_by"])


def rewrite(path, tensors, notes, made_by) -> None:
    texts = {"notes": json.dumps(notes), "made_by": json.dumps(made_by)}
    storage.write_tensors(path, tensors, **texts)


def test_no_checkpoint_is_written_before_its_time(tmp_path):
    run(request("none"), work=tmp_path, interval=60)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("damage", ["cut", "flipped", "foreign"])
def test_a_damaged_checkpoint_is_reported_and_the_run_starts_anew(
    damage, tmp_path, monkeypatch, undisturbed
):
    interrupted(monkeypatch, tmp_path, "none", METHODS["none"], "observe", 8)
    path = tmp_path / "checkpoint.safetensors"
    content = bytearray(path.read_bytes())
    if damage == "cut":
        content = content[:-100]
    if damage == "flipped":
        content[-1000] ^= 1
    path.write_bytes(b"something else" if damage == "foreign" else bytes(content))
    with pytest.warns(UserWarning, match="is damaged, the run starts anew"):
        assert numbers(run(request("none"), work=tmp_path)) == undisturbed["none"]


@pytest.mark.parametrize("name", ["code", "versions", "threads", "identity"])
def test_a_checkpoint_made_otherwise_is_discarded_with_a_sentence(
    name, tmp_path, monkeypatch, undisturbed
):
    interrupted(monkeypatch, tmp_path, "none", METHODS["none"], "observe", 8)
    path = tmp_path / "checkpoint.safetensors"
    tensors, notes, made_by = read(path)
    rewrite(path, tensors, notes, made_by | {name: "another"})
    with pytest.warns(UserWarning, match=f"is of other {name}, the run starts anew"):
        assert numbers(run(request("none"), work=tmp_path)) == undisturbed["none"]


def test_a_checkpoint_that_cannot_be_written_does_not_stop_the_run(
    tmp_path, monkeypatch, undisturbed
):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(storage, "save_file", full)
    with pytest.warns(UserWarning, match="the run goes on, but its checkpoint is not kept"):
        result = run(request("none"), work=tmp_path, interval=0)
    assert numbers(result) == undisturbed["none"]


def test_a_checkpoint_is_never_half_written(tmp_path, monkeypatch):
    interrupted(monkeypatch, tmp_path, "none", METHODS["none"], "observe", 4)
    before = load_file(tmp_path / "checkpoint.safetensors")

    def cut(tensors, path, metadata):
        path.write_bytes(b"half")
        raise Killed

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(storage, "save_file", cut)
        run(request("none"), work=tmp_path, interval=0)
    after = load_file(tmp_path / "checkpoint.safetensors")
    assert before.keys() == after.keys()
    assert all(torch.equal(before[k], after[k]) for k in before)
