"""Figures and interactive widgets of the book."""

from cilbook.show.curves import Curve
from cilbook.show.plots import accuracy_over_samples, images
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
    "accuracy_over_samples",
    "colour",
    "images",
    "use",
]
