"""What is learned: data sets, streams, and one spec per benchmark."""

from cilbook.benchmarks.digits import DIGITS
from cilbook.benchmarks.spec import Data, Images, Spec, class_order

BENCHMARKS: dict[str, Spec] = {spec.name: spec for spec in (DIGITS,)}

__all__ = ["BENCHMARKS", "Data", "Images", "Spec", "class_order"]
