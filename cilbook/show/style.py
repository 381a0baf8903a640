"""One place for how figures look: a colour per method and the matplotlib style.

The colours start from Okabe and Ito's palette, one hue per family of methods. Any two
stay apart for readers with deutan or protan vision, and each has a contrast of at
least 3 on white. Figures have a white ground of their own, so they read well on light
and on dark pages.
"""

from contextlib import AbstractContextManager

import matplotlib as mpl
import numpy as np
from matplotlib.colors import to_hex, to_rgb

COLOURS = {
    "none": "#6B6B66",
    "joint": "#1A1A1A",
    "dgr": "#2199EE",
    "bir": "#0072B2",
    "bir-si": "#1B3A7A",
    "ewc": "#75863B",
    "si": "#5C5E27",
    "cwr": "#CC79A7",
    "cwr+": "#A2437F",
    "ar1": "#6B1F57",
    "labels-trick": "#A586C9",
    "slda": "#A19531",
    "gc": "#D55E00",
    "gen-samples": "#7D2F00",
    "ppca": "#009E73",
    "mppca": "#00563F",
}

INK, MUTED, GRID = "#222832", "#5A6472", "#E4E7EB"

STYLE = {
    "figure.dpi": 120,
    "figure.facecolor": "white",
    "figure.constrained_layout.use": True,
    "axes.facecolor": "white",
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.spines.left": False,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 11,
    "axes.labelsize": 10,
    "font.size": 10,
    "text.color": INK,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "lines.linewidth": 2,
    "lines.markersize": 5,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "ytick.left": False,
    "xtick.minor.size": 0,
    "legend.frameon": False,
}


def use() -> AbstractContextManager[None]:
    """Apply the book's matplotlib style inside a ``with`` block."""
    return mpl.rc_context(STYLE)


def colour(method: str) -> str:
    """The colour a method keeps through the whole book.

    >>> colour("gc")
    '#D55E00'
    """
    if method not in COLOURS:
        raise ValueError(f"no colour for {method!r}; methods: {', '.join(COLOURS)}")
    return COLOURS[method]


def ink(colour: str) -> str:
    """A darker shade of a colour: words in it have a contrast of 4.5 on white."""
    return to_hex(0.7 * np.array(to_rgb(colour)))
