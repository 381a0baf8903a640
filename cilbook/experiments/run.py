"""One run: a method learns a benchmark's tasks and is tested after each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import Any

import torch
from torch import Tensor
from tqdm.auto import tqdm

from cilbook.benchmarks import Data, Images, streams
from cilbook.errors import BadInput
from cilbook.experiments import metrics
from cilbook.experiments.provenance import provenance
from cilbook.experiments.request import Plan, Request
from cilbook.methods import Learner
from cilbook.methods.generative_classifier import GenerativeClassifier

EXAMPLES = 24  # test rows whose posteriors are kept, evenly spread over the test set


def run(
    request: Request,
    *,
    device: str = "auto",
    threads: int = 1,
    data_dir: Path | None = None,
    progress: bool = False,
    keep_bank: Path | None = None,
) -> dict[str, Any]:
    """Carry out one run and describe it as the store keeps it.

    `keep_bank` names a file for the weights of a generative classifier's VAEs.
    """
    plan = request.resolve()
    where = choose_device(device)
    if threads < 1:
        raise BadInput(f"threads must be at least 1, got {threads}")
    with _threads(threads):
        data = load(plan, data_dir, where)
        learner = plan.learner_type(plan.spec, plan.settings, plan.seed, where)
        watch = {"train": 0.0, "predict": 0.0}
        stages = _learn(plan, learner, data, watch, progress)
        outcome = _outcome(plan, learner, data, stages, watch)
    if keep_bank is not None:
        outcome["bank"] = _keep_bank(learner, keep_bank)
    return {
        "schema": 1,
        "benchmark": plan.spec.name,
        "method": plan.method,
        "seed": plan.seed,
        "budget": plan.budget,
        "config": config(plan, threads, where),
        **outcome,
        "seconds": {name: round(value, 3) for name, value in watch.items()},
        "parameters": {"trainable": learner.trainable, "frozen": plan.spec.frozen},
        "provenance": provenance(data.sha256, where, threads),
    }


def choose_device(name: str) -> torch.device:
    """The device by name; `auto` is CUDA where there is one."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if name not in ("cpu", "cuda"):
        raise BadInput(f"unknown device {name!r}; expected auto, cpu, cuda")
    if name == "cuda" and not torch.cuda.is_available():
        raise BadInput("CUDA was asked for, but PyTorch finds no CUDA device here")
    return torch.device(name)


def load(plan: Plan, data_dir: Path | None, device: torch.device) -> Data:
    """The benchmark's data with the seed's class order."""
    data = plan.spec.load(data_dir)
    order = plan.spec.class_order(plan.seed)
    train, test = (part.relabelled(order) for part in (data.train, data.test))
    return Data(train.to(device), test.to(device), data.sha256)


def config(plan: Plan, threads: int, device: torch.device) -> dict[str, Any]:
    """Every number the run used."""
    return {
        "classes": plan.spec.classes,
        "tasks": 1 if plan.learner_type.one_task else plan.spec.tasks,
        "class_order": plan.spec.class_order(plan.seed).tolist(),
        "view": plan.view,
        "iterations": plan.iterations,
        **asdict(plan.settings),
        "threads": threads,
        "device": device.type,
    }


def task_stream(plan: Plan, data: Images, task: int) -> Iterator[tuple[Tensor, Tensor]]:
    """A task's mini-batches in the view that the method consumes."""
    batch, view = plan.settings.batch, plan.view
    if view == "single_pass":
        return streams.single_pass(data, batch, seed=plan.seed, task=task)
    if view == "per_class":
        return streams.per_class(data, batch, plan.iterations, seed=plan.seed)
    return streams.iterations(data, batch, plan.iterations, seed=plan.seed, task=task)


def tasks_of(plan: Plan) -> list[list[int]]:
    """The classes of each task as the method meets them; Joint meets them all at once."""
    tasks = plan.spec.task_classes()
    return [sum(tasks, [])] if plan.learner_type.one_task else tasks


def _learn(
    plan: Plan, learner: Learner, data: Data, watch: dict[str, float], progress: bool
) -> list[Tensor]:
    """Train through all tasks; the test scores after each, [stages][n, classes]."""
    stages = []
    for task, classes in enumerate(tasks_of(plan)):
        mine = data.train.of_classes(classes)
        with _timed(watch, "train"):
            learner.start_task(classes)
            for x, y in tqdm(
                task_stream(plan, mine, task),
                total=plan.iterations,
                desc=f"{plan.method} task {task + 1}",
                disable=not progress,
                leave=False,
            ):
                learner.observe(x, y)
            learner.end_task(mine)
        if not learner.independent_classes:
            with _timed(watch, "predict"):
                stages.append(learner.scores(data.test.x).cpu())
    return stages


def _outcome(
    plan: Plan,
    learner: Learner,
    data: Data,
    stages: list[Tensor],
    watch: dict[str, float],
) -> dict[str, Any]:
    """Accuracies of every stage, and what the generative classifier adds."""
    y = data.test.y.cpu()
    extra: dict[str, Any] = {}
    if isinstance(learner, GenerativeClassifier):
        with _timed(watch, "predict"):
            grid = sample_grid(learner.settings.samples)
            by_samples = learner.scores_by_samples(data.test.x, grid)
        by_samples = {s: scores.cpu() for s, scores in by_samples.items()}
        stages = _masked_stages(by_samples[grid[-1]], tasks_of(plan))
        extra = _samples_report(by_samples, y, learner.settings.likelihood)
    return _accuracies(plan, stages, y) | extra


def _accuracies(plan: Plan, stages: list[Tensor], y: Tensor) -> dict[str, Any]:
    tasks, met = plan.spec.task_classes(), tasks_of(plan)
    predicted = [metrics.predict(scores) for scores in stages]
    seen = [sum(met[: i + 1], []) for i in range(len(met))]
    last = predicted[-1]

    def row(i: int, value: Any) -> list[float | None]:
        return [value(i, t) if set(t) <= set(seen[i]) else None for t in tasks]

    per_stage = range(len(stages))
    confusions = [
        metrics.confusion(predicted[i], y, plan.spec.classes, seen[i])
        for i in per_stage
        if plan.spec.classes <= 20 or i == len(stages) - 1
    ]
    return {
        "accuracy": metrics.class_mean(last, y),
        "accuracy_plain": metrics.accuracy(last, y),
        "accuracy_by_task_mean": metrics.task_mean(last, y, tasks),
        "accuracy_over_tasks": [metrics.over(predicted[i], y, seen[i]) for i in per_stage],
        "accuracy_matrix": [
            row(i, lambda i, t: metrics.over(predicted[i], y, t)) for i in per_stage
        ],
        "accuracy_matrix_within_task": [
            row(i, lambda i, t: metrics.within(stages[i], y, t)) for i in per_stage
        ],
        "confusion": confusions,
    }


def _masked_stages(scores: Tensor, tasks: list[list[int]]) -> list[Tensor]:
    """Earlier stages of independent classes: columns of classes still to come are -inf."""
    stages = []
    for i in range(len(tasks)):
        later = sum(tasks[i + 1 :], [])
        stages.append(scores.index_fill(1, torch.tensor(later).long(), -torch.inf))
    return stages


def _samples_report(
    by_samples: dict[int, Tensor], y: Tensor, likelihood: str
) -> dict[str, Any]:
    index = torch.linspace(0, len(y) - 1, EXAMPLES).round().long()
    posterior = {
        str(s): [[round(p, 4) for p in row] for row in v[index].softmax(1).tolist()]
        for s, v in by_samples.items()
    }
    return {
        "by_samples": {
            str(s): metrics.class_mean(metrics.predict(v), y) for s, v in by_samples.items()
        },
        "examples": {"index": index.tolist(), "posterior": posterior},
        "estimator": likelihood,
    }


def _keep_bank(learner: Learner, path: Path) -> dict[str, str]:
    if not isinstance(learner, GenerativeClassifier):
        raise BadInput(
            f"only a generative classifier has a bank to keep, not {learner.title}"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    learner.bank.save_weights(path)
    return {"file": path.name, "sha256": sha256(path.read_bytes()).hexdigest()}


def sample_grid(samples: int) -> list[int]:
    """1, 3, 10, 30, ... up to and including S."""
    steps = [m * 10**e for e in range(len(str(samples))) for m in (1, 3)]
    return sorted({s for s in steps if s < samples} | {samples})


@contextmanager
def _timed(watch: dict[str, float], name: str) -> Iterator[None]:
    start = perf_counter()
    yield
    watch[name] += perf_counter() - start


@contextmanager
def _threads(n: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(n)
    try:
        yield
    finally:
        torch.set_num_threads(before)
