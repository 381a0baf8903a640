"""The latent explorer: stored grids, and images decoded live."""

import re
from base64 import b64decode
from io import BytesIO

import numpy as np
import pytest
import torch
from bs4 import BeautifulSoup
from PIL import Image

from cilbook.benchmarks import BENCHMARKS
from cilbook.nets.initialise import build
from cilbook.nets.vae import dense_vae
from cilbook.random import stream
from cilbook.show import LatentExplorer
from cilbook.show.widgets.walk import steepest

POSITIONS = [-2.0, 0.0, 2.0]
SHAPES = [(6, 5), (4, 4, 3)]
SHADE = 1 / 126 + 1 / 510  # half a shade of a sheet, and half of a byte


def grid(shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random((3, 3, *shape))


def cropped(svg) -> np.ndarray:
    """The pixels that an SVG element shows, from its picture and its view."""
    png = b64decode(svg.image["href"].removeprefix("data:image/png;base64,"))
    left, top, width, height = map(int, svg["viewbox"].split())
    pixels = np.asarray(Image.open(BytesIO(png))) / 255
    return pixels[top : top + height, left : left + width]


def parse(element) -> BeautifulSoup:
    return BeautifulSoup(element.html(), "html.parser")


@pytest.mark.parametrize("shape", SHAPES)
def test_every_position_shows_its_own_image(shape):
    grids = {3: grid(shape), "cat": grid(shape, 1)}
    explorer = LatentExplorer(grids, POSITIONS)
    for label, images in grids.items():
        for i, j in np.ndindex(3, 3):
            place = {"first": POSITIONS[j], "second": POSITIONS[i]}
            values = {"label": str(label)} | place
            svg = parse(explorer.panels[0].draw(values, None)).svg
            np.testing.assert_allclose(cropped(svg), images[i, j], atol=SHADE)


def test_the_frame_moves_right_with_the_first_and_up_with_the_second_dimension():
    explorer = LatentExplorer({3: grid((6, 5))}, POSITIONS)

    def frame(x: float, y: float) -> list[float]:
        values = {"label": "3", "first": x, "second": y}
        rect = parse(explorer.panels[1].draw(values, None)).rect
        return [float(n) for n in re.findall(r"[\d.]+", rect["transform"])]

    assert frame(-2, -2) == [0, 12]
    assert frame(2, -2) == [10, 12]
    assert frame(-2, 2) == [0, 0]


def test_the_words_give_the_place_the_brightness_and_the_change():
    images = np.zeros((3, 3, 4, 4))
    images[2, 0] = 0.5
    explorer = LatentExplorer({7: images}, POSITIONS, dimensions=("z4", "z9"))
    text = explorer.panels[0].text({"label": "7", "first": -2.0, "second": 2.0}, None)
    assert text == (
        "class 7 at z4 = −2, z9 = 2 · mean pixel 0.50 · change from the centre 0.50"
    )


def test_the_table_gives_centre_and_ends():
    images = np.full((3, 3, 4, 4), 0.2)
    images[1, 0], images[1, 2], images[0, 1], images[2, 1] = 0.3, 0.4, 0.5, 0.6
    table = LatentExplorer({7: images}, POSITIONS).tables[0]
    assert table.heads == ["class", "centre", "z1 = −2", "z1 = 2", "z2 = −2", "z2 = 2"]
    assert table.rows[0].cells == ["0.20", "0.10", "0.20", "0.30", "0.40"]


def test_the_live_face_decodes_at_places_between_the_stored_ones():
    asked = []

    def decode(label, z):
        asked.append((label, z))
        return np.full((4, 4), 0.25)

    explorer = LatentExplorer({7: np.zeros((3, 3, 4, 4))}, POSITIONS, decode)
    explorer._repr_mimebundle_()
    assert asked == []  # nothing is decoded before a slider moves
    explorer.face.controls["first"].value = 0.5
    assert asked == [(7, (0.5, 0.0))]
    soup = BeautifulSoup(explorer.face.view.value, "html.parser")
    assert soup.output.get_text() == (
        "class 7 at z1 = 0.5, z2 = 0 · mean pixel 0.25 · change from the centre 0.25"
        " · decoded now"
    )
    np.testing.assert_allclose(cropped(soup.svg), 0.25, atol=SHADE)


def test_from_decoder_decodes_first_across_and_second_up():
    def decode(label, z):
        return np.full((2, 2), (z[0] + 10 * z[1] + 50) / 100)

    explorer = LatentExplorer.from_decoder(decode, [0], POSITIONS)
    assert explorer.grids["0"].images[0, 2, 0, 0] == pytest.approx((2 - 20 + 50) / 100)
    assert explorer.face.controls["first"].options[1] == ("−1.5", -1.5)


def test_a_walk_leaves_the_centre_where_the_image_changes_most():
    vae = build(lambda: dense_vae([64, 20], 6), stream(0, "net"))
    directions = steepest(vae)
    torch.testing.assert_close(directions @ directions.T, torch.eye(2))
    others = torch.linalg.qr(torch.randn(6, 6))[0]

    def change(along):
        return (vae.decode(along) - vae.decode(-along)).square().sum(1)

    assert change(directions)[0] > change(others).max()
    assert change(directions)[0] > change(directions)[1]


def test_from_vaes_decodes_along_both_directions_and_undoes_the_normalisation():
    spec = BENCHMARKS["cifar10"]
    vae = build(spec.class_vae, stream(0, "net")).eval()
    explorer = LatentExplorer.from_vaes({"cat": (vae, spec.as_images)}, [-2, 0, 1])
    first, second = steepest(vae)
    expected = spec.as_images(vae.decode((-2 * first + second)[None]))[0]
    grid = explorer.grids["cat"].images
    np.testing.assert_allclose(grid[2, 0], expected, atol=1e-5)
    explorer.face.controls["first"].value = -1.5
    assert "u1 = −1.5, u2 = 0" in explorer.face.view.value
    assert "decoded now" in explorer.face.view.value


def test_grey_and_colour_sheets_stay_small():
    coarse = np.random.default_rng(0).random((9, 9, 7, 7, 3)).repeat(4, 2).repeat(4, 3)
    grids = {label: coarse[..., 0] for label in range(10)}
    assert len(LatentExplorer(grids, np.linspace(-3, 3, 9)).html()) < 500_000


@pytest.mark.parametrize(
    ("grids", "positions", "message"),
    [
        ({}, POSITIONS, "grids is empty"),
        ({7: np.zeros((3, 3, 4, 4))}, [0], "positions must be two or more increasing"),
        ({7: np.zeros((3, 3, 4, 4))}, [0, 0, 1], r"increasing numbers, got \[0.0, 0.0, 1"),
        ({7: np.zeros((3, 3, 4))}, POSITIONS, r"grids\['7'\] must be \[n1, n2, height, w"),
        ({7: np.zeros((2, 3, 4, 4))}, POSITIONS, r"is 2 by 3 images, expected 3 by 3"),
        ({7: np.full((3, 3, 4, 4), 255)}, POSITIONS, r"values in \[0, 1\], got 255 to 255"),
        ({7: np.full((3, 3, 4, 4), np.nan)}, POSITIONS, "got nan to nan"),
        ({7: [["a"]]}, POSITIONS, r"grids\['7'\] is not an array of numbers"),
    ],
)
def test_grids_that_do_not_fit_give_a_precise_error(grids, positions, message):
    with pytest.raises(ValueError, match=message):
        LatentExplorer(grids, positions)


def test_a_decoder_that_gives_another_shape_is_refused_and_the_reader_told():
    explorer = LatentExplorer(
        {7: np.zeros((3, 3, 4, 4))}, POSITIONS, lambda label, z: np.zeros((2, 2))
    )
    with pytest.raises(
        ValueError, match=r"decode gave shape \(2, 2\), the grid has \(4, 4\)"
    ):
        explorer.face.controls["first"].value = 2.0
    assert "decode gave shape" in explorer.face.view.value
