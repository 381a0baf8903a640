"""What the pages are written in: their words, links, citations and commands."""

import re
import shlex
from collections import Counter
from urllib.parse import urlsplit

import nbformat
import pytest

from cilbook.cli import _parser
from cilbook.notebooks.reference import rooms

PERCENTAGE = re.compile(r"\d\.\d+[\s\\,~]*(?:%|per\s?cent)")
ADDRESS = re.compile(r"""https?://[^\s"'`)>\]}]+""")
CITATION = re.compile(r"\{cite(?::\w+)?\}`([^`]+)`")
SHELL = re.compile(r"```(?:\{code-block\} )?(?:bash|console|sh)\n(.*?)```", re.DOTALL)


def unmarked_percentages(text: str) -> list[str]:
    """List sentences with a decimal percentage that do not say it is the paper's."""
    sentences = re.split(r"(?<=[.!?])\s+|\n\s*\n|\n(?=\s*[-*|])", text)
    return [s for s in sentences if PERCENTAGE.search(s) and "paper" not in s.lower()]


def commands(text: str) -> list[list[str]]:
    """List the `cilbook` commands of a page's shell blocks, as words."""
    lines = "\n".join(SHELL.findall(text)).replace("\\\n", " ").splitlines()
    words = [shlex.split(line, comments=True) for line in lines]
    return [w[1:] for w in words if w and w[0].rsplit("/")[-1] == "cilbook"]


def addresses(entry) -> list[str]:
    """List the links that the bibliography shows for an entry."""
    doi, url = entry.fields.get("doi"), entry.fields.get("url")
    return [link for link in (doi and f"https://doi.org/{doi}", url) if link]


def test_the_table_of_contents_lists_exactly_the_pages(page_names, root):
    files = [p for p in (root / "book").iterdir() if p.suffix in (".md", ".ipynb")]
    written = [f"book/api/{room}" for room in rooms()]
    assert sorted(page_names) == sorted([*(f"book/{p.stem}" for p in files), *written])


def test_chapters_stand_in_the_order_of_their_numbers(page_names):
    numbered = [name for name in page_names if re.match(r"book/\d\d-", name)]
    assert numbered == sorted(numbered)


def test_its_prose_has_no_percentage_typed_by_hand(prose):
    assert not unmarked_percentages(prose)


def test_it_leaves_addresses_to_the_bibliography(prose):
    assert not ADDRESS.findall(prose)


def test_its_code_knows_one_address_the_repositorys(any_notebook, address):
    cells = nbformat.read(any_notebook, as_version=nbformat.NO_CONVERT).cells
    code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    assert ADDRESS.findall(code) == [address]


def test_what_it_cites_is_in_the_bibliography(prose, bibliography):
    keys = [key.strip() for group in CITATION.findall(prose) for key in group.split(",")]
    assert not set(keys) - bibliography.entries.keys()


def test_the_commands_it_shows_are_understood(prose):
    for words in commands(prose):
        _parser().parse_args(words)


def test_the_files_it_names_exist(prose, root):
    named = re.findall(r"\bbook/[\w.+/-]+\.(?:json|ipynb|md|png)\b", prose)
    assert not [name for name in named if not (root / name).exists()]


def test_every_work_cited_has_what_a_reader_needs_to_find_it(bibliography):
    for key, entry in bibliography.entries.items():
        assert {"title", "year"} <= entry.fields.keys(), key
        assert entry.persons.get("author"), key
        assert len(addresses(entry)) <= 1, key


def test_addresses_in_the_bibliography_are_secure_and_stand_once(bibliography):
    found = [link for e in bibliography.entries.values() for link in addresses(e)]
    assert not [link for link in found if urlsplit(link).scheme != "https"]
    assert not [link for link, count in Counter(found).items() if count > 1]


def test_addresses_in_the_settings_are_secure_and_stand_once(root, bibliography):
    found = ADDRESS.findall((root / "_config.yml").read_text())
    assert not [link for link in found if urlsplit(link).scheme != "https"]
    cited = [link for e in bibliography.entries.values() for link in addresses(e)]
    assert not [link for link, count in Counter(found + cited).items() if count > 1]


def test_the_front_page_sends_a_reader_to_the_first_chapter(root, page_names):
    front = (root / "book" / "index.ipynb").read_text()
    numbered = [name for name in page_names if re.match(r"book/\d\d-", name)]
    assert re.findall(r"Start with \{doc\}`([\w-]+)`", front) == [
        numbered[0].removeprefix("book/")
    ]


def test_the_reference_has_a_page_for_every_room_and_names_every_module(root):
    modules = {name for room in rooms().values() for name in room}
    files = (root / "cilbook").rglob("*.py")
    parts = [p.relative_to(root).with_suffix("").parts for p in files]
    names = {".".join(p).removesuffix(".__init__") for p in parts if p[-1] != "__main__"}
    assert modules == names - {"cilbook"}


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


def test_a_command_is_found_in_a_shell_block_over_several_lines():
    text = "```bash\nmake book  # all\n.venv/bin/cilbook run \\\n  --seed 1\n```"
    assert commands(text) == [["run", "--seed", "1"]]
