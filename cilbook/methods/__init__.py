"""The methods, by the names of the command line."""

from cilbook.methods.ar1 import AR1
from cilbook.methods.base import Learner, Settings
from cilbook.methods.bir import BIR
from cilbook.methods.bir_si import BIRSI
from cilbook.methods.cwr import CWR, CWRPlus
from cilbook.methods.dgr import DGR
from cilbook.methods.ewc import EWC
from cilbook.methods.gen_samples import GenSamples
from cilbook.methods.generative_classifier import GenerativeClassifier
from cilbook.methods.labels_trick import LabelsTrick
from cilbook.methods.none import FineTuning, Joint
from cilbook.methods.si import SI
from cilbook.methods.slda import SLDA

METHODS: dict[str, type[Learner]] = {
    "none": FineTuning,
    "joint": Joint,
    "dgr": DGR,
    "bir": BIR,
    "bir-si": BIRSI,
    "ewc": EWC,
    "si": SI,
    "cwr": CWR,
    "cwr+": CWRPlus,
    "ar1": AR1,
    "labels-trick": LabelsTrick,
    "slda": SLDA,
    "gc": GenerativeClassifier,
    "gen-samples": GenSamples,
}

__all__ = ["METHODS", "Learner", "Settings"]
