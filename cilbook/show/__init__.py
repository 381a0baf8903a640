"""Figures and interactive widgets of the book."""

from cilbook.show.curves import Curve
from cilbook.show.forgetting import accuracy_matrices, forgetting_curves
from cilbook.show.plots import accuracy_over_samples, grey, images
from cilbook.show.style import colour, use
from cilbook.show.widgets import (
    Examples,
    ForgettingPlayer,
    LatentExplorer,
    SExplorer,
    SStudy,
    StreamPainter,
    StrengthExplorer,
    StrengthStudy,
)

__all__ = [
    "Curve",
    "Examples",
    "ForgettingPlayer",
    "LatentExplorer",
    "SExplorer",
    "SStudy",
    "StreamPainter",
    "StrengthExplorer",
    "StrengthStudy",
    "accuracy_matrices",
    "accuracy_over_samples",
    "colour",
    "forgetting_curves",
    "grey",
    "images",
    "use",
]
