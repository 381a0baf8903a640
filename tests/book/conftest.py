"""The book's sources and settings, as the tests of chapters and pages need them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import nbformat
import pytest
import yaml
from nbformat import NotebookNode
from playwright.sync_api import ConsoleMessage, Page
from pybtex.database import BibliographyData, parse_file

ROOT = Path(__file__).parents[2]
BOOK = ROOT / "book"
NOTEBOOKS = sorted(BOOK.glob("*.ipynb"))
CHAPTERS = sorted(BOOK.glob("[0-9][0-9]-*.ipynb"))
SOURCES = sorted([*BOOK.glob("*.md"), *NOTEBOOKS])


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a test that asks for one of these every such file of the book in turn."""
    wanted = {"path": CHAPTERS, "any_notebook": NOTEBOOKS, "source": SOURCES}
    for name in wanted.keys() & set(metafunc.fixturenames):
        metafunc.parametrize(name, wanted[name], ids=lambda path: path.stem)


@cache
def read(path: Path) -> NotebookNode:
    """Read a notebook as it is committed."""
    return nbformat.read(path, as_version=nbformat.NO_CONVERT)


@pytest.fixture
def notebook(path: Path) -> NotebookNode:
    """Return each chapter in turn."""
    return read(path)


@pytest.fixture
def code(notebook: NotebookNode) -> list[NotebookNode]:
    """Return the code cells of each chapter in turn."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


@pytest.fixture
def prose(source: Path) -> str:
    """Return the words of each page's source in turn; of a notebook its captions too."""
    if source.suffix == ".md":
        return source.read_text()
    return "\n\n".join(word for cell in read(source).cells for word in words_of(cell))


def words_of(cell: NotebookNode) -> list[str]:
    """Return what a reader reads of a cell that was not computed."""
    if cell.cell_type == "markdown":
        return [cell.source]
    options = cell.metadata.get("mystnb", {})
    return [
        options.get("figure", {}).get("caption", ""),
        options.get("image", {}).get("alt", ""),
    ]


@pytest.fixture(scope="session")
def settings() -> dict:
    """Return what _config.yml says."""
    return yaml.safe_load((ROOT / "_config.yml").read_text())


@pytest.fixture(scope="session")
def address(settings: dict) -> str:
    """Return the one address of the book's repository."""
    return settings["repository"]["url"]


@pytest.fixture(scope="session")
def bibliography() -> BibliographyData:
    """Return what the book can cite."""
    return parse_file(str(BOOK / "references.bib"))


@dataclass
class Visit:
    """A page of the browser, with what it asked for and complained of since it opened."""

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
        self.errors.clear()
        self.requests.clear()
        self.page.goto(address)
        self.page.evaluate("window.MathJax?.startup.promise.then(() => true)")


@pytest.fixture(scope="session")
def reader(new_page: Callable[..., Page]) -> Iterator[Visit]:
    """Open one page of the browser, in which all pages of the book are read."""
    visit = Visit(new_page())
    yield visit
    visit.page.close()


@pytest.fixture(scope="session")
def visit(reader: Visit, page_name: str, page_file: Callable[[str], Path]) -> Visit:
    """Open each page of the book in turn, once for all tests."""
    reader.page.set_viewport_size({"width": 1280, "height": 900})
    reader.open(page_file(page_name).as_uri())
    return reader


@pytest.fixture
def opened(visit: Visit) -> Page:
    """Return each page in turn, wide and light, as a reader first sees it."""
    visit.page.set_viewport_size({"width": 1280, "height": 900})
    visit.page.evaluate("document.documentElement.dataset.theme = 'light'")
    return visit.page
