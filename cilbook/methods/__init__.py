"""The methods, by the names of the command line."""

from cilbook.methods.ar1 import AR1
from cilbook.methods.base import Learner, Settings
from cilbook.methods.cwr import CWR, CWRPlus
from cilbook.methods.ewc import EWC
from cilbook.methods.generative_classifier import GenerativeClassifier
from cilbook.methods.labels_trick import LabelsTrick
from cilbook.methods.none import FineTuning, Joint
from cilbook.methods.si import SI
from cilbook.methods.slda import SLDA

METHODS: dict[str, type[Learner]] = {
    "none": FineTuning,
    "joint": Joint,
    "ewc": EWC,
    "si": SI,
    "cwr": CWR,
    "cwr+": CWRPlus,
    "ar1": AR1,
    "labels-trick": LabelsTrick,
    "slda": SLDA,
    "gc": GenerativeClassifier,
}

__all__ = ["METHODS", "Learner", "Settings"]
