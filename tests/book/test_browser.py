"""The built pages in Chromium, over file://, as a reader without a network has them."""

import json
import re

from playwright.sync_api import Locator

from cilbook.benchmarks import BENCHMARKS
from cilbook.experiments.obtain import committed_runs
from cilbook.experiments.tables import by_samples

HARMLESS = [
    # sphinx-thebe puts its settings on a page twice, even when thebe is off
    "Identifier 'THEBE_JS_URL' has already been declared",
]
# What a panel shows that differs from what the page carries for where its controls stand.
WRONG_PARTS = """(panel, [data, position, words]) => {
    const n = data.positions.indexOf(position);
    const changing = panel.querySelectorAll("[data-slot]");
    const shows = (element, attribute, word) => {
        if (attribute === "text") return element.textContent === word;
        if (attribute !== "html") return element.getAttribute(attribute) === word;
        const twin = element.cloneNode(false);
        twin.innerHTML = word;
        return element.isEqualNode(twin);
    };
    const wrong = ([k, attribute, numbers]) =>
        !shows(changing[k], attribute, words[numbers[n]]);
    const name = ([k, attribute]) => `${position}: ${changing[k].tagName} ${attribute}`;
    return data.slots.filter(wrong).map(name);
}"""


def test_it_opens_without_an_error(visit):
    assert not [e for e in visit.errors if not any(h in e for h in HARMLESS)]


def test_the_pages_beside_the_book_open_without_an_error(html, reader):
    for name in ("search.html", "genindex.html"):
        reader.open((html / name).as_uri())
        test_it_opens_without_an_error(reader)
        test_it_asks_nothing_of_another_host(reader)


def test_it_asks_nothing_of_another_host(visit):
    local = ("file:", "data:", "blob:")
    assert visit.requests
    assert not [url for url in visit.requests if not url.startswith(local)]


def test_its_maths_is_set(visit):
    formulas = visit.page.locator(".math")
    assert formulas.count() == visit.page.locator(".math:has(mjx-container)").count()
    assert visit.page.locator("mjx-merror").count() == 0


def check(explorer: Locator) -> None:
    """Compare words and picture of every panel with what the page carries for them."""
    data = json.loads(explorer.locator("script[type='application/json']").text_content())
    places = [c.input_value() for c in explorer.locator("select, input").all()]
    panels = explorer.locator(".cil-panel").all()
    for panel, stored in zip(panels, data["panels"], strict=True):
        position = " ".join(places[k] for k in stored["follows"])
        number = stored["texts"][stored["positions"].index(position)]
        assert panel.locator("output").text_content() == data["words"][number]
        assert panel.evaluate(WRONG_PARTS, [stored, position, data["words"]]) == []


def test_the_chapters_have_something_to_play_with(page_name, opened):
    if re.match(r"book/\d\d-", page_name):
        assert opened.locator(".cil-explorer input[type=range]").count()


def test_the_price_of_s_is_that_of_the_stored_runs(html, new_page):
    page = new_page()
    page.goto((html / "book" / "10-price-of-s.html").as_uri())
    runs = committed_runs("mnist", "gc", "paper")
    title = BENCHMARKS["mnist"].title
    page.locator(".cil-explorer select").select_option(label=title)
    slider = page.locator(".cil-explorer input[type=range]")
    for s, (mean, error) in by_samples(runs).items():
        shown = page.locator(".cil-explorer output").first.text_content()
        assert shown.startswith(f"S = {s:,} ·")
        assert f"{mean:.1f} ± {error:.1f}%" in shown
        slider.press("ArrowRight")
    page.close()


def test_its_sliders_show_what_they_carry(opened, move):
    for explorer in opened.locator(".cil-explorer").all():
        for slider in explorer.locator("input[type=range]").all():
            last = int(slider.get_attribute("max"))
            for position in (last, last // 2, 0):
                move(slider, position)
                assert slider.input_value() == str(position)
                check(explorer)


def test_its_choices_show_what_they_carry(opened):
    for explorer in opened.locator(".cil-explorer").all():
        for select in explorer.locator("select").all():
            for option in reversed(range(select.locator("option").count())):
                select.select_option(index=option)
                check(explorer)


def test_it_fits_a_telephone(opened):
    opened.set_viewport_size({"width": 390, "height": 844})
    assert opened.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_search_finds_a_chapter(html, new_page):
    page = new_page()
    page.goto((html / "search.html").as_uri() + "?q=generative")
    page.locator("#search-results li a").first.wait_for()
    page.close()
