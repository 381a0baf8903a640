"""The methods, by the names of the command line."""

from cilbook.methods.base import Learner, Settings
from cilbook.methods.generative_classifier import GenerativeClassifier
from cilbook.methods.none import FineTuning, Joint
from cilbook.methods.slda import SLDA

METHODS: dict[str, type[Learner]] = {
    "none": FineTuning,
    "joint": Joint,
    "slda": SLDA,
    "gc": GenerativeClassifier,
}

__all__ = ["METHODS", "Learner", "Settings"]
