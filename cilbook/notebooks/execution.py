"""Papermill runs the staged notebooks, two at a time, and they must really have run."""

import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from pathlib import Path

import nbformat
import papermill
from nbformat import NotebookNode
from papermill.exceptions import PapermillExecutionError

from cilbook.errors import RunFailed
from cilbook.notebooks.finishing import finish, tags
from cilbook.notebooks.kernels import end_kernels, kernels_of

AT_A_TIME = 2
ADDED_BY_PAPERMILL = {"injected-parameters", "papermill-error-cell-tag"}

Job = tuple[Path, Mapping[str, object]]  # a staged notebook and its parameters


class ChapterFailed(RunFailed):
    """A chapter broke or did not really run; the message names where and why."""


def execute_all(stage: Path, jobs: list[Job]) -> None:
    """Execute notebooks of the stage in place, two at a time; stop at a failure."""
    with kernels_of(stage), ThreadPoolExecutor(AT_A_TIME) as pool:
        runs = [
            pool.submit(execute, notebook, dict(parameters), position % AT_A_TIME)
            for position, (notebook, parameters) in enumerate(jobs)
        ]
        try:
            done, _ = wait(runs, return_when=FIRST_EXCEPTION)
        finally:  # after a failure or an interruption the rest is in vain
            pool.shutdown(wait=False, cancel_futures=True)
            end_kernels()
    for run in done:
        run.result()


def execute(chapter: Path, parameters: dict[str, object], position: int = 0) -> None:
    """Execute one staged notebook in place, check it, and make it fit for a page."""
    name = chapter.stem
    trouble, begun = "", []
    try:
        papermill.execute_notebook(
            chapter,
            chapter,
            parameters,
            kernel_name="python3",
            language="python",
            progress_bar={"desc": name, "position": position, "file": sys.stderr},
            resources={"metadata": {"path": str(chapter.parent)}},
            request_save_on_cell_execute=False,  # at the end is enough
            on_cell_execute=lambda cell, cell_index: begun.append(cell.id),
            shutdown_kernel="immediate",  # it keeps nothing, and takes seconds to leave
        )
    except PapermillExecutionError:
        pass  # the notebook holds the error, and `check` words it
    except Exception as error:
        trouble = f": {error}"
    notebook = nbformat.read(chapter, as_version=4)
    check(notebook, name, trouble, begun)
    finish(notebook, parameters)
    nbformat.write(notebook, chapter)


def check(
    notebook: NotebookNode, name: str, trouble: str = "", begun: Sequence[str] = ()
) -> None:
    """Raise unless every code cell ran without error; cells count from 1.

    In `trouble` papermill left the notebook as it was; `begun` are the ids of the cells
    that it had come to.
    """
    own = [c for c in notebook.cells if not ADDED_BY_PAPERMILL & set(tags(c))]
    code = [(n, c) for n, c in enumerate(own, start=1) if c.cell_type == "code"]
    for number, cell in code:
        for output in cell.outputs:
            if output.output_type == "error":
                error = f"{output.ename}: {output.evalue}".splitlines()[0]
                raise ChapterFailed(f"chapter {name}, cell {number}: {error}")
    if trouble:
        number = max((n for n, c in code if c.id in begun), default=code[0][0])
        raise ChapterFailed(f"chapter {name}, cell {number} did not finish{trouble}")
    for number, cell in code:
        if cell.source.strip() and cell.execution_count is None:
            raise ChapterFailed(f"chapter {name}, cell {number} did not run")
    if not notebook.metadata.get("papermill", {}).get("duration"):
        raise ChapterFailed(f"chapter {name} did not run: it took 0 s")
