"""From test scores to the numbers of a run: accuracies of every stage, and at every S."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from cilbook.errors import RunFailed
from cilbook.experiments import metrics
from cilbook.experiments.request import Plan

EXAMPLES = 24  # test rows whose posteriors are kept, evenly spread over the test set


def accuracies(plan: Plan, stages: list[Tensor], y: Tensor) -> dict[str, Any]:
    """What the stages' scores [n, classes] say about the test labels y."""
    if any(scores.isnan().any() for scores in stages):
        raise RunFailed(
            "training diverged, scores are not numbers; a smaller learning rate may help"
        )
    tasks, met = plan.spec.task_classes(), plan.tasks
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


def masked_stages(scores: Tensor, tasks: list[list[int]]) -> list[Tensor]:
    """Earlier stages of independent classes: columns of classes still to come are -inf."""
    stages = []
    for i in range(len(tasks)):
        later = sum(tasks[i + 1 :], [])
        stages.append(scores.index_fill(1, torch.tensor(later).long(), -torch.inf))
    return stages


def samples_report(by_samples: dict[int, Tensor], y: Tensor) -> dict[str, Any]:
    """What the generative classifier adds: its accuracy and some posteriors at each S."""
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
    }


def sample_grid(samples: int) -> list[int]:
    """1, 3, 10, 30, ... up to and including S."""
    steps = [m * 10**e for e in range(len(str(samples))) for m in (1, 3)]
    return sorted({s for s in steps if s < samples} | {samples})
