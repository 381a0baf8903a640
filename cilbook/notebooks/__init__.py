"""From chapters to pages: papermill runs the notebooks, Jupyter Book renders them.

Committed notebooks carry no outputs. A build copies the book into a stage, executes
the copies two at a time, checks that they really ran, and renders the stage.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

from cilbook.experiments.request import check_budget
from cilbook.notebooks.execution import execute_all
from cilbook.notebooks.rendering import render, serve
from cilbook.notebooks.staging import choose, frame, prepare

__all__ = ["build", "serve"]


def build(
    root: Path,
    budget: str = "quick",
    chapters: Iterable[int] | None = None,
    parameters: Mapping[str, object] | None = None,
) -> Path:
    """Execute the chapters, render the book, and return the page to open.

    With a choice of `chapters` only those are executed: the others appear without
    outputs, and what Jupyter Book warns about then is shown but not fatal.
    """
    check_budget(budget)
    root = Path(root).resolve()
    names = choose(root, chapters)
    stage = prepare(root)
    values = {"budget": budget, **(parameters or {})}
    jobs = [(stage / "book" / name, values) for name in names]
    execute_all(stage, jobs + [(stage / "book" / name, {}) for name in frame(root)])
    return render(root, strict=chapters is None)
