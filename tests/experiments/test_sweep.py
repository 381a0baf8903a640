"""Sweeps: what is planned, how answers are dealt with, and real processes being killed."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import deque

import pytest
from safetensors import safe_open
from tqdm import tqdm

from cilbook.errors import BadInput
from cilbook.experiments import sweep as module
from cilbook.experiments.claim import claim
from cilbook.experiments.obtain import obtain_one
from cilbook.experiments.request import Request
from cilbook.experiments.results import Store
from cilbook.experiments.run import run
from cilbook.experiments.sweep import Failure, plan_sweep, sweep, table_of
from cilbook.experiments.workers import Answer, Team
from cilbook.methods import METHODS
from cilbook.methods.slda import SLDA

FAST = Request("digits", "none", changes={"iterations": 2})
JOINT = Request("digits", "joint", changes={"iterations": 800})
GC = Request("digits", "gc", samples=300, changes={"iterations": 2})


def numbers(result: dict) -> dict:
    return {k: v for k, v in result.items() if k not in ("seconds", "provenance")}


def short(requests: list[Request]) -> list[tuple]:
    return [(r.benchmark, r.method, r.seed) for r in requests]


def test_a_sweep_is_every_method_on_every_benchmark_with_the_papers_seeds():
    requests = plan_sweep(["digits", "mnist"], ["none", "gc"], 2, budget="paper")
    assert short(requests) == [
        *[("digits", "none", 11), ("digits", "none", 12), ("digits", "gc", 2)],
        *[("digits", "gc", 3), ("mnist", "none", 11), ("mnist", "none", 12)],
        *[("mnist", "gc", 2), ("mnist", "gc", 3)],
    ]
    assert {r.budget for r in requests} == {"paper"}


def test_seeds_can_be_named():
    requests = plan_sweep(["digits"], ["gc", "slda"], [3, 7])
    assert [r.seed for r in requests] == [3, 7, 3, 7]


def test_what_a_method_does_not_take_is_not_given_to_it():
    given = {"samples": 7, "changes": {"iterations": 5}}
    slda, none, gc = plan_sweep(["digits"], ["slda", "none", "gc"], 1, **given)
    assert (slda.samples, none.samples, gc.samples) == (None, None, 7)
    assert (slda.changes, none.changes) == ({}, {"iterations": 5})
    assert slda.resolve().budget == "quick" and gc.resolve().budget == "custom"


def test_samples_among_the_changes_make_a_custom_run_as_they_do_in_a_single_one():
    (gc,) = plan_sweep(["digits"], ["gc"], 1, changes={"samples": "7"})
    assert gc.resolve().budget == "custom" and gc.resolve().settings.samples == 7


def test_what_no_method_takes_is_refused():
    with pytest.raises(BadInput, match="none takes no samples"):
        plan_sweep(["digits"], ["none", "slda"], 1, samples=5)
    with pytest.raises(BadInput, match="has no setting 'depth'"):
        plan_sweep(["digits"], ["none", "gc"], 1, changes={"depth": 3})


def test_a_method_that_a_benchmark_does_not_define_is_left_out(monkeypatch):
    monkeypatch.setitem(METHODS, "bir", SLDA)
    requests = plan_sweep(["digits", "mnist"], ["bir", "slda"], 1)
    assert [(b, m) for b, m, _ in short(requests)] == [
        *[("digits", "bir"), ("digits", "slda"), ("mnist", "slda")],
    ]
    with pytest.raises(BadInput, match="there is nothing to run"):
        plan_sweep(["mnist"], ["bir"], 1)
    with pytest.raises(BadInput, match="bir is not defined on mnist: the paper leaves it"):
        Request("mnist", "bir").resolve()


class FakeTeam:
    """One worker that answers from a script, {key: [answers]}."""

    def __init__(self, script: dict[str, list[Answer]]):
        self.script = {key: deque(answers) for key, answers in script.items()}
        self.given, self.now = [], None

    @property
    def idle(self) -> bool:
        return self.now is None

    @property
    def busy(self) -> bool:
        return self.now is not None

    def give(self, key, request):
        self.now = key
        self.given.append(key)

    def answers(self, timeout):
        if self.now is None:
            return []
        key, self.now = self.now, None
        return [(key, self.script[key].popleft())]


def made(script: dict[str, list[Answer]], monkeypatch) -> tuple[list[str], list[Failure]]:
    monkeypatch.setattr(module, "_POLL", 0.01)
    team = FakeTeam(script)
    with tqdm(disable=True) as bar:
        failures = module._make(dict.fromkeys(script, FAST), team, bar)
    return team.given, failures


def test_a_failed_run_is_tried_once_more_and_the_rest_goes_on(monkeypatch):
    broken, fine = Answer("failed", "RuntimeError: fire"), Answer("done")
    script = {"a": [broken, broken], "b": [broken, fine], "c": [fine]}
    given, failures = made(script, monkeypatch)
    assert sorted(given) == ["a", "a", "b", "b", "c"]
    assert failures == [Failure("a", "RuntimeError: fire")]


def test_what_cannot_be_done_at_all_is_not_tried_again(monkeypatch):
    given, failures = made({"a": [Answer("impossible", "no data")]}, monkeypatch)
    assert given == ["a"] and failures == [Failure("a", "no data")]


def test_a_run_that_another_sweep_makes_is_asked_for_until_it_is_there(monkeypatch):
    busy, done = Answer("elsewhere"), Answer("done")
    given, failures = made({"a": [busy, busy, done], "b": [done]}, monkeypatch)
    assert given[:2] == ["a", "b"] and given[2:] == ["a", "a"]
    assert failures == []


def test_what_a_worker_warns_of_is_passed_on(monkeypatch):
    answer = Answer("done", warnings=["a checkpoint is damaged"])
    with pytest.warns(UserWarning, match="a checkpoint is damaged"):
        made({"a": [answer]}, monkeypatch)


def test_what_is_stored_needs_no_worker(tmp_path):
    store = Store(tmp_path)
    store.save(FAST.resolve(), run(FAST))
    assert sweep([FAST, FAST], store, workers=4) == []
    (row,) = table_of([FAST], store).rows
    assert row.n == 1 and row.verdict == "not in the paper"


def test_a_worker_that_dies_is_replaced_and_its_run_is_known(tmp_path):
    with Team(1, Store(tmp_path), {}) as team:
        team.give("long", JOINT)
        wait_for(lambda: (tmp_path / ".work").exists())
        os.kill(team._workers[0].process.pid, signal.SIGKILL)
        ((key, answer),) = team.answers(timeout=600)
        assert key == "long" and answer.kind == "failed"
        assert answer.error == "its process ended with exit code -9"
        team.give("bad", Request("digits", "none", changes={"learning_rate": 1e30}))
        ((_, answer),) = team.answers(timeout=600)
        assert answer.error.startswith("RunFailed: training diverged")
        team.give("fast", FAST)
        ((_, answer),) = team.answers(timeout=600)
        assert answer.kind == "done"
    assert Store(tmp_path).find(FAST.resolve()) is not None


SWEEP = """
import sys
from cilbook.experiments.obtain import obtain_one
from cilbook.experiments.request import Request
from cilbook.experiments.results import Store
from cilbook.experiments.sweep import sweep

if __name__ == "__main__":
    method, store = sys.argv[1], Store(sys.argv[2])
    if method == "joint":
        request = Request("digits", "joint", changes={"iterations": 800})
        obtain_one(request, store, interval=0.02)
    else:
        request = Request("digits", "gc", samples=300, changes={"iterations": 2})
        sweep([request], store, interval=0.02)
"""


def test_after_kill_9_a_run_goes_on_inside_joints_task_and_inside_the_likelihoods(tmp_path):
    """Joint in the process that is killed, gc in a worker of it."""
    script, store = tmp_path / "sweep.py", Store(tmp_path / "store")
    script.write_text(SWEEP)
    plans = {"joint": JOINT.resolve(), "gc": GC.resolve()}
    inside = {"joint": "iteration", "gc": "done"}
    running = {
        method: subprocess.Popen([sys.executable, script, method, store.folder])
        for method in plans
    }
    while running:
        for method, process in [*running.items()]:
            assert process.poll() is None, f"{method} ended before it was killed"
            if notes(store, plans[method]).get(inside[method], 0) > 0:
                process.kill()
                process.wait()
                del running[method]
        time.sleep(0.01)
    for request, plan in ((JOINT, plans["joint"]), (GC, plans["gc"])):
        wait_for(lambda plan=plan: is_free(store, plan))  # a worker ends with its parent
        assert store.find(plan) is None and notes(store, plan)
        assert numbers(obtain_one(request, store)) == numbers(run(request))
    assert [p.suffix for p in store.folder.iterdir()] == [".json", ".json"]


def is_free(store: Store, plan) -> bool:
    with claim(store.work_folder(plan), wait=False) as ours:
        return ours


def notes(store: Store, plan) -> dict:
    """Where a run's checkpoint stands; empty if there is none."""
    path = store.work_folder(plan) / "checkpoint.safetensors"
    if not path.exists():
        return {}
    with safe_open(path, framework="pt") as file:
        return json.loads(file.metadata()["notes"])


def wait_for(condition, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


SHARED = """
import sys, time
from cilbook.experiments import obtain
from cilbook.experiments.request import Request
from cilbook.experiments.results import Store

made, run = [], obtain.run

def counted(request, **options):
    made.append(request.seed)
    return run(request, **options)

obtain.run = counted
store = Store(sys.argv[1])
todo = [Request("digits", "none", seed=s, changes={"iterations": 40}) for s in range(6)]
print("ready", flush=True)
sys.stdin.readline()
while todo:
    todo = [r for r in todo if obtain.obtain_one(r, store, wait=False) is None]
    time.sleep(0.01)
print(*made)
"""


def test_two_processes_on_one_store_do_no_run_twice(tmp_path):
    command = [sys.executable, "-c", SHARED, str(tmp_path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    both = [subprocess.Popen(command, **pipes) for _ in range(2)]
    for process in both:
        assert process.stdout.readline() == "ready\n"
    for process in both:
        process.stdin.write("go\n")
        process.stdin.flush()
    seeds = [int(s) for process in both for s in process.communicate()[0].split()]
    assert sorted(seeds) == list(range(6))
    assert len(list(tmp_path.iterdir())) == 6
