"""Small pictures inside a page: arrays as PNG data, shown by an SVG element."""

from __future__ import annotations

from base64 import b64encode
from io import BytesIO
from typing import Any

import numpy as np
from PIL import Image

from cilbook.show.widgets.elements import Element, tag

SHADES = 64  # of each colour on a sheet of images


def as_images(name: str, images: Any, axes: int) -> np.ndarray:
    """Images as floats [..., height, width] or [..., height, width, 3], checked.

    `axes` counts the axes before height and width.

    >>> as_images("grid", np.zeros((2, 8, 8)), 1).shape
    (2, 8, 8)
    """
    try:
        array = np.asarray(images, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} is not an array of numbers: {error}") from None
    colour = array.ndim == axes + 3 and array.shape[-1] == 3
    if not (array.ndim == axes + 2 or colour) or 0 in array.shape:
        lead = "".join(f"n{k + 1}, " for k in range(axes))
        raise ValueError(
            f"{name} must be [{lead}height, width] or [{lead}height, width, 3], "
            f"got shape {array.shape}"
        )
    if not (array.min() >= 0 and array.max() <= 1):
        raise ValueError(
            f"{name} must hold values in [0, 1], got {array.min():g} to {array.max():g}"
        )
    return array


def png(image: np.ndarray) -> str:
    """An image [height, width] or [height, width, 3] in [0, 1] as a data address.

    >>> png(np.zeros((8, 8)))[:22]
    'data:image/png;base64,'
    """
    pixels = np.round(255 * image).astype(np.uint8)
    buffer = BytesIO()
    Image.fromarray(pixels).save(buffer, "png")
    return "data:image/png;base64," + b64encode(buffer.getvalue()).decode("ascii")


def sprite(grid: np.ndarray) -> str:
    """Images [rows, columns, height, width(, 3)] on one sheet, as a data address.

    Fewer shades than a screen can show, but no eye tells, and a fifth less to load.
    """
    rows, columns, height, width = grid.shape[:4]
    sheet = grid.swapaxes(1, 2).reshape(rows * height, columns * width, *grid.shape[4:])
    return png(np.round(sheet * (SHADES - 1)) / (SHADES - 1))


def picture(
    address: str, size: tuple[int, int], view: tuple[int, int, int, int], label: str
) -> Element:
    """The part `view` (left, top, width, height) of a picture of this (width, height)."""
    image = tag("image", href=address, width=size[0], height=size[1])
    return tag(
        "svg",
        image,
        class_="cil-picture",
        viewBox=" ".join(map(str, view)),
        role="img",
        aria_label=label,
    )
