import pytest
import torch

from cilbook.experiments import metrics

Y = torch.tensor([0, 0, 0, 1, 2, 3])
PREDICTED = torch.tensor([0, 0, 1, 1, 3, 3])


def test_the_three_accuracies_differ_on_an_unbalanced_test_set():
    tasks = [[0, 1], [2, 3]]
    assert metrics.accuracy(PREDICTED, Y) == pytest.approx(100 * 4 / 6)
    assert metrics.class_mean(PREDICTED, Y) == pytest.approx(100 * (2 / 3 + 1 + 0 + 1) / 4)
    assert metrics.task_mean(PREDICTED, Y, tasks) == pytest.approx(
        100 * (3 / 4 + 1 / 2) / 2
    )


def test_within_restricts_the_choice_to_the_tasks_classes():
    scores = torch.tensor([[1.0, 0.0, 9.0, 0.0], [0.0, 1.0, 0.0, 9.0]])
    y = torch.tensor([0, 1])
    assert metrics.over(metrics.predict(scores), y, [0, 1]) == 0
    assert metrics.within(scores, y, [0, 1]) == 100


def test_confusion_counts_true_by_predicted_for_the_classes_seen():
    counts = metrics.confusion(PREDICTED, Y, 4, [0, 1])
    assert counts == [[2, 1, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
