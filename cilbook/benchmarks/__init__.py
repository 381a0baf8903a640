"""What is learned: data sets, streams, and one spec per benchmark."""

from cilbook.benchmarks.cifar10 import CIFAR10
from cilbook.benchmarks.cifar100 import CIFAR100
from cilbook.benchmarks.core50 import CORE50
from cilbook.benchmarks.digits import DIGITS
from cilbook.benchmarks.mnist import MNIST
from cilbook.benchmarks.spec import Data, Images, Spec, class_order

BENCHMARKS: dict[str, Spec] = {
    spec.name: spec for spec in (DIGITS, MNIST, CIFAR10, CIFAR100, CORE50)
}

__all__ = ["BENCHMARKS", "Data", "Images", "Spec", "class_order"]
