"""The static faces in Chromium, over file://: controls moved, pictures compared."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Locator, Page

from cilbook.show import (
    Curve,
    Examples,
    ForgettingPlayer,
    LatentExplorer,
    SExplorer,
    SStudy,
    StreamPainter,
    StrengthExplorer,
    StrengthStudy,
)
from cilbook.show.style import COLOURS
from cilbook.show.widgets import Explorer

SAME_PICTURE = """(panel, html) => {
    const shown = panel.firstElementChild.cloneNode(true);
    const expected = document.createElement("div");
    expected.innerHTML = html;
    [shown, ...shown.querySelectorAll("*")].forEach((e) => delete e.dataset.slot);
    return shown.isEqualNode(expected.firstElementChild);
}"""
TABLES = """(tables) => tables.map((table) => [
    table.checkVisibility(),
    [...table.querySelectorAll("tbody tr")].map((r) => r.classList.contains("cil-current")),
])"""
CONTRAST = """(cell) => {
    const canvas = document.createElement("canvas").getContext("2d");
    function light(colour) {
        canvas.fillStyle = colour;
        canvas.fillRect(0, 0, 1, 1);
        const linear = [...canvas.getImageData(0, 0, 1, 1).data.slice(0, 3)].map((v) =>
            v <= 10 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] + 0.05;
    }
    const style = getComputedStyle(cell);
    const pair = [light(style.color), light(style.backgroundColor)];
    return Math.max(...pair) / Math.min(...pair);
}"""
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Figures</title>
<meta name="viewport" content="width=device-width"><style>{}</style></head>
<body class="bd-content"><div class="cell_output"><div class="output text_html">{}</div>
</div></body></html>"""
THEME = """body { margin: 0 auto; max-width: 45rem; padding: 0 1rem; }
.bd-content div.output table { table-layout: auto; }
div.cell_output table tbody th { min-width: 9em; }
table { margin: 1em auto; border: 1px solid; } tbody tr:nth-child(odd) { background: #eee; }
"""  # what the book's theme does to tables, and what a figure must withstand


def curve(*accuracy: float) -> Curve:
    return Curve("gc", list(accuracy), [1.0] * len(accuracy), "#D55E00")


def s_explorer() -> SExplorer:
    noise = np.random.default_rng(0)
    few = {s: noise.dirichlet(np.ones(10), 3) for s in (1, 10, 100)}
    many = {s: noise.dirichlet(np.ones(30), 2) for s in (1, 10)}
    shown = Examples([0, 5, 9], few, noise.random((3, 8, 8)), [1, 2, 3])
    studies = {
        "digits": SStudy([1, 10, 100], [curve(60, 80, 90)], shown),
        "large": SStudy([1, 10], [curve(30, 40)], Examples([7, 8], many)),
        "bare": SStudy([1, 3, 10, 30], [curve(1, 2, 3, 4)]),
    }
    return SExplorer.over(studies)


def run(method: str, stages: int = 3) -> dict[str, Any]:
    noise = np.random.default_rng(len(method))
    accuracy = noise.uniform(0, 100, (stages, 3)).tolist()
    if stages > 1:
        accuracy = [row[: i + 1] + [None] * (2 - i) for i, row in enumerate(accuracy)]
    return {
        "method": method,
        "config": {"class_order": noise.permutation(6).tolist()},
        "accuracy_matrix": accuracy,
        "confusion": noise.integers(0, 40, (stages, 6, 6)).tolist(),
    }


def forgetting_player() -> ForgettingPlayer:
    return ForgettingPlayer(
        {"None": run("none"), "SI": run("si"), "Joint": run("joint", 1)}
    )


def latent_explorer() -> LatentExplorer:
    noise = np.random.default_rng(0)
    grids = {"7": noise.random((3, 3, 8, 8)), "cat": noise.random((3, 3, 8, 8, 3))}
    return LatentExplorer(grids, [-2, 0, 2])


def stream_painter() -> StreamPainter:
    return StreamPainter(list(range(5)) * 60, [0, 20, 60, inf])


def strength_explorer() -> StrengthExplorer:
    ewc = StrengthStudy("ewc", [0, 1, 10, 100], [0, 20, 40, 60], [99, 95, 80, 10], "λ")
    si = StrengthStudy("si", [0.1, 1], [10, 30], [90, 70], "c")
    return StrengthExplorer({"EWC": ewc, "SI": si})


EXPLORERS = {
    make.__name__: make()
    for make in (
        s_explorer,
        forgetting_player,
        latent_explorer,
        stream_painter,
        strength_explorer,
    )
}


@dataclass
class Visit:
    """An open page, with what it asked for and complained of."""

    page: Page
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def open(self, file: Path, explorers: list[Explorer]) -> None:
        """Write these explorers on a page and go there."""
        file.write_text(PAGE.format(THEME, "\n".join(e.html() for e in explorers)), "utf-8")
        self.page.on("console", lambda message: self.errors.append(message.text))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(file.as_uri())


@pytest.fixture(scope="module")
def visit(
    new_page: Callable[..., Page], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Visit]:
    """Open a page with one explorer of each kind, and each a second time."""
    visit = Visit(new_page(viewport={"width": 900, "height": 800}))
    twice = [*EXPLORERS.values(), *EXPLORERS.values()]
    visit.open(tmp_path_factory.mktemp("page") / "figures.html", twice)
    yield visit
    visit.page.close()


@pytest.fixture(params=list(EXPLORERS))
def shown(request: pytest.FixtureRequest, visit: Visit) -> tuple[Explorer, Locator]:
    """Return each explorer in turn, and where it stands on the page."""
    name = request.param
    element = visit.page.locator(".cil-explorer").nth(list(EXPLORERS).index(name))
    for select in element.locator("select").all():
        select.select_option(index=0)
    return EXPLORERS[name], element


def chosen(explorer: Explorer, element: Locator) -> dict[str, Any]:
    """The values that the controls on the page stand at."""
    values: dict[str, Any] = {}
    controls = element.locator("select, input").all()
    for control, part in zip(explorer.controls, controls, strict=True):
        values[control.name] = control.choices(values)[int(part.input_value())]
    return values


def check(explorer: Explorer, element: Locator) -> None:
    """Words, pictures, tables and what a screen reader is told, against the data."""
    values = chosen(explorer, element)
    panels = element.locator(".cil-panel").all()
    for panel, part in zip(explorer.panels, panels, strict=True):
        assert part.locator("output").text_content() == panel.text(values, None)
        assert part.evaluate(SAME_PICTURE, panel.draw(values, None).html()), values
    for control, part in zip(
        explorer.controls, element.locator("label").all(), strict=True
    ):
        if part.locator("input").count():
            caption = control.caption(values[control.name])
            assert part.locator(".cil-value").text_content() == caption
            told = part.locator("input").get_attribute("aria-valuetext")
            assert told == f"{caption}; {explorer.text(values)}"
    check_tables(explorer, element, values)


def check_tables(explorer: Explorer, element: Locator, values: dict[str, Any]) -> None:
    """Those of what is chosen are in sight, with the current rows marked."""
    place = {
        c.name: list(c.choices(values)).index(values[c.name]) for c in explorer.controls
    }

    def is_current(at: list[dict[str, int]]) -> bool:
        return any(all(place[k] == n for k, n in spot.items()) for spot in at)

    expected = [
        [not table.at or is_current(table.at), [is_current(row.at) for row in table.rows]]
        for table in explorer.tables
    ]
    assert element.locator(".cil-tables table").evaluate_all(TABLES) == expected


def test_the_page_opens_without_an_error_and_asks_for_nothing(visit):
    assert visit.errors == []
    assert [url for url in visit.requests if not url.startswith("data:")] == [
        visit.page.url
    ]


def test_the_first_position_is_right(shown):
    check(*shown)


def test_every_slider_shows_the_numbers_of_its_data(shown, move):
    explorer, element = shown
    for slider in element.locator("input").all():
        last = int(slider.get_attribute("max"))
        for position in (last, last // 2, 0):
            move(slider, position)
            assert slider.input_value() == str(position)
            check(explorer, element)


def test_every_choice_shows_the_numbers_of_its_data(shown):
    explorer, element = shown
    for select in element.locator("select").all():
        for option in reversed(range(select.locator("option").count())):
            select.select_option(index=option)
            check(explorer, element)


def test_a_choice_can_be_made_from_the_keyboard(visit):
    element = visit.page.locator(".cil-explorer").first
    select = element.locator("select")
    select.select_option(index=0)
    select.press("ArrowDown")
    assert select.input_value() == "1"
    check(EXPLORERS["s_explorer"], element)


def test_a_slider_keeps_its_value_from_one_benchmark_to_another(visit):
    element = visit.page.locator(".cil-explorer").first
    select, slider = element.locator("select"), element.locator("input")
    select.select_option(label="digits")
    slider.press("Home")
    slider.press("ArrowRight")
    select.select_option(label="bare")
    assert (slider.input_value(), slider.get_attribute("max")) == ("2", "3")
    slider.press("End")  # 30, which the others lack
    select.select_option(label="large")
    assert (slider.input_value(), slider.get_attribute("max")) == ("1", "1")
    check(EXPLORERS["s_explorer"], element)


def test_moving_one_leaves_its_twin_alone(shown, visit):
    explorer, element = shown
    everything = visit.page.locator(".cil-explorer")
    twin = everything.nth(list(EXPLORERS.values()).index(explorer) + len(EXPLORERS))
    before = twin.inner_html()
    element.locator("input").last.press("ArrowRight")
    assert twin.inner_html() == before


def test_controls_are_reached_by_tab_in_their_order(shown):
    _, element = shown
    controls = element.locator("select, input").all()
    controls[0].focus()
    for control in controls:
        assert control.evaluate("e => e === document.activeElement")
        control.press("Tab")
    tables = element.locator(".cil-tables")
    assert tables.evaluate("e => e === document.activeElement")


def test_they_fit_a_telephone_and_letters_stay_legible(new_page, tmp_path):
    visit = Visit(new_page(viewport={"width": 390, "height": 844}))
    visit.open(tmp_path / "figures.html", list(EXPLORERS.values()))
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= 390
    texts = visit.page.locator("svg.cil-plot text:not(:empty)")
    sizes = texts.evaluate_all("all => all.map((t) => t.getBoundingClientRect().height)")
    assert len(sizes) > 50 and min(sizes) >= 11
    visit.page.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_counts_are_legible_in_the_colour_of_every_method(new_page, tmp_path, theme):
    player = ForgettingPlayer({method: run(method) for method in COLOURS})
    visit = Visit(new_page())
    visit.open(tmp_path / "figures.html", [player])
    ground = "--pst-color-on-background:#222832;--pst-color-text-base:#ced6dd"
    if theme == "dark":  # as the book's theme sets it
        visit.page.evaluate(
            f"document.documentElement.dataset.theme = 'dark';"
            f"document.documentElement.style = '{ground}'"
        )
    cell = visit.page.locator(".cil-cell").first
    for method in COLOURS:
        visit.page.locator("select").first.select_option(label=method)
        cell.evaluate("cell => { cell.style.setProperty('--share', '1') }")
        assert cell.evaluate(CONTRAST) >= 4.5, method
    visit.page.close()


def test_all_cells_of_a_matrix_have_one_width_inside_the_theme(visit):
    cells = visit.page.locator(".cil-matrix").first.locator("tbody td")
    widths = cells.evaluate_all("cells => cells.map((c) => c.offsetWidth)")
    assert max(widths) - min(widths) <= 1


def test_without_a_script_figure_and_all_tables_are_there_and_no_dead_control(
    new_page, tmp_path
):
    visit = Visit(new_page(java_script_enabled=False))
    visit.open(tmp_path / "figures.html", list(EXPLORERS.values()))
    assert not any(c.is_visible() for c in visit.page.locator("select, input").all())
    assert all(t.is_visible() for t in visit.page.locator(".cil-tables table").all())
    assert all(o.text_content() for o in visit.page.locator("output").all())
    visit.page.close()
