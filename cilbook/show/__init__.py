"""Figures and interactive widgets of the book."""

from cilbook.show.class_models import heatmap, loss_curves
from cilbook.show.curves import Curve
from cilbook.show.forgetting import accuracy_matrices, forgetting_curves, output_curves
from cilbook.show.mosaics import image_sets, images
from cilbook.show.penalties import landscape, two_questions
from cilbook.show.plots import (
    accuracy_over_samples,
    error_over_samples,
    margin_histograms,
)
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
    "error_over_samples",
    "forgetting_curves",
    "heatmap",
    "image_sets",
    "images",
    "landscape",
    "loss_curves",
    "margin_histograms",
    "output_curves",
    "two_questions",
    "use",
]
