import pytest
import torch

from cilbook.benchmarks import BENCHMARKS

SPEC = BENCHMARKS["digits"]


@pytest.fixture(scope="session")
def teach():
    """A function that takes a learner through the first tasks of digits, in few steps."""
    train = SPEC.load(None).train

    def taught(student, tasks: int = 2, steps: int = 4):
        for classes in SPEC.task_classes()[:tasks]:
            data = train.of_classes(classes)
            student.start_task(classes)
            for i in range(steps):
                student.observe(*data.batch(torch.arange(16 * i, 16 * i + 16)))
            student.end_task(data)
        return student

    return taught
