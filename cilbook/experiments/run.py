"""One run: a method learns a benchmark's tasks and is tested after each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from tqdm.auto import tqdm

from cilbook.benchmarks import Data, Images, streams
from cilbook.errors import BadInput
from cilbook.experiments import evaluation
from cilbook.experiments.checkpoint import INTERVAL, Checkpoint, Progress
from cilbook.experiments.provenance import code_sha256, now, provenance
from cilbook.experiments.request import Plan, Request
from cilbook.likelihood.engine import SAMPLERS
from cilbook.methods import Learner
from cilbook.methods.generative_classifier import GenerativeClassifier


def run(
    request: Request | Plan,
    *,
    device: str = "auto",
    threads: int = 1,
    data_dir: Path | None = None,
    progress: bool = False,
    keep_bank: Path | None = None,
    work: Path | None = None,
    interval: float = INTERVAL,
) -> dict[str, Any]:
    """Carry out one run and describe it as the store keeps it.

    `keep_bank` names a file for the weights of a generative classifier's VAEs. With a
    folder for its `work`, the run writes a checkpoint there every `interval` seconds,
    and goes on from the one it finds.
    """
    plan = request if isinstance(request, Plan) else request.resolve()
    where = check_machine(device, threads)
    if keep_bank is not None and not issubclass(plan.learner_type, GenerativeClassifier):
        title = plan.learner_type.title
        raise BadInput(f"only a generative classifier has a bank to keep, not {title}")
    with _threads(threads):
        data = load(plan, data_dir, where)
        spec = plan.spec.prepared(data_dir)
        learner = plan.learner_type(spec, plan.settings, plan.seed, where)
        origin = provenance(data.sha256, where, threads)
        checkpoint = Checkpoint(work, _maker(plan, origin), interval)
        done = checkpoint.resume(learner)
        _learn(plan, learner, data, done, checkpoint, progress)
        outcome = _outcome(plan, learner, data, done, checkpoint, progress)
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
        "seconds": {name: round(value, 3) for name, value in done.seconds.items()},
        "parameters": {"trainable": learner.trainable, "frozen": plan.spec.frozen},
        "provenance": origin | {"created": now()},
    }


def _maker(plan: Plan, origin: dict[str, Any]) -> dict[str, Any]:
    """All that must be the same for a run to be continued to the same numbers."""
    names = ("data_sha256", "device", "cpu", "threads", "versions")
    same = {name: origin[name] for name in names}
    return {"identity": plan.identity, "code": code_sha256(), **same}


def check_machine(device: str, threads: int) -> torch.device:
    """The device to run on, once device and threads are known to make sense."""
    if threads < 1:
        raise BadInput(f"threads must be at least 1, got {threads}")
    return choose_device(device)


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


def training_tasks(plan: Plan) -> list[list[int]]:
    """The classes that are learned at the same time.

    Classes that share nothing, not even a stream, are all learned side by side: it makes
    no difference to any of them, and is faster.
    """
    apart = plan.learner_type.independent_classes and plan.view == "per_class"
    return [sum(plan.tasks, [])] if apart else plan.tasks


def task_stream(
    plan: Plan, data: Images, task: int, start: int = 0
) -> Iterator[tuple[Tensor, Tensor]]:
    """A task's mini-batches from `start` on, in the view that the method consumes."""
    batch, count = plan.settings.batch, plan.iterations
    where = {"seed": plan.seed, "start": start}
    if plan.view == "single_pass":
        return streams.single_pass(data, batch, task=task, **where)
    if plan.view == "per_class":
        return streams.per_class(data, batch, count, **where)
    return streams.iterations(data, batch, count, task=task, **where)


def _learn(
    plan: Plan,
    learner: Learner,
    data: Data,
    done: Progress,
    checkpoint: Checkpoint,
    progress: bool,
) -> None:
    """Train through the tasks that are not done; keep the test scores after each."""
    for task, classes in enumerate(training_tasks(plan)[done.task :], start=done.task):
        mine = data.train.of_classes(classes)
        if done.iteration == 0:
            learner.start_task(classes)
        for x, y in tqdm(
            task_stream(plan, mine, task, start=done.iteration),
            initial=done.iteration,
            total=plan.iterations,
            desc=f"{plan.method} task {task + 1}",
            disable=not progress,
            leave=False,
        ):
            learner.observe(x, y)
            done.iteration += 1
            checkpoint.keep(learner, done, "train")
        learner.between_steps = lambda: checkpoint.keep(learner, done, "train")
        learner.end_task(mine)
        done.spent("train")
        if not learner.independent_classes:
            done.stages.append(learner.scores(data.test.x).cpu())
            done.spent("predict")
        done.task, done.iteration = task + 1, 0
        checkpoint.keep(learner, done, "train")


def _outcome(
    plan: Plan,
    learner: Learner,
    data: Data,
    done: Progress,
    checkpoint: Checkpoint,
    progress: bool,
) -> dict[str, Any]:
    """Accuracies of every stage, and what the generative classifier adds."""
    y = data.test.y.cpu()
    if not isinstance(learner, GenerativeClassifier):
        return evaluation.accuracies(plan, done.stages, y)
    way, samples = learner.estimator, learner.settings.samples
    grid = evaluation.sample_grid(samples) if way in SAMPLERS else [samples]
    with tqdm(desc="likelihoods", disable=not progress, leave=False) as bar:
        for partial in learner.likelihoods(data.test.x, grid, done.likelihoods):
            done.likelihoods, bar.total = partial, partial.total
            bar.update(partial.done - bar.n)
            checkpoint.keep(learner, done, "predict")
    by_samples = {s: v.cpu() for s, v in learner.with_prior(partial).items()}
    done.spent("predict")
    stages = evaluation.masked_stages(by_samples[grid[-1]], plan.tasks)
    report = evaluation.samples_report(by_samples, y)
    if way not in SAMPLERS:
        report["by_samples"] = None
    return evaluation.accuracies(plan, stages, y) | report | {"estimator": way}


def _keep_bank(learner: GenerativeClassifier, path: Path) -> dict[str, str]:
    learner.bank.save_weights(path)
    return {"file": path.name, "sha256": sha256(path.read_bytes()).hexdigest()}


@contextmanager
def _threads(n: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(n)
    try:
        yield
    finally:
        torch.set_num_threads(before)
