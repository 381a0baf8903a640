"""The API reference is made of docstrings, read as plain text."""

import pytest
from docutils.core import publish_doctree
from docutils.nodes import literal_block, system_message

from cilbook.notebooks.docstrings import as_rst, short
from cilbook.notebooks.reference import page, rooms, write_reference

DOCSTRING = """\
log p(x|y) of *all* classes, w_ and |z| included:
    sum_s w_s   |  exp(-x*y)
The `noise` has an address, \\d too.

- one thing
  over two lines
- another

>>> 1 + 1
2"""


def parsed(text: str) -> list:
    """Parse a docstring as Sphinx would, and return the nodes."""
    source = "\n".join(as_rst(text.splitlines()))
    settings = {"report_level": 1, "halt_level": 5, "warning_stream": ""}
    return [*publish_doctree(source, settings_overrides=settings).findall()]


def test_a_docstring_means_what_it_looks_like():
    nodes = parsed(DOCSTRING)
    assert not [node.astext() for node in nodes if isinstance(node, system_message)]
    text = nodes[0].astext()
    assert "log p(x|y) of *all* classes, w_ and |z| included:" in text
    assert "\\d too." in text


def test_an_indented_block_keeps_its_form():
    blocks = [n.astext() for n in parsed(DOCSTRING) if isinstance(n, literal_block)]
    assert "sum_s w_s   |  exp(-x*y)" in blocks


@pytest.mark.parametrize(
    ("signature", "expected"),
    [
        ("(x: Tensor) -> Tensor", "(x: Tensor) -> Tensor"),
        ("(a: int = 0, _b: float = 1.0, c: str = '')", "(a: int = 0, c: str = '')"),
        ("(parts: list[~torch.Tensor] = <factory>)", "(parts: list[Tensor] = ...)"),
    ],
)
def test_a_signature_is_shortened_to_what_a_reader_needs(signature, expected):
    assert short(signature) == expected


def test_there_is_a_page_for_every_room_that_names_its_modules(tmp_path):
    write_reference(tmp_path / "api")
    assert {p.stem for p in (tmp_path / "api").iterdir()} == set(rooms())
    text = (tmp_path / "api" / "nets.md").read_text()
    assert text.startswith("# cilbook.nets\n")
    assert ".. automodule:: cilbook.nets.vae\n" in text


def test_a_rooms_own_docstring_stands_first_and_without_a_second_heading():
    text = page("likelihood", ["cilbook.likelihood", "cilbook.likelihood.sums"])
    assert text.count("## ") == 1
    assert text.index("automodule:: cilbook.likelihood\n") < text.index("## sums")
