"""From chapters to pages: papermill runs the notebooks, Jupyter Book renders them.

Committed notebooks carry no outputs. A build copies the book into a stage, executes
the copies two at a time, checks that they really ran, and renders the stage.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from concurrent.futures import FIRST_EXCEPTION, ProcessPoolExecutor, wait
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing import get_context
from pathlib import Path

import nbformat
import papermill
from nbformat import NotebookNode
from papermill.exceptions import PapermillExecutionError

from cilbook.errors import BadInput, RunFailed
from cilbook.experiments.request import check_budget

AT_A_TIME = 2
KERNELS = ".jupyter"  # in the stage; Jupyter looks in its `kernels` folder
WIDGET = "application/vnd.jupyter.widget-view+json"
ADDED_BY_PAPERMILL = {"injected-parameters", "papermill-error-cell-tag"}


class ChapterFailed(RunFailed):
    """A chapter broke or did not really run; the message names where and why."""


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
    execute_all([stage / "book" / name for name in names], values)
    return render(root, strict=chapters is None)


def choose(root: Path, numbers: Iterable[int] | None = None) -> list[str]:
    """Return the file names of the chapters with these numbers, or of all."""
    if not (root / "_toc.yml").exists():
        raise BadInput(f"{root} holds no book: it has no _toc.yml")
    known = {int(p.name[:2]): p.name for p in (root / "book").glob("[0-9][0-9]-*.ipynb")}
    wanted = sorted(known if numbers is None else set(numbers))
    for number in wanted:
        if number not in known:
            exists = ", ".join(map(str, sorted(known))) or "none"
            raise BadInput(f"there is no chapter {number}; chapters: {exists}")
    return [known[number] for number in wanted]


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
    results = target / "results"
    results.mkdir()
    write_kernel(stage, {"CILBOOK_RESULTS": str(results), "OMP_NUM_THREADS": "1"})
    return stage


def write_kernel(stage: Path, environment: Mapping[str, str]) -> None:
    """Describe a kernel that is this very interpreter, whatever else is installed."""
    kernel = {
        "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": "Python 3",
        "language": "python",
        "env": dict(environment),
    }
    folder = stage / KERNELS / "kernels" / "python3"
    folder.mkdir(parents=True)
    (folder / "kernel.json").write_text(json.dumps(kernel))


def execute_all(chapters: list[Path], parameters: Mapping[str, object]) -> None:
    """Execute staged chapters in place, two processes at a time; stop at a failure."""
    with ProcessPoolExecutor(AT_A_TIME, mp_context=get_context("spawn")) as pool:
        runs = [
            pool.submit(execute, chapter, dict(parameters), position % AT_A_TIME)
            for position, chapter in enumerate(chapters)
        ]
        done, _ = wait(runs, return_when=FIRST_EXCEPTION)
        if any(run.exception() for run in done):
            pool.shutdown(cancel_futures=True)
    for run in runs:
        if not run.cancelled():
            run.result()


def execute(chapter: Path, parameters: dict[str, object], position: int = 0) -> None:
    """Execute one staged chapter in place, check it, and make it fit for a page."""
    name = chapter.stem
    os.environ["JUPYTER_PATH"] = str(chapter.parents[1] / KERNELS)
    trouble = ""
    try:
        papermill.execute_notebook(
            chapter,
            chapter,
            parameters,
            kernel_name="python3",
            language="python",
            progress_bar={"desc": name, "position": position, "file": sys.stderr},
            cwd=chapter.parent,
        )
    except PapermillExecutionError:
        pass  # the notebook holds the error, and `check` words it
    except Exception as error:
        trouble = f": {error}"
    notebook = nbformat.read(chapter, as_version=4)
    check(notebook, name, trouble)
    finish(notebook, parameters)
    nbformat.write(notebook, chapter)


def check(notebook: NotebookNode, name: str, trouble: str = "") -> None:
    """Raise unless every code cell ran without error; cells count from 1."""
    own = [c for c in notebook.cells if not ADDED_BY_PAPERMILL & set(tags(c))]
    code = [(n, c) for n, c in enumerate(own, start=1) if c.cell_type == "code"]
    for number, cell in code:
        for output in cell.outputs:
            if output.output_type == "error":
                error = f"{output.ename}: {output.evalue}".splitlines()[0]
                raise ChapterFailed(f"chapter {name}, cell {number}: {error}")
    if trouble:
        begun = [n for n, c in code if c.metadata.get("papermill", {}).get("start_time")]
        number = max(begun, default=code[0][0])
        raise ChapterFailed(f"chapter {name}, cell {number} did not finish{trouble}")
    for number, cell in code:
        if cell.source.strip() and cell.execution_count is None:
            raise ChapterFailed(f"chapter {name}, cell {number} did not run")
    if not notebook.metadata.get("papermill", {}).get("duration"):
        raise ChapterFailed(f"chapter {name} did not run: it took 0 s")


def finish(notebook: NotebookNode, parameters: Mapping[str, object]) -> None:
    """Drop what only a live kernel can use, and say how long the chapter took."""
    duration = notebook.metadata.papermill.duration
    notebook.metadata.papermill = {"duration": duration}  # no paths of this machine
    notebook.metadata.pop("widgets", None)
    for cell in notebook.cells:
        if "injected-parameters" in tags(cell):
            cell.metadata.tags.append("remove-input")
        if cell.cell_type == "code":
            cell.outputs = joined([o for o in cell.outputs if not only_live(o)])
    budget, seconds = parameters["budget"], max(1, round(duration))
    line = f"*Computed in {seconds} s with budget `{budget}`.*"
    notebook.cells.insert(1, nbformat.v4.new_markdown_cell(line, id="run-time"))


def joined(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """Put together what a cell printed in one go but a kernel sent in pieces."""
    result: list[NotebookNode] = []
    for output in outputs:
        last = result[-1] if result else {}
        if output.output_type == "stream" and last.get("name") == output.name:
            last.text += output.text
        else:
            result.append(output)
    return result


def only_live(output: NotebookNode) -> bool:
    """Tell whether an output, such as a progress bar, is nothing without a kernel."""
    data = output.get("data", {})
    return WIDGET in data and "text/html" not in data


def tags(cell: NotebookNode) -> list[str]:
    """Return a cell's tags."""
    return cell.metadata.get("tags", [])


def render(root: Path, strict: bool = True) -> Path:
    """Turn the stage into HTML; if strict, a warning is an error."""
    command = [sys.executable, "-c", "from jupyter_book.cli.main import main; main()"]
    command += ["build", str(root / "_build" / "stage"), "--path-output", str(root)]
    command += ["-W", "--keep-going"] if strict else []
    status = subprocess.run([*command, "--quiet"], stdout=sys.stderr.fileno())
    if status.returncode:
        raise RunFailed("Jupyter Book could not render the book; it says why above")
    return root / "_build" / "html" / "index.html"


def serve(html: Path, port: int = 8000) -> None:
    """Serve the built pages to this machine only, until interrupted."""
    handler = partial(SimpleHTTPRequestHandler, directory=str(html))
    with ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        print(f"http://127.0.0.1:{server.server_port}/", file=sys.stderr)
        server.serve_forever()
