"""Accuracies from scores: plain, by class, by task, within a task; confusion counts."""

from __future__ import annotations

import torch
from torch import Tensor


def predict(scores: Tensor, allowed: list[int] | None = None) -> Tensor:
    """The best class of each row, among those allowed."""
    if allowed is None:
        return scores.argmax(1)
    return torch.tensor(allowed)[scores[:, allowed].argmax(1)]


def accuracy(predicted: Tensor, y: Tensor) -> float:
    """Per cent correct."""
    return 100 * (predicted == y).double().mean().item()


def class_mean(predicted: Tensor, y: Tensor) -> float:
    """Per cent correct of each class, then the mean over classes."""
    return _mean([accuracy(predicted[y == c], y[y == c]) for c in y.unique().tolist()])


def over(predicted: Tensor, y: Tensor, classes: list[int]) -> float:
    """Per cent correct on the test images of these classes."""
    rows = torch.isin(y, torch.tensor(classes))
    return accuracy(predicted[rows], y[rows])


def within(scores: Tensor, y: Tensor, classes: list[int]) -> float:
    """As `over`, with the choice restricted to these classes."""
    rows = torch.isin(y, torch.tensor(classes))
    return accuracy(predict(scores[rows], classes), y[rows])


def task_mean(predicted: Tensor, y: Tensor, tasks: list[list[int]]) -> float:
    """The unweighted mean over tasks."""
    return _mean([over(predicted, y, classes) for classes in tasks])


def confusion(
    predicted: Tensor, y: Tensor, classes: int, seen: list[int]
) -> list[list[int]]:
    """Counts [true][predicted] on the test images of the classes seen so far."""
    rows = torch.isin(y, torch.tensor(seen))
    cells = torch.bincount(y[rows] * classes + predicted[rows], minlength=classes**2)
    return cells.view(classes, classes).tolist()


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)
