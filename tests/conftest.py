"""What tests may need from the machine, and what happens when it is absent."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch: small tests, busy machines

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from playwright.sync_api import Browser, Locator, Page, sync_playwright

ROOT = Path(__file__).parents[1]
HTML = ROOT / "_build" / "html"
NEEDS = {"browser", "colab", "mnist", "cifar10", "cifar100"}
CHROMIUM_FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE = 10 * 60 * 1000  # milliseconds: a busy machine is slow, not broken

Need = Callable[[str, str], None]


def required() -> set[str]:
    """Return the needs that CILBOOK_REQUIRE lists."""
    return set(filter(None, os.environ.get("CILBOOK_REQUIRE", "").split(",")))


def pytest_configure() -> None:
    """Refuse a misspelt need: it would otherwise require nothing."""
    if unknown := required() - NEEDS:
        raise pytest.UsageError(
            f"CILBOOK_REQUIRE names {', '.join(sorted(unknown))}; "
            f"known: {', '.join(sorted(NEEDS))}"
        )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a test that asks for `page_name` every page, for `move` both ways to move.

    All tests of one page follow each other, whatever file they stand in: a browser opens
    it once.
    """
    if "page_name" in metafunc.fixturenames:
        metafunc.parametrize("page_name", read_page_names(), scope="session")
    if "move" in metafunc.fixturenames:
        metafunc.parametrize("move", [by_keyboard, by_dragging])


def by_keyboard(slider: Locator, position: int) -> None:
    """Go to the first position and step right from there."""
    slider.press("Home")
    for _ in range(position):
        slider.press("ArrowRight")


def by_dragging(slider: Locator, position: int) -> None:
    """Take the slider by its thumb and pull it to a position."""
    slider.scroll_into_view_if_needed()
    box, last = slider.bounding_box(), int(slider.get_attribute("max"))
    mouse, y, thumb = slider.page.mouse, box["y"] + box["height"] / 2, 16

    def place(n: int) -> float:
        return box["x"] + thumb / 2 + n / last * (box["width"] - thumb)

    mouse.move(place(int(slider.input_value())), y)
    mouse.down()
    mouse.move(place(position), y, steps=4)
    mouse.up()


def read_page_names() -> list[str]:
    """List the book's pages in reading order, without suffix."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text())
    entries = [entry for part in toc["parts"] for entry in part["chapters"]]
    pages = [page for entry in entries for page in [entry, *entry.get("sections", [])]]
    return [toc["root"], *(page["file"] for page in pages)]


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the folder of the clone."""
    return ROOT


@pytest.fixture(scope="session")
def page_names() -> list[str]:
    """Return the names of the book's pages in reading order."""
    return read_page_names()


@pytest.fixture(scope="session")
def need() -> Need:
    """Return `need(name, reason)`: skip for want of it, or fail if it is required."""

    def need(name: str, reason: str) -> None:
        assert name in NEEDS
        if name in required():
            pytest.fail(f"{reason} (CILBOOK_REQUIRE lists {name})")
        pytest.skip(reason)

    return need


@pytest.fixture(scope="session")
def when_required() -> Need:
    """Return `when_required(name, reason)`: skip unless CILBOOK_REQUIRE lists it."""

    def when_required(name: str, reason: str) -> None:
        assert name in NEEDS
        if name not in required():
            pytest.skip(f"{reason}; CILBOOK_REQUIRE={name} runs it")

    return when_required


@pytest.fixture(scope="session")
def html(need: Need) -> Path:
    """Return the folder of the built pages."""
    if not (HTML / "index.html").exists():
        need("browser", "there are no built pages; run `make book` first")
    return HTML


@pytest.fixture(scope="session")
def page_file(html: Path) -> Callable[[str], Path]:
    """Return a function from a page's name to its HTML file."""
    return lambda name: html / f"{name}.html"


@pytest.fixture(scope="session")
def browser(need: Need) -> Iterator[Browser]:
    """Start Chromium, shared by all tests."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        need("browser", "Chromium is not installed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def new_page(browser: Browser) -> Callable[..., Page]:
    """Return a function that opens an empty, patient page of the shared browser."""

    def new_page(**options: object) -> Page:
        page = browser.new_page(**options)
        page.set_default_timeout(PATIENCE)
        return page

    return new_page
