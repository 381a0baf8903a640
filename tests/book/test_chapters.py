"""Every committed chapter keeps the book's form: what can be read off the notebook."""

import inspect
import re
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from cilbook.show import plots

BOOK = Path(__file__).parents[2] / "book"
PLOTS = [
    name
    for name, function in inspect.getmembers(plots, inspect.isfunction)
    if function.__module__ == plots.__name__ and not name.startswith("_")
]
FIGURE = re.compile(
    r"\bplt\.(?:show|subplots|figure|plot|imshow)\("
    rf"|(?:\b(?:show|plots)\.|(?<![\w.]))(?:{'|'.join(PLOTS)})\("
)
PERCENTAGE = re.compile(r"\d\.\d+[\s\\,~]*(?:%|per\s?cent)")


@pytest.fixture(params=sorted(BOOK.glob("*.ipynb")), ids=lambda path: path.stem)
def path(request: pytest.FixtureRequest) -> Path:
    """Return the path of each chapter in turn."""
    return request.param


@pytest.fixture
def notebook(path: Path) -> NotebookNode:
    """Return each chapter in turn."""
    return nbformat.read(path, as_version=nbformat.NO_CONVERT)


@pytest.fixture
def code(notebook: NotebookNode) -> list[NotebookNode]:
    """Return the code cells of each chapter in turn."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def unmarked_percentages(text: str) -> list[str]:
    """List sentences with a decimal percentage that do not say it is the paper's."""
    sentences = re.split(r"(?<=[.!?])\s+|\n\s*\n|\n(?=\s*[-*|])", text)
    return [s for s in sentences if PERCENTAGE.search(s) and "paper" not in s.lower()]


def test_the_table_of_contents_lists_exactly_the_chapters(page_names):
    chapters = [name for name in page_names if name != "book/index"]
    assert sorted(chapters) == sorted(f"book/{p.stem}" for p in BOOK.glob("*.ipynb"))


def test_its_file_name_starts_with_its_number(path, notebook):
    assert re.fullmatch(r"\d\d-[a-z0-9]+(-[a-z0-9]+)*\.ipynb", path.name)
    assert notebook.cells[0].source.startswith(f"# {int(path.name[:2])} ")


def test_it_is_committed_without_outputs(code):
    assert not [cell.id for cell in code if cell.outputs or cell.execution_count]


def test_its_cells_have_ids_of_their_own(notebook):
    ids = [cell.get("id") for cell in notebook.cells]
    assert None not in ids
    assert len(set(ids)) == len(ids)


def test_its_first_code_cell_holds_the_parameters(code):
    tagged = [cell for cell in code if "parameters" in cell.metadata.get("tags", [])]
    assert tagged == code[:1]


def test_its_code_is_short_enough_to_read(code):
    assert not [cell.id for cell in code if len(cell.source.splitlines()) > 30]
    lines = [line for cell in code for line in cell.source.splitlines()]
    assert not [line for line in lines if len(line) > 79]


def test_its_figures_have_a_caption_and_a_text_for_those_who_cannot_see(code):
    for cell in filter(lambda cell: FIGURE.search(cell.source), code):
        options = cell.metadata.get("mystnb", {})
        assert options.get("figure", {}).get("caption", "").strip(), cell.id
        assert options.get("figure", {}).get("name", "").startswith("fig-"), cell.id
        assert options.get("image", {}).get("alt", "").strip(), cell.id


def test_it_ends_with_exercises_and_a_summary(notebook):
    text = "\n".join(c.source for c in notebook.cells if c.cell_type == "markdown")
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert {"Exercises", "Summary"} <= set(headings)


def test_its_prose_has_no_percentage_typed_by_hand(notebook):
    prose = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    assert not [line for text in prose for line in unmarked_percentages(text)]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("We reach 93.8 % here.", 1),
        (r"We reach $93.8\,\%$. The paper says 93.7 %.", 1),
        ("- The paper: 93.8 %\n- We: 93.9%", 1),
        ("The paper reports 93.8 % for S = 10 000.", 0),
        ("A tenth of them, 10 %, with a step of 0.1.", 0),
    ],
)
def test_a_percentage_typed_by_hand_is_told_from_the_papers(text, count):
    assert len(unmarked_percentages(text)) == count


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("fig, ax = plt.subplots()", True),
        ("accuracy_over_samples(samples, curves)", True),
        ("show.images(grid)", True),
        ("batch.images(3)\nplt.rcParams", False),
    ],
)
def test_a_cell_that_makes_a_figure_is_recognised(source, expected):
    assert bool(FIGURE.search(source)) == expected
