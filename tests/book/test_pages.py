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


@cache
def parse(file: Path) -> BeautifulSoup:
    """Parse an HTML file, once for all tests."""
    return BeautifulSoup(file.read_text(encoding="utf-8"), "html.parser")


def loaded_by(page: BeautifulSoup) -> list[str]:
    """List the addresses that a browser loads of its own accord for this page."""
    tags = page.find_all(LOADING)
    addresses = [tag.get(key) for tag in tags for key in LOADING[tag.name]]
    styles = [style.text for style in page.find_all("style")]
    styles += [tag["style"] for tag in page.find_all(style=True)]
    return [a for a in addresses if a] + CSS_ADDRESS.findall("\n".join(styles))


def clean(tag: Tag) -> str:
    """Return a tag's text with single blanks."""
    return " ".join(tag.text.split())


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


def external_links(page: BeautifulSoup) -> list[str]:
    """List the links in a page's text that leave the book."""
    hrefs = [tag["href"] for tag in page.select("article a[href]")]
    return [href for href in hrefs if urlsplit(href).scheme or is_elsewhere(href)]


def launchers(page: BeautifulSoup, host: str) -> list[str]:
    """List the links of a page's frame that open it on this host."""
    hrefs = [tag["href"] for tag in page.find_all("a", href=True)]
    return [href for href in hrefs if href.startswith(host)]


def image_is_described(image: Tag) -> bool:
    """Tell whether an image has a text of its own and stands above a caption."""
    figure = image.find_parent("figure")
    return bool(image.get("alt")) and bool(figure and figure.find("figcaption"))


def test_it_shows_no_traceback(page):
    assert "Traceback (most recent call last)" not in page.text
    assert not page.select(".output.traceback")


def test_it_shows_no_warning(page):
    assert not page.select(".output.stderr")


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


def test_its_links_out_of_the_book_stand_in_the_bibliography(page, bibliography):
    known = set()
    for entry in bibliography.entries.values():
        known |= {entry.fields.get("url"), f"https://doi.org/{entry.fields.get('doi')}"}
    assert not [link for link in external_links(page) if link not in known]


def test_its_citations_lead_to_the_bibliography(page, bibliography):
    cited = page.select("article a[href*='bibliography.html#']")
    assert not [tag.text for tag in cited if "?" in tag.text]
    assert not re.search(r"\{cite(:\w+)?\}|\{(doc|term|ref|numref)\}", page.article.text)


def test_a_notebooks_page_opens_it_in_colab_and_binder(page, page_name, settings, root):
    repository, launch = settings["repository"], settings["launch_buttons"]
    owner, branch = urlsplit(repository["url"]).path, repository["branch"]
    file = f"{page_name}.ipynb"
    colab = f"{launch['colab_url']}/github{owner}/blob/{branch}/{file}"
    binder = f"{launch['binderhub_url']}/v2/gh{owner}/{branch}?urlpath=lab/tree/{file}"
    there = (root / file).exists()
    assert set(launchers(page, launch["colab_url"])) == ({colab} if there else set())
    assert set(launchers(page, launch["binderhub_url"])) == ({binder} if there else set())


def test_a_page_with_results_says_how_they_were_made(page, page_name, root):
    if not (root / f"{page_name}.ipynb").exists():
        return
    (banner,) = page.select("article .cil-banner")
    assert re.search(
        r"(Computed for this page in \d+ s|Read from \d+ stored runs):", clean(banner)
    )
    for what in ("data ", "budget ", "seed", "device "):
        assert what in clean(banner)


def test_a_chapters_results_tell_its_own_runs_from_stored_ones(page, page_name):
    if not re.match(r"book/\d\d-", page_name):
        return
    tables = page.select("section#results table")
    assert any("made here" in t.text and "stored" in t.text for t in tables)


def test_its_figures_have_a_caption_and_a_text_for_those_who_cannot_see(page):
    images = page.select(".cell_output img")
    assert not [tag["src"][-40:] for tag in images if not image_is_described(tag)]


def test_the_front_page_has_a_picture_the_main_table_and_three_ways_on(
    page_file, page_names
):
    front = parse(page_file(page_names[0])).article
    assert front.select("figure img[alt]")
    assert "paper" in front.select_one("section:has(> h2) table").text
    heads = [clean(head).rstrip("#") for head in front.select("h2")]
    assert [head for head in heads if head in ("Read", "Run", "Reproduce")] == [
        *("Read", "Run", "Reproduce")
    ]


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
