"""Docstrings are plain text; this makes Sphinx read them as such.

`x` is code, an indented block stands as it is, a doctest is a doctest, a line that
starts with a dash is a list's; nothing else has a meaning, so |y| and *args need no care.
"""

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Any

CODE = re.compile(r"(``[^`]+``|`[^`]+`)")
SPECIAL = re.compile(r"[\\|*_]")


def setup(app: Any) -> dict[str, bool]:
    """Join Sphinx."""
    app.connect("autodoc-process-docstring", _process_docstring)
    app.connect("autodoc-process-signature", _process_signature)
    return {"parallel_read_safe": True}


def _process_docstring(*event: Any) -> None:
    lines: list[str] = event[-1]
    lines[:] = as_rst(lines)


def _process_signature(*event: Any) -> tuple[str | None, str | None]:
    signature, returns = event[-2:]
    return signature and short(signature), returns


def short(signature: str) -> str:
    """A dataclass's signature without module paths, made-up defaults and private fields.

    >>> short("(n: int = 0, parts: list[~torch.Tensor] = <factory>, _at: float = 0.0)")
    '(n: int = 0, parts: list[Tensor] = ...)'
    """
    signature = re.sub(r"~(?:\w+\.)*", "", signature).replace("<factory>", "...")
    return re.sub(r", _\w+: [^,()]+(?=[,)])", "", signature)


def as_rst(lines: list[str]) -> list[str]:
    r"""A docstring's lines, marked up so that they mean what they look like.

    >>> print(*as_rst(["log p(x|y):", "    sum_s w_s", "`x` is code."]), sep="|")
    log p(x\|y):||.. code-block:: text||    sum_s w_s||`x` is code.|
    """
    return [line for block in _blocks(lines) for line in [*_marked(block), ""]]


def _blocks(lines: list[str]) -> Iterator[list[str]]:
    """Paragraphs; an indented run inside one is a block of its own, but for a list's."""
    for empty, group in groupby(lines, key=lambda line: not line.strip()):
        if empty:
            continue
        paragraph = list(group)
        if _is_list(paragraph) or _is_doctest(paragraph):
            yield paragraph
        else:
            for _, run in groupby(paragraph, key=_is_indented):
                yield list(run)


def _marked(block: list[str]) -> list[str]:
    if _is_doctest(block):
        return block
    if _is_indented(block[0]):
        return [".. code-block:: text", "", *block]
    return [_escaped(line) for line in block]


def _escaped(line: str) -> str:
    """A line of text whose special characters stand for themselves, outside of code."""
    parts = CODE.split(line)
    return "".join(p if CODE.fullmatch(p) else SPECIAL.sub(r"\\\g<0>", p) for p in parts)


def _is_indented(line: str) -> bool:
    return line.startswith(" ")


def _is_list(block: list[str]) -> bool:
    return block[0].startswith("- ")


def _is_doctest(block: list[str]) -> bool:
    return block[0].lstrip().startswith(">>>")
