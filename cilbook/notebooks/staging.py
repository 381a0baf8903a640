"""The stage: a copy of the book in which chapters are executed and pages are added."""

import shutil
from collections.abc import Iterable
from pathlib import Path

from cilbook.errors import BadInput
from cilbook.notebooks.kernels import write_kernel
from cilbook.notebooks.reference import write_reference

CHAPTERS = "[0-9][0-9]-*.ipynb"


def choose(root: Path, numbers: Iterable[int] | None = None) -> list[str]:
    """Return the file names of the chapters with these numbers, or of all."""
    if not (root / "_toc.yml").exists():
        raise BadInput(f"{root} holds no book: it has no _toc.yml")
    known = {int(p.name[:2]): p.name for p in (root / "book").glob(CHAPTERS)}
    wanted = sorted(known if numbers is None else set(numbers))
    for number in wanted:
        if number not in known:
            exists = ", ".join(map(str, sorted(known))) or "none"
            raise BadInput(f"there is no chapter {number}; chapters: {exists}")
    return [known[number] for number in wanted]


def frame(root: Path) -> list[str]:
    """Return the file names of the notebooks that are no chapters, such as the front page.

    They only read stored runs, so every build executes them.
    """
    chapters = {path.name for path in (root / "book").glob(CHAPTERS)}
    return sorted({path.name for path in (root / "book").glob("*.ipynb")} - chapters)


def prepare(root: Path) -> Path:
    """Clear the last build and return a fresh stage: the book and its settings."""
    target = root / "_build"
    stage = target / "stage"
    for old in ("stage", "html", "results", ".doctrees"):
        shutil.rmtree(target / old, ignore_errors=True)
    leave = shutil.ignore_patterns("results", ".*")
    shutil.copytree(root / "book", stage / "book", ignore=leave)
    for name in ("_config.yml", "_toc.yml"):
        shutil.copy(root / name, stage)
    write_reference(stage / "book" / "api")
    results = target / "results"
    results.mkdir()
    write_kernel(stage, results)
    return stage
