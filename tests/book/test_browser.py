"""The built pages in Chromium, over file://, as a reader without a network has them."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Locator, Page

HARMLESS = [
    # sphinx-thebe puts its settings on a page twice, even when thebe is off
    "Identifier 'THEBE_JS_URL' has already been declared",
]
SET_VALUE = """(slider, value) => {
    slider.value = value;
    slider.dispatchEvent(new Event("input", {bubbles: true}));
}"""


@dataclass
class Visit:
    """An open page, with what it asked for and complained of since it was opened."""

    page: Page
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("console", self.note)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))

    def note(self, message: ConsoleMessage) -> None:
        """Keep a console message if it is an error."""
        if message.type == "error":
            self.errors.append(message.text)

    def open(self, address: str) -> None:
        """Go to an address and wait until its maths, if any, is set."""
        self.page.goto(address)
        self.page.evaluate("window.MathJax?.startup.promise.then(() => true)")


@pytest.fixture(scope="module")
def visit(
    html: Path, browser: Browser, page_name: str, page_file: Callable[[str], Path]
) -> Iterator[Visit]:
    """Open each page in turn, once for all tests."""
    visit = Visit(browser.new_page())
    visit.open(page_file(page_name).as_uri())
    yield visit
    visit.page.close()


def move_by_keyboard(slider: Locator, position: int) -> None:
    """Go to the first position and step right from there."""
    slider.press("Home")
    for _ in range(position):
        slider.press("ArrowRight")


def move_by_value(slider: Locator, position: int) -> None:
    """Set the position as a script or an assistive tool does."""
    slider.evaluate(SET_VALUE, position)


def test_it_opens_without_an_error(visit):
    assert not [e for e in visit.errors if not any(h in e for h in HARMLESS)]


def test_it_asks_nothing_of_another_host(visit):
    local = ("file:", "data:", "blob:")
    assert visit.requests
    assert not [url for url in visit.requests if not url.startswith(local)]


def test_its_maths_is_set(visit):
    formulas = visit.page.locator(".math")
    assert formulas.count() == visit.page.locator(".math:has(mjx-container)").count()
    assert visit.page.locator("mjx-merror").count() == 0


def words_carried(explorer: Locator) -> list[str]:
    """The words that an explorer carries for where its controls stand, panel by panel."""
    carried = explorer.locator("script[type='application/json']").text_content()
    data = json.loads(carried)
    places = [c.input_value() for c in explorer.locator("select, input").all()]
    found = []
    for panel in data["panels"]:
        position = " ".join(places[k] for k in panel["follows"])
        number = panel["texts"][panel["positions"].index(position)]
        found.append(data["words"][number])
    return found


@pytest.mark.parametrize("move", [move_by_keyboard, move_by_value])
def test_its_sliders_show_the_numbers_they_carry(visit, move):
    for explorer in visit.page.locator(".cil-explorer").all():
        for slider in explorer.locator("input[type=range]").all():
            last = int(slider.get_attribute("max"))
            for position in (last, last // 2, 0):
                move(slider, position)
                shown = explorer.locator("output").all_text_contents()
                assert slider.input_value() == str(position)
                assert shown == words_carried(explorer)


def test_its_choices_show_the_numbers_they_carry(visit):
    for explorer in visit.page.locator(".cil-explorer").all():
        for select in explorer.locator("select").all():
            for option in reversed(range(select.locator("option").count())):
                select.select_option(index=option)
                shown = explorer.locator("output").all_text_contents()
                assert shown == words_carried(explorer)


def test_it_fits_a_telephone(visit):
    visit.page.set_viewport_size({"width": 390, "height": 844})
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_search_finds_a_chapter(html, browser):
    visit = Visit(browser.new_page())
    visit.open((html / "search.html").as_uri() + "?q=generative")
    visit.page.locator("#search-results li a").first.wait_for(timeout=10_000)
    visit.page.close()
