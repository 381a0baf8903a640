"""The built pages, read as files: whole, small, self-contained, with live links."""

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

import pytest
from bs4 import BeautifulSoup, Tag

LOADING = {
    "audio": ["src"],
    "embed": ["src"],
    "iframe": ["src"],
    "img": ["src", "srcset"],
    "link": ["href"],
    "object": ["data"],
    "script": ["src"],
    "source": ["src", "srcset"],
    "video": ["src", "poster"],
}
CSS_ADDRESS = re.compile(r"""(?:url\(|@import)\s*["']?([^"')\s]+)""")
MEGABYTE = 2**20


@pytest.fixture
def file(page_name: str, page_file: Callable[[str], Path]) -> Path:
    """Return the HTML file of each page in turn."""
    return page_file(page_name)


@pytest.fixture
def page(file: Path) -> BeautifulSoup:
    """Return each page in turn, parsed."""
    return parse(file)


def parse(file: Path) -> BeautifulSoup:
    """Parse an HTML file."""
    return BeautifulSoup(file.read_text(encoding="utf-8"), "html.parser")


def loaded_by(page: BeautifulSoup) -> list[str]:
    """List the addresses that a browser loads of its own accord for this page."""
    tags = page.find_all(LOADING)
    addresses = [tag.get(key) for tag in tags for key in LOADING[tag.name]]
    styles = [style.text for style in page.find_all("style")]
    styles += [tag["style"] for tag in page.find_all(style=True)]
    return [a for a in addresses if a] + CSS_ADDRESS.findall("\n".join(styles))


def is_elsewhere(address: str) -> bool:
    """Tell whether an address names a host."""
    return bool(urlsplit(address).netloc)


@cache
def anchors(file: Path) -> set[str]:
    """Return every place in a page that a link can lead to."""
    return {tag["id"] for tag in parse(file).find_all(id=True)}


def internal_links(page: BeautifulSoup) -> list[str]:
    """List the links of a page that stay in the book."""
    hrefs = [tag["href"] for tag in page.find_all("a", href=True)]
    return [h for h in hrefs if not urlsplit(h).scheme and not is_elsewhere(h)]


def image_is_described(image: Tag) -> bool:
    """Tell whether an image has a text of its own and stands above a caption."""
    figure = image.find_parent("figure")
    return bool(image.get("alt")) and bool(figure and figure.find("figcaption"))


def test_it_shows_no_traceback(page):
    assert "Traceback (most recent call last)" not in page.text
    assert not page.select(".output.traceback")


def test_it_loads_nothing_from_another_host(page):
    assert not [address for address in loaded_by(page) if is_elsewhere(address)]


def test_it_is_small(file, page):
    images = {file.parent / unquote(tag["src"]) for tag in page.select("article img")}
    assert sum(part.stat().st_size for part in {file, *images}) <= 3 * MEGABYTE


def test_its_links_within_the_book_lead_somewhere(file, page):
    dead = []
    for href in internal_links(page):
        address, anchor = map(unquote, urldefrag(href))
        target = (file.parent / urlsplit(address).path) if address else file
        found = target.is_file()
        if found and anchor and target.suffix == ".html":
            found = anchor in anchors(target.resolve())
        if not found:
            dead.append(href)
    assert not dead


def test_its_figures_have_a_caption_and_a_text_for_those_who_cannot_see(page):
    images = page.select(".cell_output img")
    assert not [tag["src"][-40:] for tag in images if not image_is_described(tag)]


def test_the_front_door_leads_to_the_first_page(html, page_names):
    refresh = parse(html / "index.html").find("meta", attrs={"http-equiv": "Refresh"})
    assert refresh["content"].endswith(f"url={page_names[0]}.html")


@pytest.mark.parametrize(
    "markup",
    [
        '<script src="https://example.org/a.js"></script>',
        '<img src="//example.org/a.png">',
        "<style>@import 'https://example.org/a.css'</style>",
        '<p style="background: url(https://example.org/a.png)"></p>',
    ],
)
def test_a_request_to_another_host_is_recognised(markup):
    page = BeautifulSoup(markup, "html.parser")
    assert [address for address in loaded_by(page) if is_elsewhere(address)]
