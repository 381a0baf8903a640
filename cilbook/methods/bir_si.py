r"""Brain-inspired replay with synaptic intelligence on what classifies.

    L = L_BI-R + c sum_{i in encoder, classifier} Omega_i (theta_i - theta_i^prev)^2

The penalty must leave the generator alone: held in place by it, the decoder, the latent
heads and the prior would stay where the first task left them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from torch import nn

from cilbook.methods.bir import BIR, BIRSettings
from cilbook.methods.si import SI, SISettings


@dataclass(frozen=True)
class BIRSISettings(BIRSettings, SISettings):
    """Settings of both."""

    def __post_init__(self) -> None:
        BIRSettings.__post_init__(self)
        SISettings.__post_init__(self)


class BIRSI(SI, BIR):
    """BI-R under SI.

    >>> from cilbook.benchmarks import BENCHMARKS
    >>> student = BIRSI(BENCHMARKS["digits"], BIRSISettings(), 0, "cpu")
    >>> held = {id(weight) for weight in student.guarded()}
    >>> names = [name for name, w in student.net.named_parameters() if id(w) in held]
    >>> sorted({name.split(".")[0] for name in names})
    ['body', 'classifier']
    """

    title = "BI-R + SI"
    settings_type = BIRSISettings
    why_boundaries = BIR.why_boundaries

    def guarded(self) -> Iterable[nn.Parameter]:
        """The weights that the penalty holds: encoder and classifier."""
        return [*self.net.body.parameters(), *self.net.classifier.parameters()]
