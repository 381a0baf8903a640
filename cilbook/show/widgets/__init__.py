"""Interactive figures with two faces, live and static; one file per figure.

`explorer` holds what they share; `controls`, `elements`, `tables`, `plot` and `pictures`
are what they are made of.
"""

from cilbook.show.widgets.examples import Examples
from cilbook.show.widgets.explorer import WIDGET_VIEW, Explorer
from cilbook.show.widgets.forgetting import ForgettingPlayer
from cilbook.show.widgets.latent import LatentExplorer
from cilbook.show.widgets.s_explorer import SExplorer, SStudy
from cilbook.show.widgets.stream import StreamPainter
from cilbook.show.widgets.strength import StrengthExplorer, StrengthStudy

__all__ = [
    "WIDGET_VIEW",
    "Examples",
    "Explorer",
    "ForgettingPlayer",
    "LatentExplorer",
    "SExplorer",
    "SStudy",
    "StreamPainter",
    "StrengthExplorer",
    "StrengthStudy",
]
