"""Every committed chapter keeps the book's form: what can be read off the notebook."""

import ast
import re
from importlib import import_module
from inspect import getmembers, isfunction
from pkgutil import iter_modules
from typing import get_type_hints

import pytest
from matplotlib.figure import Figure
from nbformat import NotebookNode

from cilbook import show

PARAMETERS = {"benchmark": str, "budget": str, "seeds": int, "device": str}
# What every setup cell begins with. A notebook alone in an empty folder has nothing but
# itself to find the library by, so the address stands in the cell.
INSTALL = """\
import importlib.util
import os

if importlib.util.find_spec("cilbook") is None:  # on Colab, say
    origin = "git+{address}"
    origin = os.environ.get("CILBOOK_INSTALL", origin)
    %pip install --quiet "{{origin}}"
"""
FOLDED = {"hide-input", "hide-cell", "hide-output"}
PLOTS = {
    name
    for module in iter_modules(show.__path__, "cilbook.show.")
    for name, function in getmembers(import_module(module.name), isfunction)
    if get_type_hints(function).get("return") is Figure and not name.startswith("_")
}
FIGURE = re.compile(
    r"\bplt\.(?:show|subplots|figure|plot|imshow)\("
    rf"|(?:\b(?:show|plots)\.|(?<![\w.]))(?:{'|'.join(sorted(PLOTS))})\("
)


def text_of(cells: list[NotebookNode]) -> str:
    """Return the markdown of these cells."""
    return "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def is_folded(cell: NotebookNode) -> bool:
    """Tell whether a reader must click to see this cell, or something in it."""
    if cell.cell_type == "code":
        return bool(FOLDED & set(cell.metadata.get("tags", [])))
    return bool(re.search(r"\{dropdown\}|:class:.*\bdropdown\b", cell.source))


def test_its_file_name_starts_with_its_number(path, notebook):
    assert re.fullmatch(r"\d\d-[a-z0-9]+(-[a-z0-9]+)*\.ipynb", path.name)
    assert notebook.cells[0].source.startswith(f"# {int(path.name[:2])} ")


def test_it_is_committed_without_outputs(code):
    assert not [cell.id for cell in code if cell.outputs or cell.execution_count]


def test_its_cells_have_ids_of_their_own(notebook):
    ids = [cell.get("id") for cell in notebook.cells]
    assert None not in ids
    assert len(set(ids)) == len(ids)


def test_its_first_code_cell_holds_the_parameters_with_their_types(code):
    tagged = [cell for cell in code if "parameters" in cell.metadata.get("tags", [])]
    assert tagged == code[:1]
    lines = ast.parse(code[0].source).body
    typed = {line.target.id: line for line in lines if isinstance(line, ast.AnnAssign)}
    assert typed.keys() >= PARAMETERS.keys()
    for name, kind in PARAMETERS.items():
        assert typed[name].annotation.id == kind.__name__
        assert isinstance(ast.literal_eval(typed[name].value), kind)


def test_its_second_code_cell_installs_the_library_where_it_is_missing(code, address):
    assert code[1].source.startswith(INSTALL.format(address=address))


def test_its_setup_says_what_it_runs_with(code):
    printed = "".join(re.findall(r"^print\(.*\)$", code[1].source, re.MULTILINE))
    for what in ("cilbook.__version__", "torch.__version__", "here", "budget"):
        assert what in printed


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
    headings = re.findall(r"^## (.+)$", text_of(notebook.cells), re.MULTILINE)
    assert {"Exercises", "Summary"} <= set(headings)


def test_its_exercises_have_folded_solutions(notebook):
    cells = notebook.cells
    starts = [i for i, c in enumerate(cells) if "## Exercises" in c.source.splitlines()]
    last = cells[starts[0] :]
    asked = re.findall(r"^(?:\*\*|#+ )(?:Exercise )?(\d+)[.:]", text_of(last), re.MULTILINE)
    assert asked == [str(n) for n in range(1, len(asked) + 1)]
    assert 3 <= len(asked) <= 5
    assert len([cell for cell in last if is_folded(cell)]) >= len(asked)


def test_its_solutions_are_folded_in_colab_too(code):
    for cell in code:
        if "hide-input" in cell.metadata.get("tags", []):
            assert cell.metadata.get("cellView") == "form", cell.id


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("fig, ax = plt.subplots()", True),
        ("accuracy_over_samples(samples, curves)", True),
        ("show.images(grid)", True),
        ("batch.images(3)\nplt.rcParams", False),
    ],
)
def test_a_cell_that_makes_a_figure_is_recognised(line, expected):
    assert bool(FIGURE.search(line)) == expected
